"""Oracles of attention and of encodings of positions, query by query."""

from __future__ import annotations

import math
from typing import Any

import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import DType, bool_
from tensorbackend.protocol import Backend
from tensorbackend.rules.accuracy import Bound
from tensorbackend.testing import Invocation
from tensorbackend.testing.generators import integers
from tensorbackend.testing.strategies import Draw, shapes, tensors

from .matrices import FEWEST, SIDES
from .table import FLOATING, compare, law, named, reference, wide

HALVES = st.integers(-4, 4).map(lambda number: number / 2)


def weights_of(query: Any, key: Any, mask: Any, bias: Any, causal: bool, scale: float | None) -> tuple[Any, Any]:
    """The weights (..., queries, keys) and whether each query may attend to each key."""
    lead = numpy.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    shape = (*lead, query.shape[-2], key.shape[-2])
    inside = numpy.ones(shape, bool) if mask is None else numpy.broadcast_to(mask, shape).copy()
    if causal:
        inside &= numpy.arange(shape[-1]) <= numpy.arange(shape[-2])[:, None]
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    query, key = (numpy.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (query, key))
    added = numpy.zeros(shape) if bias is None else numpy.broadcast_to(bias, shape)
    out = numpy.zeros(shape)
    for at in numpy.ndindex(*shape[:-1]):
        keys = numpy.flatnonzero(inside[at])
        if len(keys):
            scores = key[at[:-1]][keys] @ query[at] * factor + added[at][keys]
            powers = numpy.exp(scores - scores.max())
            out[at][keys] = powers / powers.sum()
    return out, inside


def averages(weights: Any, inside: Any, value: Any) -> Any:
    """The values averaged, of which each query sees those that it attends to."""
    value = numpy.broadcast_to(value, (*weights.shape[:-2], *value.shape[-2:]))
    out = numpy.zeros((*weights.shape[:-1], value.shape[-1]))
    for at in numpy.ndindex(*weights.shape[:-1]):
        keys = numpy.flatnonzero(inside[at])
        out[at] = weights[at][keys] @ value[at[:-1]][keys]
    return out


def hostile(draw: Draw, x: tb.Tensor, places: Any) -> tb.Tensor:
    """The tensor with NaN or infinity in the entries (..., steps, features) that nothing attends to."""
    array = wide(x)
    array[..., places, :] = draw(st.sampled_from([math.nan, math.inf, -math.inf]))
    return tb.asarray(array, dtype=x.dtype, names=x.names, backend="binary")


def attention_call(draw: Draw, dtype: DType, *, values: bool) -> Invocation:
    """Batch axes and heads, masks, a bias, causal attention; axes in any order, by position or name."""
    batch = draw(st.sampled_from([{}, {"batch": 2}, {"batch": 1, "head": 2}]))
    unit, queries, keys = draw(st.integers(1, 3)), draw(st.sampled_from([2, 3, 1, 2, 0])), draw(SIDES)

    def of(**sizes: int) -> Any:
        return draw(tensors(dtype, tuple(sizes.values()), names=tuple(sizes), values=HALVES))

    operands = [of(**batch, time=queries, unit=unit), of(**batch, time=keys, unit=unit)]
    if values:
        operands.append(of(**batch, time=keys, unit=draw(st.integers(1, 2))))
    options: dict[str, Any] = {}
    shape = draw(st.sampled_from([(queries, keys), (1, keys), (keys,), (*batch.values(), 1, keys)]))
    if draw(st.booleans()):
        options["mask"] = draw(tensors(bool_, shape, names=(None,) * len(shape)))
    if draw(st.booleans()):
        options["bias"] = draw(tensors(dtype, shape, names=(None,) * len(shape), values=HALVES))
    options["causal"] = draw(st.sampled_from([False, False, True]))
    options["scale"] = draw(st.sampled_from([None, None, 0.5, 2.0]))
    full = (*batch.values(), queries, keys)
    inside = numpy.broadcast_to(wide(options["mask"]) if "mask" in options else True, full)
    if options["causal"]:
        inside = inside & (numpy.arange(keys) <= numpy.arange(queries)[:, None])
    unseen = ~inside.any(axis=tuple(range(len(full) - 1)))
    operands[1:] = [hostile(draw, x, unseen) for x in operands[1:]]
    alone = ~inside.any(axis=(*range(len(full) - 2), len(full) - 1))
    operands[0] = hostile(draw, operands[0], alone)
    if draw(st.booleans()):
        operands = [x.rename(*(None,) * x.ndim) for x in operands]
    order = draw(st.permutations(range(len(batch) + 2))) if not batch or len(batch) == 1 else range(len(batch) + 2)
    batch_first = [at for at in order if at < len(batch)]
    if batch_first == sorted(batch_first) and draw(st.booleans()):
        operands = [tb.permute_dims(x, tuple(order)) for x in operands]
        options["time"], options["axis"] = (list(order).index(len(batch) + at) for at in (0, 1))
        if operands[0].names[0] is not None and draw(st.booleans()):
            options["time"], options["axis"] = "time", "unit"
    return Invocation("", tuple(operands), options)


def last(x: tb.Tensor, options: dict[str, Any]) -> Any:
    """The elements with the axes of steps and features last."""
    places = [x.names.index(at) if isinstance(at, str) else at % x.ndim
              for at in (options.get("time", -2), options.get("axis", -1))]  # fmt: skip
    return numpy.moveaxis(wide(x), places, (-2, -1))


def parts(options: dict[str, Any]) -> tuple[Any, Any, bool, float | None]:
    mask, bias = (None if options.get(name) is None else wide(options[name]) for name in ("mask", "bias"))
    return mask, bias, options.get("causal", False), options.get("scale")


@reference("nn.attention_weights", by="brute force", raw=True, dtypes=FLOATING,
           draw=lambda draw, dtype: attention_call(draw, dtype, values=False))  # fmt: skip
def attention_weights(call: Invocation) -> Any:
    query, key = (last(x, call.options) for x in call.arguments)
    return weights_of(query, key, *parts(call.options))[0]


@reference("nn.attention", by="brute force", raw=True, dtypes=FLOATING,
           draw=lambda draw, dtype: attention_call(draw, dtype, values=True))  # fmt: skip
def attention(call: Invocation) -> Any:
    query, key, value = (last(x, call.options) for x in call.arguments)
    return averages(*weights_of(query, key, *parts(call.options)), value)


# Several heads


def rotated(x: Any, positions: Any = None, base: float = 10000.0, interleaved: bool = False) -> Any:
    """Pairs of features of x (..., steps, features) turned by angles, as complex numbers times exp(i angle)."""
    steps, size = x.shape[-2:]
    positions = numpy.arange(steps) if positions is None else positions
    angles = numpy.asarray(positions, float)[..., None] * base ** (-numpy.arange(size // 2) / max(size // 2, 1))
    first, second = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., : size // 2], x[..., size // 2 :])
    turned = (first + 1j * second) * numpy.exp(1j * angles)
    if interleaved:
        return numpy.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)
    return numpy.concatenate([turned.real, turned.imag], axis=-1)


def weights_call(draw: Draw, dtype: DType, features: int, units: int) -> dict[str, tb.Tensor]:
    """Parameters of attention, some with biases."""
    sizes = dict.fromkeys(("query", "key", "value"), (features, units)) | {"output": (units, features)}
    parameters = {}
    for name, shape in sizes.items():
        parameters[name] = draw(tensors(dtype, shape, names=(None, None), values=HALVES))
        if draw(st.booleans()):
            parameters[f"{name}_bias"] = draw(tensors(dtype, shape[1:], names=(None,), values=HALVES))
    return parameters


def projected(parameters: dict[str, tb.Tensor], name: str, x: Any) -> Any:
    product = x @ wide(parameters[name])
    return product + wide(parameters[f"{name}_bias"]) if f"{name}_bias" in parameters else product


def heads_of(x: Any, heads: int) -> Any:
    """(..., steps, units) as (..., heads, steps, units of a head)."""
    return numpy.moveaxis(x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads), -2, -3)


def of_heads(parameters: dict[str, tb.Tensor], x: Any, memory: Any, options: dict[str, Any]) -> Any:
    """Attention with several heads."""
    heads = options["heads"]
    query = heads_of(projected(parameters, "query", x), heads)
    key, value = (heads_of(projected(parameters, name, memory), heads) for name in ("key", "value"))
    if options.get("rotate") is not None:
        query, key = rotated(query), rotated(key)
    out = averages(*weights_of(query, key, *parts(options)), value)
    out = numpy.moveaxis(out, -3, -2)
    return projected(parameters, "output", out.reshape(*out.shape[:-2], out.shape[-2] * out.shape[-1]))


def multi_head_call(draw: Draw, dtype: DType) -> Invocation:
    """Self-attention and attention to a memory, with masks, biases and positions."""
    heads, features = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    parameters = weights_call(draw, dtype, features, heads * 2)
    batch = draw(st.sampled_from([{}, {"batch": 2}]))
    queries, keys = draw(st.integers(1, 3)), draw(st.integers(1, 3))

    def sequence(count: int) -> Any:
        sizes = {**batch, "time": count, "feature": features}
        return draw(tensors(dtype, tuple(sizes.values()), names=tuple(sizes), values=HALVES))

    x = sequence(queries)
    memory = [sequence(keys)] if draw(st.booleans()) else []
    keys = keys if memory else queries
    options: dict[str, Any] = {"heads": heads, "causal": draw(st.booleans())}
    shape = draw(st.sampled_from([(queries, keys), (keys,), (heads, 1, keys)]))
    if draw(st.booleans()):
        options["mask"] = draw(tensors(bool_, shape, names=(None,) * len(shape)))
        unseen = ~wide(options["mask"]).reshape(-1, keys).any(axis=0)
        if memory:
            memory = [hostile(draw, memory[0], unseen)]
    if draw(st.booleans()):
        options["bias"] = draw(tensors(dtype, shape, names=(None,) * len(shape), values=HALVES))
    options["rotate"] = draw(st.sampled_from([None, tb.nn.rotary]))
    operands = [x, *memory]
    if draw(st.booleans()):
        operands = [tb.matrix_transpose(operand) for operand in operands]
        options["time"], options["axis"] = draw(st.sampled_from([(-1, -2), ("time", "feature")]))
    return Invocation("", (parameters, *operands), options)


# Products are rounded to the dtype before they are exponentiated.
@reference("nn.multi_head_attention", by="brute force", draw=multi_head_call, raw=True, dtypes=FLOATING, narrow=4)
def multi_head_attention(call: Invocation) -> Any:
    parameters, x, *memory = call.arguments
    given = last(x, call.options)
    return of_heads(parameters, given, last(memory[0], call.options) if memory else given, call.options)


@law("nn.incremental_attention", by="brute force")
def incremental_attention(draw: Draw, run: Any, backend: Backend) -> None:
    dtype, heads, features = draw(st.sampled_from(FLOATING)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    parameters = weights_call(draw, dtype, features, heads * 2)
    counts = draw(st.lists(st.integers(1, 2), min_size=1, max_size=3))
    steps = sum(counts)
    sizes = {"batch": draw(st.sampled_from([1, 2, 1, 2, 0])), "time": steps, "feature": features}
    x = draw(tensors(dtype, tuple(sizes.values()), names=tuple(sizes), values=HALVES))
    options: dict[str, Any] = {"heads": heads, "rotate": draw(st.sampled_from([None, tb.nn.rotary]))}
    turned = draw(st.booleans())
    axes = {"time": -1, "axis": 1} if turned else {}
    size = steps + draw(st.integers(0, 2))
    there = {name: tb.backend_copy(weight, backend) for name, weight in parameters.items()}
    like = next(iter(there.values()))
    cache = tb.nn.key_value_cache((sizes["batch"],), heads=heads, size=size, units=2, dtype=dtype, like=like)
    start, results = 0, []
    for count in counts:
        part = tb.backend_copy(x[:, start : start + count], backend)
        result, cache = run(there, tb.matrix_transpose(part) if turned else part, cache, **options, **axes)
        results.append(wide(result))
        start += count
        assert cache.length.item() == start
    want = of_heads(parameters, wide(x), wide(x), {**options, "causal": True})
    got = tb.asarray(numpy.concatenate(results, axis=1), dtype=dtype, backend="binary")
    call = Invocation("nn.multi_head_attention", (parameters, x), options)
    compare(call, got, want, narrow=4)
    keys = heads_of(projected(parameters, "key", wide(x)), heads)
    keys = rotated(keys) if options["rotate"] is not None else keys
    kept = tb.asarray(wide(cache.keys)[..., :steps, :], dtype=dtype, backend="binary")
    compare(call, kept, keys, Bound(64, "sums of products, turned", "square"), narrow=2)
    assert not wide(cache.keys)[..., steps:, :].any()


@law("nn.key_value_cache", by="definition")
def key_value_cache(draw: Draw, run: Any, backend: Backend) -> None:
    batch = draw(st.sampled_from([(), (2,), [1, 3], (0,)]))
    heads, size, units = (draw(st.integers(0, 3)) for _ in range(3))
    dtype = draw(st.sampled_from([None, *FLOATING]))
    like = draw(st.sampled_from([None, tb.ones(1, backend=backend)]))
    cache = run(batch, heads=heads, size=size, units=units, dtype=dtype, like=like)
    for buffer in (cache.keys, cache.values):
        assert (buffer.shape, buffer.dtype) == ((*batch, heads, size, units), dtype or tb.float32)
        assert not wide(buffer).any()
    assert (cache.length.item(), cache.length.shape, cache.length.dtype) == (0, (), tb.int64)


# Positions

TURNS = Bound(16, "sines of products with exponentials", "operand")


def sinusoidal_call(draw: Draw, dtype: DType) -> Invocation:
    """Positions of integers and of floats."""
    shape = draw(shapes(most=2, largest=3, smallest=draw(FEWEST)))
    values = st.integers(-50, 50) if dtype.kind != "uint" else st.integers(0, 50)
    positions = draw(tensors(dtype, shape, values=values if not dtype.is_floating else values.map(lambda n: n / 4)))
    options: dict[str, Any] = {
        "base": draw(st.sampled_from([10000.0, 10.0])), "interleaved": draw(st.booleans()),
        "name": draw(st.sampled_from([None, "feature"])), "dtype": draw(st.none() | st.sampled_from(FLOATING)),
    }  # fmt: skip
    return Invocation("", (positions, 2 * draw(st.sampled_from([1, 2, 3, 1, 2, 0]))), options)


REAL = [*FLOATING, tb.int8, tb.int32, tb.int64, tb.uint8]


@reference("nn.sinusoidal_positions", by="NumPy", draw=sinusoidal_call, raw=True, dtypes=REAL, bound=TURNS)
def sinusoidal_positions(call: Invocation) -> Any:
    positions, features = call.arguments
    options, count = call.options, features // 2
    angles = wide(positions).astype(float)[..., None] * options["base"] ** (-numpy.arange(count) / max(count, 1))
    waves = [numpy.sin(angles), numpy.cos(angles)]
    out = numpy.stack(waves, axis=-1).reshape(*positions.shape, features) if options["interleaved"] else (
        numpy.concatenate(waves, axis=-1))  # fmt: skip
    return named(out, (*positions.names, options["name"]))


def rotary_call(draw: Draw, dtype: DType) -> Invocation:
    """Steps and features on any axes, positions of each example or of all."""
    sizes = {"batch": draw(SIDES), "time": draw(SIDES), "unit": 2 * draw(st.sampled_from([1, 2, 3, 1, 2, 0]))}
    order = draw(st.permutations(list(sizes)))
    x = draw(tensors(dtype, tuple(sizes[name] for name in order), names=order, values=HALVES))
    options: dict[str, Any] = {"base": draw(st.sampled_from([10000.0, 10.0])), "interleaved": draw(st.booleans())}
    places = [order.index("time"), order.index("unit")]
    options["time"], options["axis"] = draw(st.sampled_from([("time", "unit"), places, [at - 3 for at in places]]))
    each = draw(st.booleans())
    shape = (sizes["batch"], sizes["time"]) if each else (sizes["time"],)
    positions = [integers(draw, shape, 0, 50, names=("batch", "time")[-len(shape) :])] if draw(st.booleans()) else []
    return Invocation("", (x, *positions), options)


@reference("nn.rotary", by="NumPy", draw=rotary_call, raw=True, dtypes=FLOATING, bound=TURNS)
def rotary(call: Invocation) -> Any:
    x, *positions = call.arguments
    places = [
        x.names.index(at) if isinstance(at, str) else at % x.ndim for at in (call.options["time"], call.options["axis"])
    ]
    moved = numpy.moveaxis(wide(x), places, (-2, -1))
    at = wide(positions[0]) if positions else None
    out = rotated(moved, at, call.options["base"], call.options["interleaved"])
    return named(numpy.moveaxis(out, (-2, -1), places), x.names)


@reference("nn.relative_shift", by="brute force")
def relative_shift(scores: Any, /) -> Any:
    queries, distances = scores.shape[-2:]
    keys = distances - queries + 1
    out = numpy.zeros((*scores.shape[:-1], keys), scores.dtype)
    for query in range(queries):
        for key in range(keys):
            out[..., query, key] = scores[..., query, key - query + queries - 1]
    return out
