"""Laws of axes with lengths, which every function of `tb.ragged` must keep: a function without a case here fails.

Values in the padding change nothing within the lengths and have a gradient of exactly 0. A length of 0 gives what is
documented. Each example has the same result alone, without padding. Packed and unpacked examples have equal results.
Graphs, batches and templates agree with eager calls.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from inspect import isfunction
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend import ragged as tr
from tensorbackend.dtypes import float32
from tensorbackend.testing import profile
from tensorbackend.testing.strategies import elements

BACKENDS = ["binary", *os.environ.get("TENSORBACKEND_BACKENDS", "numpy,jax").split(",")]
GARBAGE = (math.nan, 1e30)
Alone = Callable[[tb.Tensor], Any]


class Case(NamedTuple):
    """A call of a function, and the expected result for one example alone."""

    call: Callable[[tr.Ragged], Any]
    """Takes [batch][time][feature] with lengths of the time, and gives results whose first axis is the batch."""
    alone: Alone
    """The expected result for one example [time][feature] without padding."""
    empty: Any = None
    """The value of each number of the result for a length of 0, if `alone` does not define it."""
    exact: bool = True
    """Whether an example alone gives exactly the same bits."""
    nested: bool = True
    """Whether the call also takes [batch][word][time], with two axes that have lengths."""
    by_position: bool = False
    """Whether the call works on each position separately, so that it takes packed examples."""
    smooth: bool = True
    """Whether the result has a gradient."""


def reduced(function: Callable[..., Any], plain: Callable[..., Any], empty: float, **options: Any) -> Case:
    return Case(
        lambda x: function(x, axis="time", **options),
        lambda x: plain(x, axis="time", **options),
        empty=empty,
        exact=function in (tr.max, tr.min, tr.any, tr.all, tr.argmax, tr.argmin),
        smooth=function not in (tr.any, tr.all, tr.argmax, tr.argmin),
    )


def along(function: Callable[..., Any], plain: Callable[..., Any], exact: bool = True, **options: Any) -> Case:
    return Case(
        lambda x: function(x, axis="time", **options),
        lambda x: plain(x, axis="time", **options),
        exact=exact,
        smooth=function is not tr.argsort,
    )


def identity(call: Callable[[tr.Ragged], Any], **options: Any) -> Case:
    return Case(call, lambda x: x, **options)


def unless_empty(function: Callable[..., tb.Tensor]) -> Callable[..., tb.Tensor]:
    return lambda x, axis: function(x, axis=axis) if x.size else x


def taken(x: tb.Tensor, positions: Sequence[int]) -> tb.Tensor:
    return tb.take(x, tb.asarray(positions, dtype="int64"), axis="time")


def run(start: int, length: int) -> Alone:
    """The expected result of `slice_along_axis` for one example."""

    def cut(x: tb.Tensor) -> tb.Tensor:
        size = x.shape[0]
        first = min(max(start + size if start < 0 else start, 0), size)
        return taken(x, range(first, min(first + length, size)))

    return cut


def shifted(amount: int) -> Alone:
    def moved(x: tb.Tensor) -> tb.Tensor:
        size = x.shape[0]
        wide = tb.pad(x, {"time": (max(amount, 0), max(-amount, 0))}, value=7)
        return taken(wide, [position + max(-amount, 0) for position in range(size)])

    return moved


def framed(size: int, stride: int, same: bool) -> Alone:
    """The expected result of `windows` for one example."""

    def frames(x: tb.Tensor) -> tb.Tensor:
        length = x.shape[0]
        count = -(-length // stride) if same else max((length - size) // stride + 1, 0)
        low = max((count - 1) * stride + size - length, 0) // 2 if same else 0
        wide = tb.pad(x, {"time": (low, (count + 1) * stride + size)})
        places = [[start * stride + offset for offset in range(size)] for start in range(count)]
        indices = tb.reshape(tb.asarray(places, dtype="int64"), (count, size), names=("time", "window"))
        return tb.take(wide, indices, axis="time")

    return frames


def convolved(x: Any, alone: bool, **options: Any) -> Any:
    """Convolve over time: [batch][time][feature] or, alone, [time][feature]."""
    kernel = tb.asarray([[[1.0, -2.0, 0.5]] * x.shape[-1]], dtype="f32", like=getattr(x, "values", x))
    if alone:
        wide = tb.expand_dims(tb.permute_dims(x, (1, 0)), 0)
        return tb.permute_dims(tb.conv(wide, kernel, **options)[0], (1, 0))
    turned = tr.apply(lambda values: tb.permute_dims(values, (0, 2, 1)), x)
    return tr.apply(lambda values: tb.permute_dims(values, (0, 2, 1)), tr.conv(turned, kernel, **options))


def chosen(x: tb.Tensor) -> tb.Tensor:
    """Return the entries whose first feature is positive."""
    return taken(x, [place for place, value in enumerate(first_feature(x).tolist()) if value > 0])


def first_feature(x: tb.Tensor) -> tb.Tensor:
    return x[:, 0] if x.ndim > 1 else x


def doubled(x: tb.Tensor) -> tb.Tensor:
    """Return the expected result of `put_selected`, where the chosen entries are doubled."""
    mask = first_feature(x) > 0
    return tb.where(mask if x.ndim == 1 else mask[:, None], x * 2, x)


def first_positive(x: tr.Ragged) -> tr.Ragged:
    """Return a mask over batch and time: where the first feature is positive."""
    if x.names[-1] != "feature":
        return x > 0
    return tr.apply(lambda values: values[..., 0], x) > 0


def doubled_where_chosen(x: tr.Ragged) -> Any:
    mask = first_positive(x)
    return tr.put_selected(x, mask, tr.select(x, mask, axis="time", name="kept") * 2, axis="time", name="kept")


def with_their_mask(x: tr.Ragged) -> tr.Ragged:
    mask = tr.sequence_mask(x.lengths["time"], x.size_of("time"))
    return tr.with_lengths(mask, **x.lengths)


def merged(x: tr.Ragged) -> Any:
    if "word" in x.names:
        flat = tr.merge_axes(x, ["word", "time"], name="text")
        return tr.unmerge_axis(flat, "text", axes=["word", "time"], like=x)
    flat = tr.merge_axes(x, ["time", "feature"], name="text")
    return tr.unmerge_axis(flat, "text", axes=["time", "feature"], like=x)


def top(x: Any, function: Callable[..., Any]) -> Any:
    count = min(2, x.shape[x.names.index("time")])
    return tuple(function(x, count, axis="time"))


def joined(x: tr.Ragged) -> Any:
    return tr.concat([x, x * 2, tr.resize(x, x.size_of("time") + 1, axis="time", fill=math.nan)], axis="time")


def divided(x: tr.Ragged) -> Any:
    return tr.split(x, [min(1, x.size_of("time"))], axis="time")


def in_order_of(x: tr.Ragged) -> Callable[[tb.Tensor], tb.Tensor]:
    return lambda values: values.align_to(*map(str, x.names))


def scanned(x: tr.Ragged) -> Any:
    """Return total sums and running sums."""
    start = tb.zeros(tuple(size for size, name in zip(x.shape, x.names, strict=True) if name != "time"),
                     names=[name for name in x.names if name != "time"], like=x.values)  # fmt: skip
    total, running = tr.scan(lambda carry, entry: (carry + entry, carry + entry), start, x, axis="time")
    return total, tr.apply(in_order_of(x), running)


def replayed(x: tr.Ragged) -> Any:
    """Return the entries by a loop that stops at each example's length; an empty example gives one zero."""
    values, lengths = tr.resize(x, x.size_of("time") + 1, axis="time").filled(0), x.lengths["time"]
    start = {"at": tb.zeros(lengths.shape, dtype="int64", names=lengths.names, like=lengths), "iteration": 0}

    def iteration(carry: dict[str, Any]) -> tuple[Any, tb.Tensor, tb.Tensor]:
        entry = tb.slice_along_axis(values, carry["iteration"], 1, axis="time")
        after = {"at": carry["at"] + 1, "iteration": carry["iteration"] + 1}
        return after, tb.squeeze(entry, "time"), after["at"] >= lengths

    outputs = tr.unroll(iteration, start, limit=x.size_of("time") + 1).outputs
    return tr.apply(in_order_of(x), outputs)


def rewritten(x: tr.Ragged) -> tr.Ragged:
    """Push the entries into a tensor array and stack it."""
    rows = tb.unstack(x.filled(0), axis="time") if x.size_of("time") else ()
    names = [name for name in x.names if name != "time"]
    shape = [x.size_of(str(name)) for name in names]
    array = tr.tensor_array(tb.zeros(shape, names=names, like=x.values), len(rows) + 1)
    for row in rows:
        array = array.push(row)
    return tr.with_lengths(in_order_of(x)(array.stack().values), **x.lengths)


CASES: dict[str, list[Case]] = {
    "all": [reduced(tr.all, tb.all, True)],
    "any": [reduced(tr.any, tb.any, False)],
    "apply": [
        Case(lambda x: tr.apply(tb.exp, x), tb.exp, by_position=True),
        Case(lambda x: tr.apply(tb.log, x), tb.log, by_position=True),
        Case(lambda x: tr.apply(tb.sqrt, tr.apply(tb.abs, x)), lambda x: tb.sqrt(tb.abs(x)), by_position=True),
        Case(lambda x: 1 / x + x * x - 3, lambda x: 1 / x + x * x - 3, by_position=True),
        Case(lambda x: x > 0.5, lambda x: x > 0.5, by_position=True, smooth=False),
        Case(
            lambda x: tr.apply(lambda values: tb.sum(values * 2, axis=-1), x),
            lambda x: tb.sum(x * 2, axis=-1),
            exact=False,
            nested=False,
            by_position=True,
        ),
    ],
    "argmax": [reduced(tr.argmax, tb.argmax, -1)],
    "argmin": [reduced(tr.argmin, tb.argmin, -1)],
    "argsort": [along(tr.argsort, tb.argsort), along(tr.argsort, tb.argsort, descending=True)],
    "concat": [Case(joined, lambda x: tb.concat([x, x * 2, x], axis="time"))],
    "conv": [
        Case(
            lambda x, options=options: convolved(x, False, **options),  # type: ignore[misc]
            lambda x, options=options: convolved(x, True, **options),  # type: ignore[misc]
            exact=False,
            nested=False,
        )
        for options in (
            {},
            {"padding": "same"},
            {"padding": "same", "strides": 2},
            {"padding": ((2, 1),), "strides": 2, "kernel_dilation": 2},
            {"padding": ((2, 2),), "input_dilation": 2},
        )
    ],
    "cumulative_max": [along(tr.cumulative_max, tb.cumulative_max)],
    "cumulative_min": [along(tr.cumulative_min, tb.cumulative_min, reverse=True)],
    "cumulative_prod": [along(tr.cumulative_prod, tb.cumulative_prod, exact=False)],
    "cumulative_sum": [
        along(tr.cumulative_sum, tb.cumulative_sum, exact=False),
        along(tr.cumulative_sum, tb.cumulative_sum, exact=False, reverse=True),
    ],
    "flip": [along(tr.flip, tb.flip)],
    "from_list": [identity(lambda x: tr.from_list(tr.to_list(x), size=x.size_of("time") + 1), nested=False)],
    "log_softmax": [along(tr.log_softmax, unless_empty(tb.log_softmax), exact=False)],
    "logsumexp": [reduced(tr.logsumexp, tb.logsumexp, -math.inf)],
    "max": [reduced(tr.max, tb.max, -math.inf)],
    "mean": [reduced(tr.mean, tb.mean, 0.0)],
    "merge_axes": [identity(merged)],
    "min": [reduced(tr.min, tb.min, math.inf)],
    "normalize": [
        Case(
            lambda x: tr.normalize(x, axis="time", epsilon=0.5),
            lambda x: (
                (x - tb.mean(x, axis="time", keepdims=True)) / tb.sqrt(tb.var(x, axis="time", keepdims=True) + 0.5)
            ),
            exact=False,
        )
    ],
    "pack": [
        identity(lambda x: tr.unpack(tr.pack(x, axis="time"), like=x, axis="time")),
        identity(lambda x: tr.unpack(tr.pack(x, axis="time") * 1, like=x, axis="time"), by_position=False),
    ],
    "pad": [Case(lambda x: tr.pad(x, (2, 1), axis="time", value=3), lambda x: tb.pad(x, {"time": (2, 1)}, value=3))],
    "prod": [reduced(tr.prod, tb.prod, 1.0)],
    "put_selected": [Case(doubled_where_chosen, doubled)],
    "resize": [identity(lambda x: tr.resize(x, x.size_of("time") + 2, axis="time", fill=math.nan))],
    "scan": [
        Case(
            scanned,
            lambda x: (tb.sum(x, axis="time"), tb.cumulative_sum(x, axis="time")),
            exact=False,
            nested=False,
        )
    ],
    "select": [Case(lambda x: tr.select(x, first_positive(x), axis="time"), chosen)],
    "sequence_mask": [Case(with_their_mask, lambda x: tb.ones(x.shape[:1], dtype="bool"), smooth=False, nested=False)],
    "shift": [
        Case(lambda x, by=by: tr.shift(x, by, axis="time", fill=7), shifted(by))  # type: ignore[misc]
        for by in (1, -2)
    ],
    "slice_along_axis": [
        Case(lambda x, cut=cut: tr.slice_along_axis(x, *cut, axis="time"), run(*cut))  # type: ignore[misc]
        for cut in ((1, 2), (-2, 3), (0, 9))
    ],
    "softmax": [along(tr.softmax, unless_empty(tb.softmax), exact=False)],
    "sort": [along(tr.sort, tb.sort), along(tr.sort, tb.sort, descending=True)],
    "split": [Case(divided, lambda x: (run(0, 1)(x), run(1, 99)(x)))],
    "std": [reduced(tr.std, tb.std, 0.0)],
    "sum": [reduced(tr.sum, tb.sum, 0.0)],
    "take": [identity(lambda x: tr.take(x, list(range(x.shape[0])), axis="batch"))],
    "tensor_array": [identity(rewritten)],
    "to_list": [identity(lambda x: tr.from_list(tr.to_list(x)), nested=False)],
    "top_k": [Case(lambda x: top(x, tr.top_k), lambda x: top(x, tb.top_k))],
    "unmerge_axis": [identity(lambda x: merged(x * 1))],
    "unroll": [Case(replayed, lambda x: x if x.shape[0] else tb.zeros((1, *x.shape[1:])), nested=False, smooth=False)],
    "unpack": [identity(lambda x: tr.unpack(tr.pack(x, axis="time", size=99), like=x, axis="time"))],
    "var": [reduced(tr.var, tb.var, 0.0), reduced(tr.var, tb.var, 0.0, correction=1)],
    "windows": [
        Case(
            lambda x, size=size, stride=stride, same=same: tr.windows(  # type: ignore[misc]
                x, size, axis="time", stride=stride, padding="same" if same else "valid"
            ),
            framed(size, stride, same),
            nested=False,
        )
        for size, stride, same in ((2, 1, False), (3, 2, False), (3, 1, True), (3, 2, True))
    ],
    "with_lengths": [identity(lambda x: tr.with_lengths(x.values, **x.lengths))],
}

EAGER = {"from_list", "to_list"}
"""Functions that read the values of lengths, which a trace does not have."""


def test_every_function_has_a_case() -> None:
    public = {name for name in dir(tr) if isfunction(getattr(tr, name)) and not name.startswith("_")}
    assert public == set(CASES)


NAMED = {f"{name}{place or ''}": (name, case) for name, cases in CASES.items() for place, case in enumerate(cases)}
TRACED = {key: pair for key, pair in NAMED.items() if pair[0] not in EAGER}
SMOOTH = {key: pair for key, pair in TRACED.items() if pair[1].smooth}


def each_of(cases: dict[str, tuple[str, Case]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("name", "case"), cases.values(), ids=cases)


# Samples


class Sample(NamedTuple):
    """Lengths, and numbers for all positions, padding included."""

    shape: tuple[int, ...]
    names: tuple[str, ...]
    lengths: dict[str, Any]
    numbers: list[float]

    def ragged(self, backend: str, padding: float = 0.5) -> tr.Ragged:
        """Return the tensor with lengths; each position of the padding holds the number `padding`."""
        values = tb.reshape(tb.asarray(self.numbers, dtype=float32, backend=backend), self.shape, names=self.names)
        x = tr.with_lengths(values, **self.lengths)
        return tr.Ragged(x.filled(padding), x.lengths)


def finite() -> st.SearchStrategy[float]:
    return st.integers(-6, 6).map(lambda number: number / 2)


@st.composite
def samples(draw: st.DrawFn, nested: bool = False, smooth: bool = False) -> Sample:
    batch, size = draw(st.integers(1, 3)), draw(st.sampled_from([0, 1, 3, 5, 5]))
    number = finite() if smooth else elements(float32, tame=True)
    if nested:
        words = draw(st.integers(0, 3))
        shape, names = (batch, words, size), ("batch", "word", "time")
        lengths = {
            "word": draw(st.lists(st.integers(0, words), min_size=batch, max_size=batch)),
            "time": tb.reshape(
                tb.asarray(
                    draw(st.lists(st.integers(0, size), min_size=batch * words, max_size=batch * words)), dtype="int64"
                ),
                (batch, words),
            ).tolist(),
        }
    else:
        shape, names = (batch, size, draw(st.integers(1, 2))), ("batch", "time", "feature")
        lengths = {"time": draw(st.lists(st.integers(0, size), min_size=batch, max_size=batch))}
    count = math.prod(shape)
    return Sample(shape, names, lengths, draw(st.lists(number, min_size=count, max_size=count)))


FIXED = Sample(
    (3, 4, 2), ("batch", "time", "feature"), {"time": [4, 0, 2]}, [((7 * n) % 11 - 5) / 2 for n in range(24)]
)
FIXED_NESTED = Sample(
    (2, 2, 3), ("batch", "word", "time"), {"word": [2, 1], "time": [[3, 0], [2, 1]]}, [(n % 5) - 2.0 for n in range(12)]
)


# Comparison


def examples(result: Any) -> list[Any]:
    """Return the examples of a result: nested lists of tensors without padding."""
    if isinstance(result, tuple):
        return [examples(part) for part in result]
    nested = tr.to_list(result) if isinstance(result, tr.Ragged) else list(tb.unstack(result, axis="batch"))
    assert isinstance(nested, list)
    return nested


def numbers(nested: Any) -> list[list[Any]]:
    """Return the numbers of each example as a flat list."""
    return [list(flat(example)) for example in nested]


def flat(nested: Any) -> Iterator[Any]:
    """Yield the numbers of the tensors in nested lists."""
    if isinstance(nested, list | tuple):
        for part in nested:
            yield from flat(part)
    elif isinstance(nested, tb.Tensor):
        yield from flat(nested.tolist())
    else:
        yield nested


def close(actual: Any, reference: Any, exact: bool) -> bool:
    """Return whether two nested lists are equal, with NaN equal to NaN, or close unless `exact`."""
    if isinstance(actual, list) or isinstance(reference, list):
        if not (isinstance(actual, list) and isinstance(reference, list)) or len(actual) != len(reference):
            return False
        return all(close(*pair, exact) for pair in zip(actual, reference, strict=True))
    if actual != actual or reference != reference:
        return bool(actual != actual and reference != reference)
    return bool(actual == reference) or (not exact and math.isclose(actual, reference, rel_tol=1e-4, abs_tol=1e-4))


def leaves(result: Any) -> list[tr.Ragged]:
    several = result if isinstance(result, tuple) else (result,)
    return [part if isinstance(part, tr.Ragged) else tr.Ragged(part, {}) for part in several]


def scalar(result: Any) -> tb.Tensor:
    """Return a weighted sum of the finite elements within the lengths; each element has its own weight."""
    total: Any = 0.0
    for leaf in leaves(result):
        if leaf.dtype.is_floating:
            kept = leaf.filled(0)
            weights = tb.reshape(tb.iota(kept.size, dtype="f32", like=kept) * 0.25 + 1, kept.shape)
            total = total + tb.sum(tb.where(tb.isfinite(kept), kept, 0) * weights)
    assert isinstance(total, tb.Tensor)
    return total


def check_padding(call: Callable[[tr.Ragged], Any], sample: Sample, backend: str) -> None:
    """Check that values in the padding change nothing within the lengths."""
    reference = numbers(examples(call(sample.ragged(backend))))
    for padding in GARBAGE:
        assert close(numbers(examples(call(sample.ragged(backend, padding)))), reference, True), padding


def check_gradient(call: Callable[[tr.Ragged], Any], sample: Sample, backend: str) -> None:
    """Check that the gradient is exactly 0 in the padding, and elsewhere independent of the values in the padding."""
    x = sample.ragged(backend)

    def gradient(padding: float) -> tb.Tensor:
        derivative = tb.grad(lambda values: scalar(call(tr.Ragged(values, x.lengths))))(x.filled(padding))
        assert isinstance(derivative, tb.Tensor)
        return derivative

    plain = gradient(0.5)
    for padding in GARBAGE:
        slopes = gradient(padding)
        outside = tb.where(x.mask(), 0, slopes)
        assert tb.all(outside == 0).item(), f"{padding} in the padding has the gradient {slopes!r}"
        assert close(slopes.tolist(), plain.tolist(), True), padding


def check_alone(case: Case, sample: Sample, backend: str) -> None:
    """Check that each example has the same result alone, and an empty one the documented result."""
    assert alone_agrees(case, case.call(sample.ragged(backend, math.nan)), sample, backend)


def alone_agrees(case: Case, result: Any, sample: Sample, backend: str) -> bool:
    plain = tr.to_list(sample.ragged("numpy"))

    def reference_of(example: Any, part: int | None) -> Any:
        if isinstance(example, list):
            return [reference_of(inner_example, part) for inner_example in example]
        if case.empty is not None and not example.shape[0]:
            alone: Any = tb.full(example.shape[1:], case.empty)
        else:
            alone = case.alone(example)
        return alone if part is None else alone[part]

    parts = enumerate(result) if isinstance(result, tuple) else [(None, result)]
    exact = case.exact and backend == "numpy"
    return all(
        close(numbers(examples(component)), numbers(reference_of(plain, part)), exact) for part, component in parts
    )


def check_packed(case: Case, sample: Sample, backend: str) -> None:
    """Check packed and unpacked examples, and, where the call works by position, packed ones."""
    x = sample.ragged(backend)
    reference = numbers(examples(case.call(x)))
    packed = tr.pack(x, axis="time")
    again = tr.unpack(packed, like=x, axis="time")
    assert close(numbers(examples(case.call(again))), reference, True)
    if case.by_position:
        computed = tr.unpack(case.call(packed), like=x, axis="time")
        assert close(numbers(examples(computed)), reference, case.exact)


# The laws


@each_of(NAMED)
def test_the_laws_hold(name: str, case: Case) -> None:
    @profile(3)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        sample = data.draw(samples(case.nested and data.draw(st.booleans())))
        check_padding(case.call, sample, "numpy")
        check_alone(case, sample, "numpy")
        check_packed(case, sample, "numpy")

    holds()


@each_of(SMOOTH)
def test_the_padding_has_no_gradient(name: str, case: Case) -> None:
    @profile(1)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        check_gradient(case.call, data.draw(samples(case.nested and data.draw(st.booleans()), smooth=True)), "numpy")

    holds()


@each_of(NAMED)
def test_the_reference_holds_the_laws(name: str, case: Case) -> None:
    check_alone(case, FIXED, "binary")


@pytest.mark.parametrize("backend", [backend for backend in BACKENDS if backend not in ("binary", "numpy")])
def test_compilers_hold_the_laws(backend: str) -> None:
    """Check the first case of each function, all in one program, as compiling each separately takes long."""
    first = {name: cases[0] for name, cases in CASES.items() if name not in EAGER}
    compiled = tb.jit(lambda x: {name: case.call(x) for name, case in first.items()})(FIXED.ragged(backend, math.nan))
    results = tb.backend_copy(compiled, "numpy")  # on NumPy, reading the examples compiles nothing
    for name, case in first.items():
        assert alone_agrees(case, results[name], FIXED, backend), name


@each_of(TRACED)
def test_graphs_batches_and_templates_agree(name: str, case: Case) -> None:
    for sample in (FIXED, FIXED_NESTED) if case.nested else (FIXED,):
        x = sample.ragged("numpy", math.nan)
        result = case.call(x)
        reference = numbers(examples(result))
        assert close(numbers(examples(tb.jit(case.call)(x))), reference, case.exact)
        dry = case.call(tb.backend_copy(x, "template"))
        assert [leaf.template for leaf in leaves(dry)] == [leaf.template for leaf in leaves(result)]
        if name not in ("take", "conv", "pack", "unpack"):  # these name the axis of the batch
            assert close(numbers(examples(tb.vmap(case.call, in_axes="batch")(x))), reference, case.exact)


# Mistakes that the laws catch


def forgets_the_mask(x: tr.Ragged) -> tb.Tensor:
    return tb.sum(x.values, axis="time")


def masks_after_the_op(x: tr.Ragged) -> tr.Ragged:
    """The result is right, but the gradient in the padding is 0 times infinity, which is NaN."""
    roots = tb.where(x.mask(), tb.sqrt(x.values), 0)
    return tr.Ragged(roots, x.lengths)


def multiplies_by_the_mask(x: tr.Ragged) -> tb.Tensor:
    """The result is wrong where the padding holds NaN: 0 times NaN is NaN."""
    return tb.sum(x.values * tb.astype(x.mask(), "f32"), axis="time")


def divides_by_the_size(x: tr.Ragged) -> tb.Tensor:
    return tb.sum(x.filled(0), axis="time") / x.size_of("time")


def test_wrong_implementations_are_caught() -> None:
    ones = FIXED._replace(numbers=[1.0] * 24)
    for wrong in (forgets_the_mask, multiplies_by_the_mask):
        with pytest.raises(AssertionError):
            check_padding(wrong, ones, "numpy")
    with pytest.raises(AssertionError):
        check_gradient(masks_after_the_op, ones, "numpy")
    with pytest.raises(AssertionError):
        check_alone(Case(divides_by_the_size, lambda x: tb.mean(x, axis="time"), 0.0, False), ones, "numpy")
    with pytest.raises(AssertionError):
        check_packed(
            Case(lambda x: tr.cumulative_sum(x, axis=x.ndim - 2), lambda x: x, by_position=True), ones, "numpy"
        )
