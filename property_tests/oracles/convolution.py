"""Oracles of convolutions, by a loop over the places of the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, DType
from tensorbackend.testing import Invocation
from tensorbackend.testing.calls import moderate
from tensorbackend.testing.generators.window import number_for_each, padding_for_each
from tensorbackend.testing.strategies import Draw, tensors

from .contraction import products
from .table import named, reference, wide
from .window import each, paddings


def spread(x: Any, apart: Sequence[int], pairs: Sequence[tuple[int, int]]) -> Any:
    """x (batch, channels, *spatial) with zeros between its elements and around them; negative padding cuts them off."""
    sizes = [(size - 1) * between + 1 if size else 0 for size, between in zip(x.shape[2:], apart, strict=True)]
    out = numpy.zeros((*x.shape[:2], *sizes), x.dtype)
    everywhere: list[Any] = [slice(None)] * 2
    out[tuple(everywhere + [slice(None, None, between) for between in apart])] = x
    out = numpy.pad(out, [(0, 0), (0, 0), *((max(low, 0), max(high, 0)) for low, high in pairs)])
    return cut(out, [(-low, -high) for low, high in pairs])


def cut(x: Any, cuts: Sequence[tuple[int, int]]) -> Any:
    """x (batch, channels, *spatial) without as many entries at both ends of the spatial axes, none for fewer than 0."""
    kept: list[Any] = [slice(None)] * 2
    for size, (low, high) in zip(x.shape[2:], cuts, strict=True):
        kept.append(slice(max(low, 0), size - max(high, 0)))
    return x[tuple(kept)]


def convolved(
    x: Any, kernel: Any, strides: Sequence[int], pairs: Any, apart: Any, between: Any, features: int, batches: int
) -> Any:
    """The sums of products of the kernel with each window, a place of the kernel after the other."""
    dtype = numpy.result_type(x, kernel)
    x, kernel = spread(x.astype(dtype), apart, pairs), kernel.astype(dtype)
    spans = [(size - 1) * step + 1 if size else 0 for size, step in zip(kernel.shape[2:], between, strict=True)]
    counts = [(size - span) // pace + 1 if size >= span else 0
              for size, span, pace in zip(x.shape[2:], spans, strides, strict=True)]  # fmt: skip
    groups = features * batches
    share, fewer = kernel.shape[0] // groups, x.shape[0] // batches
    out = numpy.zeros((fewer, kernel.shape[0], *counts), dtype)
    letters = "uvw"[: len(counts)]
    for group in range(groups):
        rows = slice(group * fewer, (group + 1) * fewer) if batches > 1 else slice(None)
        width = kernel.shape[1]
        columns = slice(group * width, (group + 1) * width) if features > 1 else slice(None)
        chosen = slice(group * share, (group + 1) * share)
        for place in product(*map(range, kernel.shape[2:])):
            starts = [at * step for at, step in zip(place, between, strict=True)]
            runs = [slice(start, start + (count - 1) * pace + 1 if count else start, pace)
                    for start, count, pace in zip(starts, counts, strides, strict=True)]  # fmt: skip
            windows = x[(rows, columns, *runs)]
            weights = kernel[(chosen, slice(None), *place)]
            out[:, chosen] += products(f"nc{letters},oc->no{letters}", windows, weights)
    return out


def conv_call(draw: Draw, dtype: DType) -> Invocation:
    """Convolutions of 0 to 3 spatial axes, grouped and dilated, in fitting shapes."""
    rank = draw(st.sampled_from([0, 1, 1, 2, 2, 3]))
    spatial = tuple(draw(st.sampled_from([3, 2, 1, *range((7, 7, 5, 4)[rank])])) for _ in range(rank))
    window = tuple(draw(st.sampled_from([1, 2, 2, 3, 1, 2, 3, 0])) for _ in range(rank))
    features, batches = draw(st.sampled_from([(1, 1), (1, 1), (2, 1), (3, 1), (1, 2), (1, 3)]))
    channels, share, batch = (draw(st.sampled_from([1, 2, 1, 2, 1, 2, 0])) for _ in range(3))
    batch *= batches
    names = ("batch", "channel", *(f"space{axis}" for axis in range(rank)))
    x = draw(tensors(dtype, (batch, channels * features, *spatial), names=names, tame=True))
    other = draw(st.sampled_from([dtype, dtype, dtype, *ALL_DTYPES]))
    shape = (share * features * batches, channels, *window)
    kernel = draw(tensors(other, shape, names=("feature", *names[1:]), tame=True))
    x, kernel = moderate(draw, [x, kernel])
    if draw(st.booleans()):
        x = x.rename(*(None,) * x.ndim)
    if draw(st.booleans()):
        kernel = kernel.rename(*(None,) * x.ndim)
    options: dict[str, Any] = {"padding": padding_for_each(draw, x.names[2:])}
    for option in ("strides", "input_dilation", "kernel_dilation"):
        options[option] = number_for_each(draw, x.names[2:], 3)
    options = {name: value for name, value in options.items() if draw(st.booleans())}
    return Invocation("", (x, kernel), {**options, "feature_groups": features, "batch_groups": batches})


@reference("conv", by="brute force", draw=conv_call, raw=True)
def conv(call: Invocation) -> Any:
    x, kernel = call.arguments
    given, weights, spatial = wide(x), wide(kernel), x.names[2:]
    strides, apart, between = (each(call.options.get(name, 1), spatial)
                               for name in ("strides", "input_dilation", "kernel_dilation"))  # fmt: skip
    sizes = [(size - 1) * step + 1 if size else 0 for size, step in zip(given.shape[2:], apart, strict=True)]
    spans = [(size - 1) * step + 1 if size else 0 for size, step in zip(weights.shape[2:], between, strict=True)]
    pairs = paddings(call.options.get("padding", "valid"), spatial, sizes, spans, strides)
    out = convolved(given, weights, strides, pairs, apart, between,
                    call.options["feature_groups"], call.options["batch_groups"])  # fmt: skip
    return named(out, (x.names[0], kernel.names[0], *spatial))


# Convolutions of networks


def network_call(draw: Draw, dtype: DType, *, transposed: bool) -> Invocation:
    """Axes in any order, by name or position; a bias; groups; one batch axis, several or none."""
    rank = draw(st.integers(0, 2))
    space = [f"space{axis}" for axis in range(rank)]
    batch = draw(st.sampled_from([[], ["batch"], ["batch", "speaker"]]))
    groups, share, out = (draw(st.integers(1, 2)) for _ in range(3))
    sizes = {**{name: draw(st.sampled_from([1, 2, 1, 2, 0])) for name in batch}, "feature": groups * share,
             **{name: draw(st.integers(1, 5)) for name in space}}  # fmt: skip
    order = draw(st.permutations(list(sizes)))
    x = draw(tensors(dtype, tuple(sizes[name] for name in order), names=order, tame=True))
    window = [draw(st.integers(1, 3)) for _ in space]
    first = (groups * share, out) if transposed else (groups * out, share)
    names = ("feature", "unit") if transposed else ("unit", "feature")
    kernel = draw(tensors(dtype, (*first, *window), names=(*names, *space), tame=True))
    features = groups * out
    operands = moderate(draw, [x, kernel, draw(tensors(dtype, (features,), names=("unit",), tame=True))])
    x, kernel = operands[:2]
    forgotten = draw(st.booleans())
    options: dict[str, Any] = {"groups": groups}
    at = order.index("feature")
    options["axis"] = draw(st.sampled_from([at, at - x.ndim, *([] if forgotten else ["feature"])]))
    places = [order.index(name) for name in space]
    if forgotten:
        x, kernel = x.rename(*(None,) * x.ndim), kernel.rename(*(None,) * kernel.ndim)
    if forgotten or draw(st.booleans()):
        options["spatial"] = tuple(draw(st.sampled_from([place, place - x.ndim])) for place in places)
        if options["spatial"] == tuple(range(x.ndim - rank - (at == x.ndim - 1), x.ndim - (at == x.ndim - 1))):
            options["spatial"] = None
    for name in ("strides", "dilation"):
        if draw(st.booleans()):
            options[name] = draw(st.sampled_from([2, tuple(draw(st.integers(1, 3)) for _ in space)]))
    if draw(st.booleans()):
        pairs = tuple((draw(st.integers(-1, 2)), draw(st.integers(-1, 2))) for _ in space)
        options["padding"] = draw(st.sampled_from(["valid", "same", pairs]))
    bias = [operands[2]] if draw(st.booleans()) else []
    return Invocation("", (x, kernel, *bias), options)


def layout(call: Invocation) -> tuple[Any, Any, list[int], list[int]]:
    """x as (batch, features, *spatial), the kernel, the order of the axes, and the sizes of the batch axes."""
    x, kernel = call.arguments[:2]
    feature = call.options["axis"]
    feature = x.names.index(feature) if isinstance(feature, str) else feature % x.ndim
    rank = kernel.ndim - 2
    spatial = call.options.get("spatial")
    if spatial is None:
        rest = [at for at in range(x.ndim) if at != feature]
        by_name = [x.names.index(name) for name in kernel.names[2:] if name is not None and name in x.names]
        places = by_name if len(by_name) == rank else rest[len(rest) - rank :]
    else:
        places = [at % x.ndim for at in spatial]
    batch = [at for at in range(x.ndim) if at != feature and at not in places]
    order = [*batch, feature, *places]
    moved = wide(x).transpose(order)
    lead = moved.shape[: len(batch)]
    return moved.reshape(int(numpy.prod(lead)), *moved.shape[len(batch) :]), wide(kernel), order, list(lead)


def finished(call: Invocation, out: Any, order: list[int], lead: list[int], name: str | None) -> Any:
    """A result (batch, out, *spatial) with its axes in x's order, plus the bias."""
    if len(call.arguments) > 2:
        bias = wide(call.arguments[2])
        out = out + bias.reshape(-1, *(1,) * (out.ndim - 2))
    out = out.reshape(*lead, *out.shape[1:])
    x = call.arguments[0]
    names = [name if at == len(lead) else x.names[axis] for at, axis in enumerate(order)]
    back = [order.index(axis) for axis in range(x.ndim)]
    if len(call.arguments) > 2 and names[len(lead)] is None:
        names[len(lead)] = call.arguments[2].names[0]
    return named(out.transpose(back), [names[at] for at in back])


def plain_conv_call(draw: Draw, dtype: DType) -> Invocation:
    return network_call(draw, dtype, transposed=False)


# The bias is added to a rounded result.
@reference("nn.conv", by="brute force", draw=plain_conv_call, raw=True, narrow=1)
def network_conv(call: Invocation) -> Any:
    x, kernel, order, lead = layout(call)
    rank = kernel.ndim - 2
    names = (None,) * rank
    strides, between = (each(call.options.get(name, 1), names) for name in ("strides", "dilation"))
    spans = [(size - 1) * step + 1 for size, step in zip(kernel.shape[2:], between, strict=True)]
    pairs = paddings(call.options.get("padding", "valid"), names, x.shape[2:], spans, strides)
    out = convolved(x, kernel, strides, pairs, [1] * rank, between, call.options["groups"], 1)
    return finished(call, out, order, lead, call.arguments[1].names[0])


def transposed_conv_call(draw: Draw, dtype: DType) -> Invocation:
    """Finite kernels: the zeros between the elements of x are multiplied too, as those of a convolution are."""
    call = network_call(draw, dtype, transposed=True)
    x, kernel, *bias = call.arguments
    if dtype.is_inexact:
        array = numpy.where(numpy.isfinite(wide(kernel)), wide(kernel), 2)
        kernel = tb.asarray(array, dtype=dtype, names=kernel.names, backend="binary")
    return call._replace(arguments=(x, kernel, *bias))


@reference("nn.conv_transpose", by="brute force", draw=transposed_conv_call, raw=True, narrow=1)
def conv_transpose(call: Invocation) -> Any:
    x, kernel, order, lead = layout(call)
    dtype, rank, groups = numpy.result_type(x, kernel), kernel.ndim - 2, call.options["groups"]
    x, kernel = x.astype(dtype), kernel.astype(dtype)
    names = (None,) * rank
    strides, between = (each(call.options.get(name, 1), names) for name in ("strides", "dilation"))
    whole = [(size - 1) * pace + (width - 1) * step + 1 for size, pace, width, step in
             zip(x.shape[2:], strides, kernel.shape[2:], between, strict=True)]  # fmt: skip
    share = x.shape[1] // groups
    out = numpy.zeros((x.shape[0], kernel.shape[1] * groups, *whole), dtype)
    for place in product(*map(range, x.shape[2:])):
        for offset in product(*map(range, kernel.shape[2:])):
            at = tuple(p * pace + o * step for p, pace, o, step in zip(place, strides, offset, between, strict=True))
            for group in range(groups):
                inputs = slice(group * share, (group + 1) * share)
                outputs = slice(group * kernel.shape[1], (group + 1) * kernel.shape[1])
                added = products("nc,co->no", x[(slice(None), inputs, *place)], kernel[(inputs, slice(None), *offset)])
                out[(slice(None), outputs, *at)] += added
    padding = call.options.get("padding", "valid")
    if padding == "valid":
        cuts = [(0, 0)] * rank
    elif padding == "same":  # the size times the stride, with the odd entry cut off at the end
        over = [size - given * pace for size, given, pace in zip(whole, x.shape[2:], strides, strict=True)]
        cuts = [(max(excess // 2, 0), excess - max(excess // 2, 0)) for excess in over]
    else:
        cuts = list(padding)
    pairs = [(max(-low, 0), max(-high, 0)) for low, high in cuts]
    out = numpy.pad(out, [(0, 0), (0, 0), *pairs])
    return finished(call, cut(out, cuts), order, lead, call.arguments[1].names[1])
