"""What a mask or lengths leave out affects neither results nor gradients, whatever it holds, for every function.

A function with a parameter for a mask or lengths and without a case here fails. The functions of `tb.ragged` that take
tensors with lengths are in `test_ragged.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from inspect import isfunction, signature
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.expr.trees import flatten
from tensorbackend.testing import profile

GARBAGE = (math.nan, math.inf, -math.inf, 1e30)

Array = Any


class Case(NamedTuple):
    """A call with some places left out."""

    call: Callable[..., Any]
    """A function of the operands; what it returns depends on no place that is left out."""
    operands: list[Array]
    hidden: list[Array | None]
    """For each operand, where it is left out."""
    smooth: bool = True
    """Whether the result has a gradient."""


def numbers(draw: np.random.Generator, *shape: int) -> Array:
    return draw.normal(size=shape).astype("f4")


def some(draw: np.random.Generator, *shape: int) -> Array:
    return draw.random(shape) < 0.6


def rows(mask: Array, size: int) -> Array:
    return np.repeat(mask[..., None], size, -1)


def counted(draw: np.random.Generator, batch: int, size: int, least: int = 0) -> tuple[Array, Array]:
    """Lengths, and the positions within them."""
    lengths = draw.integers(least, size + 1, batch)
    return lengths, np.arange(size) < lengths[:, None]


def pairs(draw: np.random.Generator) -> Array:
    """A mask (batch, queries, keys) that leaves out some keys for all queries, and some queries altogether."""
    return some(draw, 2, 3, 5) & some(draw, 2, 1, 5) & (draw.random((2, 3, 1)) < 0.8)


def attention(draw: np.random.Generator) -> Case:
    mask = pairs(draw)
    keys, queries = ~mask.any(1), ~mask.any(2)
    operands = [numbers(draw, 2, 3, 4), numbers(draw, 2, 5, 4), numbers(draw, 2, 5, 3), numbers(draw, 2, 3, 5)]
    hidden = [rows(queries, 4), rows(keys, 4), rows(keys, 3), ~mask]
    return Case(lambda q, k, v, bias: tb.nn.attention(q, k, v, mask=tb.asarray(mask), bias=bias), operands, hidden)


def causal_attention(draw: np.random.Generator) -> Case:
    """Each query by itself: the keys and values after it are left out."""
    at = int(draw.integers(0, 4))
    later = np.broadcast_to(np.arange(4)[:, None] > at, (2, 4, 3))
    operands = [numbers(draw, 2, 4, 3) for _ in range(3)]
    return Case(lambda q, k, v: tb.nn.attention(q, k, v, causal=True)[:, : at + 1], operands, [None, later, later])


def attention_weights(draw: np.random.Generator) -> Case:
    mask = pairs(draw)
    operands = [numbers(draw, 2, 3, 4), numbers(draw, 2, 5, 4)]
    hidden = [rows(~mask.any(2), 4), rows(~mask.any(1), 4)]
    return Case(lambda q, k: tb.nn.attention_weights(q, k, mask=tb.asarray(mask)), operands, hidden)


NAMES = ("query", "key", "value", "output", "query_bias", "value_bias")


def heads(draw: np.random.Generator) -> tuple[list[Array], Callable[..., dict[str, Any]]]:
    shapes = [(4, 4)] * 4 + [(4,)] * 2
    return [numbers(draw, *shape) for shape in shapes], lambda *parameters: dict(zip(NAMES, parameters, strict=True))


def multi_head_attention(draw: np.random.Generator) -> Case:
    mask = some(draw, 2, 5)
    parameters, named = heads(draw)

    def call(x: Any, memory: Any, *parameters: Any) -> Any:
        return tb.nn.multi_head_attention(
            named(*parameters), x, memory, heads=2, mask=tb.asarray(mask[:, None, None]), rotate=tb.nn.rotary
        )

    return Case(
        call, [numbers(draw, 2, 3, 4), numbers(draw, 2, 5, 4), *parameters], [None, rows(~mask, 4), *[None] * 6]
    )


def self_attention(draw: np.random.Generator) -> Case:
    """A sequence that attends to itself, whose results beyond the lengths are not used."""
    _, inside = counted(draw, 2, 4, least=1)
    parameters, named = heads(draw)

    def call(x: Any, *parameters: Any) -> Any:
        mask = tb.asarray(inside[:, None, None])
        result = tb.nn.multi_head_attention(named(*parameters), x, heads=2, mask=mask)
        return tb.where(tb.asarray(inside[..., None]), result, 0)

    return Case(call, [numbers(draw, 2, 4, 4), *parameters], [rows(~inside, 4), *[None] * 6])


def steps_of_attention(draw: np.random.Generator) -> Case:
    """The room behind the steps in a cache."""
    parameters, named = heads(draw)

    def call(x: Any, keys: Any, values: Any, *parameters: Any) -> Any:
        cache = tb.nn.KeyValueCache(keys, values, tb.asarray(1))
        result, _ = tb.nn.incremental_attention(named(*parameters), x, cache, heads=2)
        return result

    room = np.broadcast_to(np.arange(5)[:, None] > 0, (2, 2, 5, 2))
    caches = [numbers(draw, 2, 2, 5, 2) for _ in range(2)]
    return Case(call, [numbers(draw, 2, 3, 4), *caches, *parameters], [None, room, room, *[None] * 6])


def recurrent(layer: Callable[..., Any], gates: int, masked: bool, draw: np.random.Generator) -> Case:
    lengths, inside = counted(draw, 2, 4)
    inside = some(draw, 2, 4) if masked else inside
    where = {"mask": tb.asarray(inside)} if masked else {"lengths": tb.asarray(lengths)}
    reverse = bool(draw.integers(2))

    def call(x: Any, weight: Any, recurrent: Any, bias: Any) -> Any:
        parameters = {"input": weight, "recurrent": recurrent, "bias": bias}
        outputs, state = layer(x, parameters, reverse=reverse, **where)
        return (outputs, *state)

    operands = [
        numbers(draw, 2, 4, 3),
        numbers(draw, 3, 2 * gates),
        numbers(draw, 2, 2 * gates),
        numbers(draw, 2 * gates),
    ]
    return Case(call, operands, [rows(~inside, 3), None, None, None])


def ctc(draw: np.random.Generator) -> tuple[Array, Array, Array, dict[str, Any]]:
    frames, inside = counted(draw, 3, 5)
    labels = draw.integers(1, 4, (3, 2))
    counts = draw.integers(0, 3, 3)
    labels = np.where(np.arange(2) < counts[:, None], labels, draw.choice([-1, 99]))
    options = {"logit_lengths": tb.asarray(frames), "label_lengths": tb.asarray(counts)}
    return numbers(draw, 3, 5, 4), labels, rows(~inside, 4), options


def ctc_loss(draw: np.random.Generator) -> Case:
    logits, labels, hidden, options = ctc(draw)
    options |= {"repeats": bool(draw.integers(2)), "alignments": str(draw.choice(["all", "best"]))}

    def call(x: Any) -> Any:
        losses = tb.nn.ctc_loss(x, tb.asarray(labels), **options)
        return tb.where(losses < math.inf, losses, 0)

    return Case(call, [logits], [hidden])


def ctc_alignment(draw: np.random.Generator) -> Case:
    logits, labels, hidden, options = ctc(draw)
    return Case(lambda x: tb.nn.ctc_alignment(x, tb.asarray(labels), **options), [logits], [hidden], False)


def ctc_best_path(draw: np.random.Generator) -> Case:
    logits, _, hidden, options = ctc(draw)
    return Case(lambda x: tb.nn.ctc_best_path(x, lengths=options["logit_lengths"]), [logits], [hidden], False)


def edit_distance(draw: np.random.Generator) -> Case:
    """Tokens are integers, which come as numbers and are cast: NaN and infinities become other tokens."""
    lengths, inside = counted(draw, 3, 4)
    others, within = counted(draw, 3, 5)

    def call(x: Any, y: Any) -> Any:
        tokens = tb.astype(x, "int64"), tb.astype(y, "int64")
        counts = {"hypothesis_lengths": tb.asarray(lengths), "reference_lengths": tb.asarray(others)}
        return tb.nn.edit_distance(*tokens, **counts)

    return Case(call, [2 * numbers(draw, 3, 4), 2 * numbers(draw, 3, 5)], [~inside, ~within], False)


def batch_norm(draw: np.random.Generator) -> Case:
    mask, training = some(draw, 4, 3), bool(draw.integers(2))

    def call(x: Any, scale: Any, offset: Any) -> Any:
        statistics = tb.nn.Statistics(tb.zeros(3), tb.ones(3))
        result, after = tb.nn.batch_norm(
            x, scale, offset, statistics=statistics, training=training, mask=tb.asarray(mask)
        )
        return (result, *after)

    return Case(call, [numbers(draw, 4, 3), numbers(draw, 3), numbers(draw, 3)], [~mask, None, None])


def masked_softmax(draw: np.random.Generator) -> Case:
    mask = some(draw, 3, 4)
    return Case(lambda x: tb.nn.masked_softmax(x, tb.asarray(mask)), [numbers(draw, 3, 4)], [~mask])


AXES = ("batch", "time")


def select(draw: np.random.Generator) -> Case:
    mask = some(draw, 3, 4)
    chosen = tb.asarray(mask, names=AXES)
    return Case(
        lambda x: tb.ragged.select(x.rename(*AXES), chosen, axis="time").filled(0), [numbers(draw, 3, 4)], [~mask]
    )


def put_selected(draw: np.random.Generator) -> Case:
    """The entries of the base that the mask replaces."""
    mask = some(draw, 3, 4)
    chosen = tb.asarray(mask, names=AXES)

    def call(base: Any, x: Any) -> Any:
        selected = tb.ragged.select(x.rename(*AXES), chosen, axis="time")
        return tb.ragged.put_selected(base.rename(*AXES), chosen, selected, axis="time")

    return Case(call, [numbers(draw, 3, 4), numbers(draw, 3, 4)], [mask, ~mask])


def with_lengths(draw: np.random.Generator) -> Case:
    lengths, inside = counted(draw, 3, 4)

    def call(x: Any) -> Any:
        sequences = tb.ragged.with_lengths(x.rename(*AXES), time=tb.asarray(lengths, names=AXES[:1]))
        return tb.ragged.softmax(sequences, axis="time").filled(0)

    return Case(call, [numbers(draw, 3, 4)], [~inside])


CASES: dict[str, Callable[[np.random.Generator], Case]] = {
    "nn.attention": attention,
    "nn.attention, causal": causal_attention,
    "nn.attention_weights": attention_weights,
    "nn.multi_head_attention": multi_head_attention,
    "nn.multi_head_attention of itself": self_attention,
    "nn.incremental_attention": steps_of_attention,
    "nn.lstm": lambda draw: recurrent(tb.nn.lstm, 4, False, draw),
    "nn.lstm, mask": lambda draw: recurrent(tb.nn.lstm, 4, True, draw),
    "nn.gru": lambda draw: recurrent(tb.nn.gru, 3, False, draw),
    "nn.gru, mask": lambda draw: recurrent(tb.nn.gru, 3, True, draw),
    "nn.ctc_loss": ctc_loss,
    "nn.ctc_alignment": ctc_alignment,
    "nn.ctc_best_path": ctc_best_path,
    "nn.edit_distance": edit_distance,
    "nn.batch_norm": batch_norm,
    "nn.masked_softmax": masked_softmax,
    "ragged.select": select,
    "ragged.put_selected": put_selected,
    "ragged.with_lengths": with_lengths,
}

WITHOUT = {
    "nn.deform_conv": "the mask weights the places that a window reads",
    "slice_": "the lengths are the size of the slice",
    "ragged.sequence_mask": "it takes nothing but lengths",
}
"""Functions with such a parameter that leave out no places of an operand."""


def test_every_function_with_a_mask_or_lengths_has_a_case() -> None:
    found = {
        prefix + name
        for prefix, namespace in (("", tb), ("nn.", tb.nn), ("ragged.", tb.ragged), ("linalg.", tb.linalg))
        for name in dir(namespace)
        if isfunction(function := getattr(namespace, name)) and not name.startswith("_")
        if any("mask" in parameter or parameter.endswith("lengths") for parameter in signature(function).parameters)
    }
    covered = {name.partition(",")[0].partition(" of ")[0] for name in CASES}
    assert found - WITHOUT.keys() <= covered
    assert WITHOUT.keys() <= found


def leaves(value: Any) -> list[Array]:
    return [np.asarray(leaf) for leaf in flatten(value)[0]]


def total(case: Case, *operands: Any) -> Any:
    """A sum in which each element of the results has another weight."""
    results = flatten(case.call(*operands))[0]
    weighed = [tb.sum(x * tb.reshape(1 + tb.arange(x.size) % 7, x.shape).rename(*x.names)) for x in results]
    return sum(weighed[1:], weighed[0])


def filled(case: Case, value: float, backend: str) -> list[tb.Tensor]:
    pairs = zip(case.operands, case.hidden, strict=True)
    return [
        tb.asarray(x if places is None else np.where(places, np.float32(value), x), backend=backend)
        for x, places in pairs
    ]


def agree(name: str, results: Any, wanted: list[Array], value: float) -> None:
    for one, other in zip(leaves(results), wanted, strict=True):
        assert np.array_equal(one, other), f"{name} with {value} in masked places"


def check(name: str, seed: int, backend: str, kinds: set[str]) -> None:
    with tb.default_backend(backend):
        case = CASES[name](np.random.default_rng(seed))
        outcomes: dict[str, Callable[..., Any]] = {"results": case.call}
        if case.smooth:
            gradient = tb.grad(lambda *operands: total(case, *operands), tuple(range(len(case.operands))))
            tangents = tuple(tb.ones(x.shape) for x in case.operands)
            outcomes["gradient"] = gradient
            outcomes["compiled gradient"] = tb.jit(gradient)
            outcomes["tangents"] = lambda *operands: tb.jvp(case.call, operands, tangents)
            outcomes["batch"] = lambda *operands: tb.vmap(gradient)(*(tb.stack([x, x]) for x in operands))
        for kind in kinds & outcomes.keys():
            wanted = leaves(outcomes[kind](*filled(case, 0, backend)))
            for slope in wanted:
                assert np.isfinite(slope).all()
            if "gradient" in kind:
                for slope, hidden in zip(wanted, case.hidden, strict=True):
                    assert hidden is None or not slope[hidden].any()
            for value in GARBAGE:
                agree(f"{kind} of {name}", outcomes[kind](*filled(case, value, backend)), wanted, value)


@pytest.mark.parametrize("name", CASES)
@profile(2)
@given(st.integers(0, 2**32))
def test_masked_places_affect_nothing(name: str, seed: int) -> None:
    check(name, seed, "numpy", {"results", "gradient", "compiled gradient", "tangents", "batch"})


@pytest.mark.parametrize("name", CASES)
def test_masked_places_affect_nothing_on_the_binary_backend(name: str) -> None:
    check(name, 7, "binary", {"results", "gradient"})


@pytest.mark.parametrize("name", ["nn.attention", "nn.lstm", "nn.ctc_loss", "ragged.with_lengths"])
def test_masked_places_affect_nothing_on_jax(name: str) -> None:
    check(name, 7, "jax", {"results", "compiled gradient"})
