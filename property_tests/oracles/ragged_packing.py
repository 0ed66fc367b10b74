"""Oracles of windows, convolutions, selections, packings and loops of `tb.ragged`."""

from __future__ import annotations

from typing import Any

import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.protocol import Backend
from tensorbackend.testing.strategies import Draw

from .ragged import NUMBERS, TIME, close, examples_of, ragged_of, same
from .table import Recorder, law


@law("ragged.windows", by="NumPy")
def windows(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples, size, stride = examples_of(draw), draw(st.integers(1, 3)), draw(st.integers(1, 2))
    padding, value = draw(st.sampled_from(["valid", "same"])), draw(st.sampled_from([0, 9.0]))
    name = draw(st.sampled_from(["window", "part"]))
    out = run(
        ragged_of(examples, backend), size, axis=draw(TIME), stride=stride, padding=padding, value=value, name=name
    )
    wanted = []
    for x in examples:
        if padding == "same":
            count = -(-len(x) // stride)
            missing = max((count - 1) * stride + size - len(x), 0) if count else 0
            x = numpy.pad(x, (missing // 2, missing - missing // 2), constant_values=value)
        else:
            count = max((len(x) - size) // stride + 1, 0)
        wanted.append(numpy.array([x[at * stride : at * stride + size] for at in range(count)]).reshape(count, size))
    close(out, wanted)
    assert out.values.names == ("batch", "time", name)


@law("ragged.conv", by="brute force")
def conv(draw: Draw, run: Recorder, backend: Backend) -> None:
    groups = draw(st.integers(1, 2))
    channels, units, width = 2, groups * draw(st.integers(1, 2)), draw(st.integers(1, 3))
    examples = examples_of(draw, channels)
    lifted, spread, stride = draw(st.integers(1, 2)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    padding: Any = draw(st.sampled_from(["valid", "same", [(1, 2)]]))
    if padding == "same" and stride > 1:
        lifted = 1
    count = units * channels // groups * width
    kernel = numpy.array(draw(st.lists(NUMBERS, min_size=count, max_size=count))).reshape(
        units, channels // groups, width
    )
    x = ragged_of(examples, backend, ("channel",))
    values = tb.permute_dims(x.values, ("batch", "channel", "time"))
    out = run(
        tb.ragged.with_lengths(values, time=x.lengths["time"]), tb.asarray(kernel, backend=backend), strides=stride,
        padding=padding, input_dilation=lifted, kernel_dilation=spread, feature_groups=groups,
    )  # fmt: skip
    for part, example in zip(tb.ragged.to_list(out), examples, strict=True):
        numpy.testing.assert_allclose(
            numpy.asarray(part), _convolved(example.T, kernel, stride, padding, lifted, spread, groups), atol=1e-9
        )


def _convolved(x: Any, kernel: Any, stride: int, padding: Any, lifted: int, spread: int, groups: int) -> Any:
    """The convolution of one example (channels, time), by its definition."""
    channels, time = x.shape
    units, share, width = kernel.shape
    dilated = numpy.zeros((channels, (time - 1) * lifted + 1 if time else 0))
    dilated[:, ::lifted] = x
    span = (width - 1) * spread + 1
    size = dilated.shape[1]
    if padding == "same":
        count = -(-size // stride)
        missing = max((count - 1) * stride + span - size, 0) if count else 0
        low, high = missing // 2, missing - missing // 2
    else:
        low, high = (0, 0) if padding == "valid" else padding[0]
        count = (size + low + high - span) // stride + 1 if size + low + high >= span else 0
    dilated = numpy.pad(dilated, ((0, 0), (low, high)))
    out = numpy.zeros((units, count))
    for unit in range(units):
        first = unit // (units // groups) * share
        for at in range(count):
            for place in range(width):
                out[unit, at] += kernel[unit, :, place] @ dilated[first : first + share, at * stride + place * spread]
    return out


# Selection and packing


@law("ragged.select", by="NumPy")
def select(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples = examples_of(draw)
    x, least = ragged_of(examples, backend), draw(st.sampled_from([-9.0, 0.0, 1.0]))
    name = draw(st.sampled_from([None, "picked"]))
    out = run(x, x > least, axis=draw(TIME), name=name, size=draw(st.sampled_from([None, 6])))
    close(out, [example[example > least] for example in examples])
    assert out.values.names == ("batch", name or "time")


@law("ragged.put_selected", by="NumPy")
def put_selected(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples = examples_of(draw)
    x, least = ragged_of(examples, backend), draw(st.sampled_from([-9.0, 0.0, 1.0]))
    name = draw(st.sampled_from([None, "picked"]))
    selected = tb.ragged.select(x, x > least, axis="time", name=name)
    out = run(x, x > least, selected * 10.0, axis="time", name=name)
    close(out, [numpy.where(example > least, example * 10, example) for example in examples])


@law("ragged.pack", by="NumPy")
def pack(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples = examples_of(draw, 2)
    total, name = sum(map(len, examples)), draw(st.sampled_from(["packed", "row"]))
    size = draw(st.sampled_from([None, total, total + 1]))
    out = run(ragged_of(examples, backend, ("feature",)), axis=draw(st.sampled_from(["time", 1])), name=name, size=size)
    same(tb.ragged.to_list(out), numpy.concatenate(examples))
    assert out.values.names == (name, "feature")


@law("ragged.unpack", by="NumPy")
def unpack(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples, name = examples_of(draw), draw(st.sampled_from(["packed", "row"]))
    x = ragged_of(examples, backend)
    out = run(tb.ragged.pack(x, axis="time", name=name) * 2.0, like=x, axis="time", packed=name)
    close(out, [2 * example for example in examples])


@law("ragged.merge_axes", by="NumPy")
def merge_axes(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples = examples_of(draw, 2)
    size = draw(st.sampled_from([None, 9]))
    out = run(ragged_of(examples, backend, ("feature",)), ["time", "feature"], name="text", size=size)
    close(out, [example.reshape(-1) for example in examples])


@law("ragged.unmerge_axis", by="NumPy")
def unmerge_axis(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples = examples_of(draw)
    x = ragged_of(examples, backend)
    merged = tb.ragged.merge_axes(x, ["batch", "time"], name="text")
    out = run(merged * 2.0, "text", axes=["batch", "time"], like=x)
    close(out, [2 * example for example in examples])


@law("ragged.apply", by="NumPy")
def apply(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples = examples_of(draw, 2)
    x = ragged_of(examples, backend, ("feature",))
    out = run(lambda x, y: tb.exp(x) * y, x, 2.0)
    close(out, [numpy.exp(example) * 2 for example in examples])


# Loops


@law("ragged.scan", by="brute force")
def scan(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples, reverse = examples_of(draw), draw(st.booleans())
    start = tb.zeros(len(examples), dtype="f64", names=("batch",), backend=backend)
    xs: Any = ragged_of(examples, backend)
    several = draw(st.booleans())

    def step(total: Any, entry: Any) -> tuple[Any, Any]:
        entry = entry[0] if several else entry
        return total * 0.5 + entry, total * entry

    last, ys = run(step, start, [xs, xs] if several else xs, axis=draw(st.sampled_from(["time", 1])), reverse=reverse)
    totals, outputs = [], []
    for example in examples:
        total, seen = 0.0, numpy.zeros(len(example))
        for at in reversed(range(len(example))) if reverse else range(len(example)):
            seen[at], total = total * example[at], total * 0.5 + example[at]
        totals.append(total)
        outputs.append(seen)
    same(last, numpy.array(totals))
    close(ys, outputs)


@law("ragged.unroll", by="brute force")
def unroll(draw: Draw, run: Recorder, backend: Backend) -> None:
    starts, limit = draw(st.lists(st.integers(1, 20), min_size=1, max_size=3)), draw(st.integers(1, 6))
    axis = draw(st.sampled_from(["time", "turn"]))
    first = tb.asarray(numpy.array(starts, "int64"), names=("batch",), backend=backend)
    carry, outputs = run(lambda n: (n // 2, n, n <= 1), first, limit=limit, axis=axis)
    wanted = []
    for number in starts:
        seen = [number]
        while seen[-1] > 1 and len(seen) < limit:
            seen.append(seen[-1] // 2)
        wanted.append(numpy.array(seen))
    close(outputs, wanted)
    same(carry, numpy.array([seen[-1] // 2 for seen in wanted]))
    assert outputs.values.names[0] == axis


@law("ragged.tensor_array", by="brute force")
def tensor_array(draw: Draw, run: Recorder, backend: Backend) -> None:
    entries, axis = draw(st.lists(NUMBERS, max_size=4)), draw(st.sampled_from(["time", "step"]))
    array = run(tb.zeros((), dtype="f64", backend=backend), len(entries) + draw(st.integers(0, 2)), axis=axis)
    for entry in entries:
        array = array.push(tb.asarray(entry, dtype="f64", backend=backend))
    out = array.stack()
    same(tb.ragged.to_list(out), numpy.array(entries, "f8"))
    assert out.values.names == (axis,)
