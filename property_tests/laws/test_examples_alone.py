"""The gradient of a batch is that of each example alone, where examples take other branches or end at other iterations.

The functions are NaN or infinite outside of their domains, as are their derivatives, so that whatever a batch computes
for an example that does not go there shows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend import ragged
from tensorbackend.testing import profile

Function = Callable[..., Any]

DOMAINS: dict[str, tuple[Function, Function]] = {
    "log": (lambda x, w: x > 0, lambda x, w: tb.log(x * w)),
    "sqrt": (lambda x, w: x > 1, lambda x, w: tb.sqrt(x - 1) * w),
    "1/x": (lambda x, w: x != 0, lambda x, w: w / x),
    "asin": (lambda x, w: tb.abs(x) < 1, lambda x, w: tb.asin(x) * w),
    "pow": (lambda x, w: x > 0, lambda x, w: x**w),
    "inside a product": (lambda x, w: x > 0, lambda x, w: tb.sum(tb.log(tb.stack([x, w])) * w)),
}
"""For each function (x, w), where it is defined for x."""

NUMBERS = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 5.0, 50.0])
EXAMPLES = st.lists(NUMBERS, min_size=1, max_size=5)


def branched(name: str, x: Any, w: Any) -> Any:
    inside, function = DOMAINS[name]
    return tb.cond(inside(x, w), function, lambda x, w: x * w, x, w)


def switched(name: str, x: Any, w: Any) -> Any:
    inside, function = DOMAINS[name]
    place = tb.where(inside(x, w), 1, tb.where(x < 0, 0, 2))
    return tb.switch(place, [lambda x, w: x - w, function, lambda x, w: x * w], x, w)


def looped(name: str, x: Any, w: Any) -> Any:
    inside, function = DOMAINS[name]

    def goes_on(carry: Any) -> Any:
        return tb.logical_and(inside(carry[0], w), carry[1] < 3)

    return tb.while_loop(goes_on, lambda carry: (function(carry[0], w), carry[1] + 1), (x, 0 * x), limit=4)[0]


def looped_in_branch(name: str, x: Any, w: Any) -> Any:
    return tb.cond(x < 5, lambda x: looped(name, x, w), lambda x: branched(name, -x, w), x)


def total(f: Function, x: Any, w: Any) -> Any:
    return tb.sum(tb.vmap(f, in_axes=(0, None))(x, w))


def check_agree(ours: Any, wanted: Any) -> None:
    assert np.allclose(np.asarray(ours), np.asarray(wanted), rtol=1e-9, atol=1e-12, equal_nan=True)


FORMS: list[Function] = [branched, switched, looped, looped_in_branch]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", DOMAINS)
@profile(2)
@given(EXAMPLES)
def test_batches_of_branches_and_loops(form: Function, name: str, numbers: list[float]) -> None:
    f = partial(form, name)
    x, w = tb.asarray(numbers, dtype="f64"), tb.asarray(1.25, dtype="f64")
    alone = [tb.grad(f, (0, 1))(x[n], w) for n in range(len(numbers))]
    wanted = [one.item() for one, _ in alone], sum(one.item() for _, one in alone)
    loss = partial(total, f)
    for gradient in (tb.grad(loss, (0, 1)), tb.jit(tb.grad(loss, (0, 1)))):
        check_agree(gradient(x, w)[0], wanted[0])
        check_agree(gradient(x, w)[1], wanted[1])
    with tb.tape() as tape:
        watched = tape.watch(x)
        y = loss(watched, w)
    check_agree(tb.gradient(y, watched), wanted[0])
    check_agree(tb.jvp(lambda x: loss(x, w), (x,), (tb.ones_like(x),))[1], sum(wanted[0]))
    # A batch of batches, and a batch of gradients of batches, in which whole rows may go the other way.
    rows = tb.stack([x, 0 * x, 0 * x - 2])
    nested = tb.grad(lambda rows: tb.sum(tb.vmap(lambda row: loss(row, w))(rows)))(rows)
    check_agree(nested[0], wanted[0])
    check_agree(tb.vmap(tb.grad(loss), in_axes=(0, None))(rows, w), nested)
    check_agree(nested[1][0], tb.grad(f)(x[0] * 0, w))
    second = tb.grad(lambda x: tb.sum(tb.grad(loss)(x, w)))(x)
    check_agree(second, [tb.grad(tb.grad(f))(x[n], w).item() for n in range(len(numbers))])


@pytest.mark.parametrize("backend", ["binary", "jax"])
@pytest.mark.parametrize("form", FORMS)
def test_batches_on_other_backends(form: Function, backend: str) -> None:
    x, w = tb.asarray([0.0, 2.0, -1.0, 0.5], dtype="f64"), tb.asarray(1.25, dtype="f64")
    wanted = tb.grad(partial(total, partial(form, "log")), (0, 1))(x, w)
    moved = [operand.backend_copy(backend) for operand in (x, w)]
    ours = tb.grad(partial(total, partial(form, "log")), (0, 1))(*moved)
    for one, other in zip(ours, wanted, strict=True):
        check_agree(one, other)
        assert np.isfinite(np.asarray(other)).all()


@pytest.mark.parametrize("name", ["log", "sqrt", "1/x", "asin"])
@profile(6)
@given(EXAMPLES)
def test_loops_along_an_axis(name: str, numbers: list[float]) -> None:
    """`axis=` of `while_loop` gives each example the gradient of a loop of its own."""
    inside, function = DOMAINS[name]

    def loop(x: Any, w: Any, axis: int | None) -> Any:
        def goes_on(carry: Any) -> Any:
            return tb.logical_and(inside(carry[0], w), carry[1] < 3)

        return tb.while_loop(
            goes_on, lambda carry: (function(carry[0], w), carry[1] + 1), (x, 0 * x), limit=4, axis=axis
        )[0]

    x, w = tb.asarray(numbers, dtype="f64"), tb.asarray(1.25, dtype="f64")
    alone = [tb.grad(lambda x, w: loop(x, w, None), (0, 1))(x[n], w) for n in range(len(numbers))]
    slopes = tb.grad(lambda x, w: tb.sum(loop(x, w, 0)), (0, 1))(x, w)
    check_agree(slopes[0], [one.item() for one, _ in alone])
    check_agree(slopes[1], sum(one.item() for _, one in alone))


SEQUENCES = st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), max_size=3), min_size=1, max_size=4)


@pytest.mark.parametrize("reverse", [False, True])
@profile(10)
@given(SEQUENCES, st.sampled_from([float("nan"), 0.0, float("inf"), 1e30]))
def test_ragged_scans(reverse: bool, sequences: list[list[float]], padding: float) -> None:
    def step(state: Any, entry: Any) -> Any:
        return tb.log(state) + entry, state * entry

    def loss(values: Any, start: Any, w: Any, lengths: Any) -> Any:
        entries = ragged.with_lengths(values, time=lengths)
        last, ys = ragged.scan(lambda s, e: step(s * w, e), start, entries, axis="time", reverse=reverse)
        return tb.sum(last) + ragged.sum(ys)

    def alone(values: Any, start: Any, w: Any) -> Any:
        last, ys = tb.scan(lambda s, e: step(s * w, e), start, values, reverse=reverse)
        return last + tb.sum(ys)

    lengths, size = [len(sequence) for sequence in sequences], 3
    table = np.full((len(sequences), size), padding)
    for row, sequence in zip(table, sequences, strict=True):
        row[: len(sequence)] = sequence
    values = tb.asarray(table, names=("batch", "time"))
    start = tb.asarray([1.0 if lengths[n] else 0.0 for n in range(len(sequences))], dtype="f64", names=("batch",))
    w = tb.asarray(1.5, dtype="f64")
    counts = tb.asarray(lengths, names=("batch",))
    slopes = tb.grad(loss, (0, 1, 2))(values, start, w, counts)
    wanted = [
        tb.grad(alone, (0, 1, 2))(tb.asarray(sequence, dtype="f64"), start[n].rename(), w)
        for n, sequence in enumerate(sequences)
    ]
    for n, (entries, first, _) in enumerate(wanted):
        check_agree(slopes[0][n, : lengths[n]], entries)
        assert np.all(np.asarray(slopes[0])[n, lengths[n] :] == 0)
        check_agree(slopes[1][n], first)
    if any(lengths):
        check_agree(slopes[2], sum(last.item() for *_, last in wanted))


@profile(10)
@given(st.lists(st.sampled_from([0.5, 2.0, 3.0, 8.0, 50.0]), min_size=1, max_size=4))
def test_unrolled_loops(numbers: list[float]) -> None:
    def loss(start: Any, w: Any) -> Any:
        def iteration(n: Any) -> Any:
            return tb.sqrt(n * w - 1.0), n, n < 2.5

        _, outputs = ragged.unroll(iteration, start, limit=6)
        return ragged.sum(outputs)

    w = tb.asarray(1.25, dtype="f64")
    x = tb.asarray(numbers, dtype="f64", names=("batch",))
    slopes = tb.grad(loss, (0, 1))(x, w)
    alone = [tb.grad(loss, (0, 1))(x[n : n + 1], w) for n in range(len(numbers))]
    check_agree(slopes[0], [one.item() for one, _ in alone])
    check_agree(slopes[1], sum(one.item() for _, one in alone))
