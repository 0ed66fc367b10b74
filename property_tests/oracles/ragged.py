"""Oracles of `tb.ragged`: each example alone, as a NumPy array of its own length, with NaN in the padding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy
import scipy.special
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.protocol import Backend
from tensorbackend.ragged import Ragged
from tensorbackend.testing.strategies import Draw

from .reduction import best
from .sorting import order
from .table import Recorder, law

NUMBERS = st.sampled_from([0.0, 1.0, -1.0, 2.0, 0.5, -3.0]) | st.floats(-4, 4, width=16)
TIME = st.sampled_from(["time", 1, -1])


def examples_of(draw: Draw, *inner: int, least: int = 0, dtype: str = "float64") -> list[Any]:
    """Arrays of different lengths, some of them empty: equal numbers occur."""
    lengths = draw(st.lists(st.integers(least, 4), min_size=1, max_size=3))
    arrays = []
    for length in lengths:
        count = length * int(numpy.prod(inner))
        array = numpy.array(draw(st.lists(NUMBERS, min_size=count, max_size=count)), "f8")
        arrays.append(array.reshape(length, *inner).astype(dtype))
    return arrays


def ragged_of(examples: Sequence[Any], backend: Backend, inner: Sequence[str] = (), room: int = 1) -> Ragged:
    """The examples as one tensor, with NaN, or 99 for integers, in the padding and room for more of it."""
    most = max(len(example) for example in examples) + room
    fill = numpy.nan if examples[0].dtype.kind == "f" else 1 if examples[0].dtype.kind == "b" else 99
    values = numpy.full((len(examples), most, *examples[0].shape[1:]), fill, examples[0].dtype)
    for place, example in enumerate(examples):
        values[place, : len(example)] = example
    tensor = tb.asarray(values, names=("batch", "time", *inner), backend=backend)
    lengths = tb.asarray([len(example) for example in examples], names=("batch",), backend=backend)
    return tb.ragged.with_lengths(tensor, time=lengths)


def close(actual: Any, expected: Sequence[Any]) -> None:
    """Assert that the examples of a tensor with lengths are those expected."""
    parts = tb.ragged.to_list(actual)
    assert len(parts) == len(expected)
    for part, wanted in zip(parts, expected, strict=True):
        same(part, wanted)


def same(actual: Any, expected: Any) -> None:
    assert actual.shape == numpy.shape(expected), (actual.template, numpy.shape(expected))
    numpy.testing.assert_allclose(numpy.asarray(actual), expected, rtol=1e-9, atol=1e-9)


# Construction


@law("ragged.from_list", by="NumPy")
def from_list(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples = examples_of(draw, *draw(st.sampled_from([(), (2,)])))
    most = max(map(len, examples))
    size, fill = draw(st.sampled_from([None, most + 2])), draw(st.sampled_from([0, -7.0]))
    axis, batch = draw(st.sampled_from([("time", "batch"), ("letter", "word")]))
    out = run(
        [tb.asarray(example, backend=backend) for example in examples], axis=axis, batch=batch, size=size, fill=fill
    )
    close(out, examples)
    assert out.values.names[:2] == (batch, axis)
    assert out.values.shape[1] == (most if size is None else size)
    for place, example in enumerate(examples):
        assert (numpy.asarray(out.values)[place, len(example) :] == fill).all()


@law("ragged.with_lengths", by="definition")
def with_lengths(draw: Draw, run: Recorder, backend: Backend) -> None:
    values = tb.asarray(numpy.arange(24.0).reshape(2, 3, 4), names=("batch", "word", "letter"), backend=backend)
    words = draw(st.lists(st.integers(0, 3), min_size=2, max_size=2))
    letters = draw(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=2))
    out = run(values, word=words, letter=letters)
    parts = tb.ragged.to_list(out)
    for place, (count, widths) in enumerate(zip(words, letters, strict=True)):
        assert len(parts[place]) == count
        for word in range(count):
            same(parts[place][word], numpy.asarray(values)[place, word, : widths[word]])


@law("ragged.to_list", by="NumPy")
def to_list(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples = examples_of(draw, 2)
    for part, example in zip(run(ragged_of(examples, backend, ("feature",))), examples, strict=True):
        same(part, example)


@law("ragged.resize", by="NumPy")
def resize(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples = examples_of(draw)
    size = max(map(len, examples)) + draw(st.integers(0, 3))
    out = run(ragged_of(examples, backend), size, axis=draw(TIME), fill=draw(st.sampled_from([0, -1.0])))
    close(out, examples)
    assert out.values.shape[1] == size


@law("ragged.take", by="NumPy")
def take(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples = examples_of(draw)
    picks = draw(st.lists(st.integers(-len(examples), len(examples) - 1), min_size=1, max_size=3))
    out = run(ragged_of(examples, backend), picks, axis=draw(st.sampled_from(["batch", 0])))
    close(out, [examples[pick] for pick in picks])


@law("ragged.sequence_mask", by="NumPy")
def sequence_mask(draw: Draw, run: Recorder, backend: Backend) -> None:
    lengths, size = draw(st.lists(st.integers(0, 5), max_size=3)), draw(st.integers(0, 5))
    name = draw(st.sampled_from(["time", "letter"]))
    out = run(tb.asarray(numpy.array(lengths, "int64"), names=("batch",), backend=backend), size, name=name)
    same(out, numpy.arange(size) < numpy.array(lengths, int)[:, None])
    assert out.names == ("batch", name)


# Reductions

REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": numpy.sum,
    "prod": numpy.prod,
    "mean": lambda x, axis: numpy.mean(x, axis) if x.shape[axis] else numpy.sum(x, axis),
    "max": lambda x, axis: numpy.max(x, axis, initial=-numpy.inf),
    "min": lambda x, axis: numpy.min(x, axis, initial=numpy.inf),
    "logsumexp": lambda x, axis: numpy.log(numpy.sum(numpy.exp(x), axis)),
    "argmax": lambda x, axis: _place(x, axis, 1),
    "argmin": lambda x, axis: _place(x, axis, -1),
}


def _place(x: Any, axis: int, sign: int) -> Any:
    rows = numpy.moveaxis(x, axis, -1)
    flat = (
        [best(row, sign, last=False) if row else -1 for row in rows.reshape(-1, x.shape[axis]).tolist()]
        if x.size
        else []
    )
    return numpy.array(flat or [-1] * int(numpy.prod(rows.shape[:-1])), "int64").reshape(rows.shape[:-1])


def reduced(
    draw: Draw, run: Recorder, backend: Backend, function: Callable[..., Any], examples: list[Any], **options: Any
) -> None:
    """Judge a reduction along time, along the features, and along the batch at each time that an example reaches."""
    x = ragged_of(examples, backend, ("feature",))
    kind, keepdims = draw(st.sampled_from(["time", "feature", "batch", "all"])), draw(st.booleans())
    if kind == "all" and "arg" in run.name:
        kind = "time"
    axis = None if kind == "all" else draw(st.sampled_from([kind, ("batch", "time", "feature").index(kind)]))
    keeping = {"keepdims": True} if keepdims else {}
    with numpy.errstate(all="ignore"):
        out = run(x, axis=axis, **options, **keeping)
        if kind == "all":
            whole = numpy.concatenate([example.ravel() for example in examples])
            wanted = function(whole, 0)
            same(out, numpy.reshape(wanted, (1, 1, 1)) if keepdims else wanted)
        elif kind == "time":
            wanted = numpy.stack([function(example, 0) for example in examples])
            same(out, wanted[:, None] if keepdims else wanted)
        elif kind == "feature":
            wanted = [function(example, 1) for example in examples]
            close(out, [each[:, None] for each in wanted] if keepdims else wanted)
        else:
            longest = max(map(len, examples))
            columns = [numpy.stack([x[at] for x in examples if len(x) > at]) for at in range(longest)]
            wanted = numpy.array([function(column, 0) for column in columns]).reshape(longest, 2)
            if "arg" in run.name:  # an index counts all examples, also those that end before
                reaching = [[place for place, x in enumerate(examples) if len(x) > at] for at in range(longest)]
                wanted = numpy.array([numpy.take(places, row) for places, row in zip(reaching, wanted, strict=True)])
                wanted = wanted.reshape(longest, 2)
            dense = numpy.asarray(tb.ragged.to_list(tb.ragged.take(out, 0, axis=0) if keepdims else out))
            numpy.testing.assert_allclose(dense, wanted, rtol=1e-9, atol=1e-9)


for _name, _function in REDUCTIONS.items():

    def _judge(draw: Draw, run: Recorder, backend: Backend, function: Callable[..., Any] = _function) -> None:
        reduced(draw, run, backend, function, examples_of(draw, 2))

    law(f"ragged.{_name}", by="NumPy")(_judge)


@law("ragged.all", "ragged.any", by="NumPy")
def truths(draw: Draw, run: Recorder, backend: Backend) -> None:
    function = numpy.all if run.name == "ragged.all" else numpy.any
    reduced(draw, run, backend, function, examples_of(draw, 2, dtype="bool"))


@law("ragged.var", "ragged.std", by="NumPy")
def deviations(draw: Draw, run: Recorder, backend: Backend) -> None:
    correction = draw(st.sampled_from([0.0, 1.0]))

    def function(x: Any, axis: int) -> Any:
        count = x.shape[axis]
        if count == 0:
            return numpy.sum(x, axis)
        if count <= correction:
            return numpy.full_like(numpy.sum(x, axis), numpy.nan)
        variance = numpy.var(x, axis, ddof=correction)
        return variance if run.name == "ragged.var" else numpy.sqrt(variance)

    reduced(draw, run, backend, function, examples_of(draw, 2), correction=correction)


# Along an axis


@law("ragged.softmax", "ragged.log_softmax", by="SciPy")
def softmax(draw: Draw, run: Recorder, backend: Backend) -> None:
    function = scipy.special.softmax if run.name == "ragged.softmax" else scipy.special.log_softmax
    examples = examples_of(draw)
    out = run(ragged_of(examples, backend), axis=draw(TIME))
    close(out, [function(example, 0) if len(example) else example for example in examples])


@law("ragged.normalize", by="NumPy")
def normalize(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples, epsilon = examples_of(draw), draw(st.sampled_from([1e-5, 0.5]))
    out = run(ragged_of(examples, backend), axis=draw(TIME), epsilon=epsilon)
    wanted = [(x - x.mean()) / numpy.sqrt(x.var() + epsilon) if len(x) else x for x in examples]
    numpy.testing.assert_equal(len(wanted), len(examples))
    for part, want in zip(tb.ragged.to_list(out), wanted, strict=True):
        numpy.testing.assert_allclose(numpy.asarray(part), want, rtol=1e-6, atol=1e-6)


CUMULATIVE: dict[str, Callable[[Any], Any]] = {
    "ragged.cumulative_sum": numpy.cumsum,
    "ragged.cumulative_prod": numpy.cumprod,
    "ragged.cumulative_max": numpy.maximum.accumulate,
    "ragged.cumulative_min": numpy.minimum.accumulate,
}


@law(*CUMULATIVE, by="NumPy")
def cumulative(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples, reverse, function = examples_of(draw), draw(st.booleans()), CUMULATIVE[run.name]
    out = run(ragged_of(examples, backend), axis=draw(TIME), reverse=reverse)
    close(out, [function(x[::-1])[::-1] if reverse else function(x) for x in examples])


@law("ragged.sort", "ragged.argsort", by="brute force")
def sort(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples, descending = examples_of(draw), draw(st.booleans())
    out = run(ragged_of(examples, backend), axis=draw(TIME), descending=descending)
    places = [numpy.array(order(x.tolist(), descending), "int64") for x in examples]
    close(out, [x[at] for x, at in zip(examples, places, strict=True)] if run.name == "ragged.sort" else places)


@law("ragged.top_k", by="brute force")
def top_k(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples = examples_of(draw)
    k = draw(st.integers(0, max(map(len, examples))))
    values, indices = run(ragged_of(examples, backend), k, axis=draw(TIME))
    places = [numpy.array(order(x.tolist(), True)[:k], "int64") for x in examples]
    close(values, [x[at] for x, at in zip(examples, places, strict=True)])
    close(indices, places)


@law("ragged.flip", by="NumPy")
def flip(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples = examples_of(draw, 2)
    out = run(ragged_of(examples, backend, ("feature",)), axis=draw(st.sampled_from(["time", 1])))
    close(out, [x[::-1] for x in examples])


@law("ragged.concat", by="NumPy")
def concat(draw: Draw, run: Recorder, backend: Backend) -> None:
    first = examples_of(draw)
    groups = [first]
    for _ in range(draw(st.integers(0, 2))):
        other = examples_of(draw)
        groups.append([other[at % len(other)] for at in range(len(first))])
    out = run([ragged_of(group, backend) for group in groups], axis=draw(TIME))
    close(out, [numpy.concatenate(parts) for parts in zip(*groups, strict=True)])


@law("ragged.pad", by="NumPy")
def pad(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples, value = examples_of(draw), draw(st.sampled_from([0, 7.0]))
    padding = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    out = run(ragged_of(examples, backend), padding, axis=draw(TIME), value=value)
    close(out, [numpy.pad(x, padding, constant_values=value) for x in examples])


@law("ragged.shift", by="NumPy")
def shift(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples, fill = examples_of(draw), draw(st.sampled_from([0, 7.0]))
    amounts = draw(st.lists(st.integers(-5, 5), min_size=len(examples), max_size=len(examples)))
    if draw(st.booleans()):
        amounts = [amounts[0]] * len(examples)
        amount: Any = amounts[0]
    else:
        amount = tb.asarray(amounts, names=("batch",), backend=backend)
    out = run(ragged_of(examples, backend), amount, axis=draw(TIME), fill=fill)
    wanted = []
    for x, by in zip(examples, amounts, strict=True):
        wanted.append(numpy.array([x[at - by] if 0 <= at - by < len(x) else fill for at in range(len(x))], x.dtype))
    close(out, wanted)


@law("ragged.slice_along_axis", by="NumPy")
def slice_along_axis(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples, start, length = examples_of(draw), draw(st.integers(-5, 5)), draw(st.integers(0, 4))
    size = draw(st.sampled_from([None, 6]))
    out = run(ragged_of(examples, backend), start, length, axis=draw(TIME), size=size)
    wanted = []
    for x in examples:
        first = max(0, min(start + len(x) if start < 0 else start, len(x)))
        wanted.append(x[first : first + length])
    close(out, wanted)


@law("ragged.split", by="NumPy")
def split(draw: Draw, run: Recorder, backend: Backend) -> None:
    examples = examples_of(draw)
    x = ragged_of(examples, backend)
    places = sorted(draw(st.lists(st.integers(0, x.values.shape[1]), max_size=2)))
    parts = run(x, places, axis=draw(TIME))
    ends = [0, *places, x.values.shape[1]]
    assert len(parts) == len(places) + 1
    for part, low, high in zip(parts, ends, ends[1:], strict=False):
        close(part, [example[low:high] for example in examples])
