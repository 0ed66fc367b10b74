"""Laws of axes with lengths, which every function of `tb.ragged` must keep: a function without a case here fails.

Values in the padding change nothing within the lengths and have a gradient of exactly 0. A length of 0 gives what is
documented. Each example has the same result alone, without padding. Packed and unpacked examples have equal results.
Graphs, batches and templates agree with eager calls.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
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

from .ragged_cases import CASES, EAGER, Case

BACKENDS = ["binary", *os.environ.get("TENSORBACKEND_BACKENDS", "numpy,jax").split(",")]
GARBAGE = (math.nan, 1e30)


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
