"""Watching kernels: calls that are ready before, calls that become ready meanwhile, and the kernels afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import tensorbackend as tb
from tensorbackend.dispatch.watching import Subject, forget, original_kernel, unwatch, watch, watch_kernel


@contextmanager
def noting() -> Iterator[list[Subject | None]]:
    """List the subjects of the kernels that run in a block, with a watcher that does nothing else."""
    seen: list[Subject | None] = []

    def change(kernel: Any, subject: Subject | None) -> Any:
        def run(*payloads: Any) -> Any:
            seen.append(subject)
            return kernel(*payloads)

        return run

    try:
        watch(change)
        yield seen
    finally:
        unwatch(change)


def test_a_call_is_seen_whether_or_not_it_was_ready() -> None:
    x = tb.ones((2, 3))
    tb.sum(x, axis=1)
    for _ in range(2):
        with noting() as seen:
            tb.sum(x, axis=1)
            tb.max(x, axis=0)
            x + 1
            x + 1
        assert [subject and subject.name for subject in seen] == ["sum", "max", "add", "add"]
        tb.sum(x, axis=1)
        assert len(seen) == 4


def test_a_subject_says_what_is_computed() -> None:
    x = tb.ones((2, 3), names=("a", "b"))
    for _ in range(2):
        with noting() as seen:
            tb.sum(x, axis="b")
            tb.concatenate([x, x], axis=0)
            x * 2
        total, joined, product = seen
        assert total is not None
        assert (total.callback, total.inputs, dict(total.options)) == (
            "sum",
            (x.template,),
            {"axes": (1,), "keepdims": False},
        )
        assert joined is not None
        assert joined.inputs == ((x.template, x.template),)
        assert product is not None
        assert [template.shape for template in product.inputs] == [(2, 3), ()]
        assert product.out is x.template


def test_without_a_watcher_a_kernel_is_itself() -> None:
    def kernel() -> int:
        return 1

    assert watch_kernel(kernel, None) is kernel
    assert original_kernel(kernel) is kernel
    with noting() as seen:
        other = watch_kernel(kernel, None)
        assert other() == 1
    assert original_kernel(other) is kernel
    assert seen == [None]


def test_what_is_forgotten_is_planned_again() -> None:
    x = tb.ones((2, 3))
    with tb.precision(64):
        y = x + 1
    tb.sum(x, axis=1), tb.nonzero(x), x[0], tb.take(x, tb.tensor([0]), axis=0)
    with noting() as seen:
        forget()
        tb.nonzero(x)  # plans the kernel that the next call runs
        assert tb.sum(x, axis=1).tolist() == [3.0, 3.0]
        assert (x + 1).tolist() == y.tolist()
        assert x[0].tolist() == [1.0] * 3
        assert len(tb.nonzero(x)[0].tolist()) == 6
    assert {subject.name for subject in seen if subject} >= {"sum", "add", "nonzero"}


def test_two_watch_at_once() -> None:
    x = tb.ones(2)
    tb.exp(x)
    with noting() as outer:
        tb.exp(x)
        with noting() as inner:
            tb.exp(x)
            tb.log(x)
        tb.exp(x)
    tb.exp(x)
    assert [subject and subject.name for subject in outer] == ["exp", "exp", "log", "exp"]
    assert [subject and subject.name for subject in inner] == ["exp", "log"]
