"""Profiles of blocks: the calls that become spans, their lines and threads, and that nothing of a profile remains."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.costs.profile.spans import Span, all_spans
from tensorbackend.dispatch import watching
from tensorbackend.dispatch.path import FullPath
from tensorbackend.errors import ArgumentError

from ...threads import call_in_threads

pytestmark = pytest.mark.usefixtures("few_ready_calls")

LIMITS = tb.Limits(flops=1e12, bandwidth=1e12)


def names(p: tb.Profile) -> list[str]:
    return [span.name for span in p.spans]


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_each_call_of_a_block_is_a_span(backend: str) -> None:
    x = tb.ones((3, 4), backend=backend)
    for _ in range(2):  # the second time the calls are ready
        with tb.profile(limits=LIMITS) as p:
            y = x + x
            z = tb.sum(y * 2.0, axis=0)
            w = tb.concatenate([z, z])
        assert names(p) == ["add", "multiply", "sum", "concatenate"]
        assert {span.backend for span in p.spans} == {backend}
        assert [span.out for span in p.spans] == [y.template, y.template, z.template, w.template]
        assert all(0 < span.seconds < p.duration for span in p.spans)
        assert [span.work is not None for span in p.spans] == [True] * 4
        assert p.spans[2].work is not None
        assert p.spans[2].work.flops == 8


def test_what_bypasses_the_full_path_is_seen_as_well() -> None:
    x, at, indices = tb.asarray([[1.0, 2.0], [3.0, 4.0]]), tb.asarray([1, 0]), tb.asarray([[1, 0]])
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("getitem", lambda: x[0]),
        ("getitem", lambda: x[:, at]),
        ("take", lambda: tb.take(x, at, axis=0)),
        ("take_along_axis", lambda: tb.take_along_axis(x, indices, axis=0)),
        ("bincount", lambda: tb.bincount(at)),
        ("nonzero", lambda: tb.nonzero(x)),
    ]
    for name, call in calls:
        call()
        for _ in range(2):
            with tb.profile() as p:
                call()
            assert names(p) == [name]
            assert p.spans[0].work is None


def test_a_span_has_the_users_line() -> None:
    def helper(x: tb.Tensor) -> tb.Tensor:
        return tb.softmax(x, axis=0)

    with tb.profile() as p:
        helper(tb.ones(3))
    line = p.spans[-1].line
    assert line is not None
    assert (line.file, line.function) == (__file__, "helper")
    assert line.number == helper.__code__.co_firstlineno + 1


@tb.composite
def twice_shifted(x: tb.Tensor, /) -> tb.Tensor:
    """A composite that no backend overrides."""
    return (x + 1) * 2 + 1


def test_the_parts_of_a_composite_are_inside_it() -> None:
    x = tb.ones(4)
    for _ in range(4):  # op by op, then as a program
        with tb.profile(limits=LIMITS) as p:
            twice_shifted(x)
        (span,) = p.spans
        assert span.name == "twice_shifted"
        assert [part.name for part in span.inside] == ["add", "multiply", "add"]
        assert span.own == pytest.approx(span.seconds - sum(part.seconds for part in span.inside))
        assert span.work is not None
        assert span.work.flops == 12
        assert all(part.start >= span.start and part.end <= span.end for part in span.inside)


def test_a_compiled_function_is_one_span() -> None:
    @tb.jit
    def step(x: tb.Tensor) -> tb.Tensor:
        return tb.tanh(x @ x) * 2

    on_numpy, on_jax = (tb.ones((4, 4), backend=backend) for backend in ("numpy", "jax"))
    step(on_numpy), step(on_jax)
    for wait in (False, True):
        with tb.profile(limits=LIMITS, wait=wait) as p:
            step(on_numpy), step(on_jax)
        ours, xlas = p.spans
        assert ours.name == xlas.name == "jit(step)"
        assert [part.name for part in ours.inside] == ["matmul", "fused(tanh, multiply)"]
        assert xlas.inside == []
        assert ours.work is not None
        assert xlas.work is not None
        assert ours.work.flops == xlas.work.flops == 2 * 64 + 16
        assert ours.inside[1].work is not None
        assert ours.inside[1].work.read == ours.inside[1].work.written == 64


def test_fused_chains_in_a_compiled_loop_have_their_work() -> None:
    @tb.jit
    def run(xs: tb.Tensor) -> tb.Tensor:
        last: tb.Tensor = tb.scan(lambda carry, x: (tb.tanh(carry * 2 + x), carry), tb.zeros(4), xs)[0]
        return last

    xs = tb.ones((3, 4))
    run(xs)
    with tb.profile(limits=LIMITS) as p:
        run(xs)
    (whole,) = p.spans
    loop = whole.inside[0]
    assert loop.name == "scan"
    assert loop.work is not None
    assert (loop.work.flops, loop.work.transcendentals) == (3 * 8, 3 * 4)
    assert "fused(multiply, add, tanh)" in repr(p)


def test_gradients_and_tapes_compute_on_a_backend() -> None:
    def loss(x: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.exp(x))

    x = tb.ones(3)
    with tb.profile() as p:
        tb.grad(loss)(x)
    assert "exp" in names(p)
    assert {span.backend for span in p.spans} == {"numpy"}  # tracing makes no spans
    assert {span.line.function for span in p.spans if span.line and span.name == "exp"} == {"loss"}
    with tb.profile() as p, tb.tape() as tape:
        tb.exp(tape.watch(x))
    assert [(span.name, span.backend) for span in p.spans if span.name == "exp"] == [("exp", "numpy")]


def test_profiles_may_be_nested() -> None:
    x = tb.ones(2)
    assert tb.current_profile() is None
    with tb.profile() as outer:
        x + 1
        with tb.profile() as inner:
            assert tb.current_profile() is inner
            x * 2
        assert tb.current_profile() is outer
        x - 3
    assert tb.current_profile() is None
    assert names(inner) == ["multiply"]
    assert names(outer) == ["add", "multiply", "subtract"]
    assert outer.duration > inner.duration


def test_all_threads_are_seen_each_by_itself() -> None:
    x = tb.ones(2)

    all_there = threading.Barrier(3)

    def work(number: int) -> None:
        for _ in range(50):
            twice_shifted(x)
        all_there.wait(60)  # a new thread may get the number of one that has ended

    with tb.profile() as p:
        call_in_threads(work, 1, 2, 3)
    spans = [span for span in p.spans if span.name == "twice_shifted"]
    assert len(spans) == 150
    assert len({span.thread for span in spans}) == 3
    assert all({part.thread for part in span.inside} == {span.thread} for span in spans)


def ready_kernels() -> list[Any]:
    """Return the kernels that warm calls of two ops and a composite would run."""
    kernels = []
    paths = {place.spec.name: place for place in watching._places if isinstance(place, FullPath)}
    for path in map(paths.__getitem__, ("add", "sum", "twice_shifted")):
        kernels += [ready.kernel for _, _, ready in records(path.calls.entries)]
    return kernels


def records(level: dict[Any, Any]) -> list[Any]:
    """Return the records in a memo, nested or not."""
    found: list[Any] = []
    for value in level.values():
        found += records(value) if isinstance(value, dict) else [value]
    return found


def test_nothing_is_left_of_a_profile() -> None:
    x = tb.ones(2)

    def calls() -> None:
        tb.sum(x + x + 1), twice_shifted(x)

    for _ in range(3):
        calls()
    before = ready_kernels()
    assert before
    assert not any(hasattr(kernel, "__unwatched__") for kernel in before)
    p = None

    def fails() -> None:
        nonlocal p
        with tb.profile() as p:
            calls()
            assert any(hasattr(kernel, "__unwatched__") for kernel in ready_kernels())
            tb.ones((1, 7)) + tb.ones((1, 7))  # ready only now
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert p is not None
    assert [kernel for kernel in ready_kernels() if kernel in before] == before
    assert not any(hasattr(kernel, "__unwatched__") for kernel in ready_kernels())
    assert len(p.spans) == 7
    count = len(list(all_spans(p.spans)))
    calls()
    assert len(list(all_spans(p.spans))) == count


def test_what_a_user_adds() -> None:
    x = tb.ones(2)
    with tb.profile(limits=LIMITS) as p:
        x + 1
        p.add("half way")
        p.add("loaded", 5.0)
        with p.span("rest"):
            x * 2
            with p.span("inner"):
                x - 1
    spans_by_name = {span.name: span for span in p.spans}
    assert list(spans_by_name) == ["loaded", "add", "half way", "rest"]
    assert spans_by_name["half way"].is_mark
    assert spans_by_name["loaded"].seconds == 5
    assert spans_by_name["loaded"].inside == []
    assert [part.name for part in spans_by_name["rest"].inside] == ["multiply", "inner"]
    line = spans_by_name["rest"].line
    assert line is not None
    assert line.function == "test_what_a_user_adds"
    assert "half way" in repr(p)
    for wrong in (lambda: p.add("late"), lambda: p.span("late")):
        with pytest.raises(ArgumentError, match="a profile whose block runs"):
            wrong()
    with (
        tb.profile() as p,
        pytest.raises(ArgumentError, match="a finite number of seconds of at least 0, got seconds=-1"),
    ):
        p.add("wrong", -1)
    with tb.profile() as p, pytest.raises(ArgumentError, match="a finite number of seconds"):
        p.add("wrong", math.nan)


def test_rows_add_up() -> None:
    x, y = tb.ones((8, 8)), tb.ones((8, 8), backend="binary")
    with tb.profile(limits=LIMITS) as p:
        for _ in range(3):
            x @ x
            x + x
        y + y
        twice_shifted(x)
    by_op = {(row.name, row.backend): row for row in p.rows()}
    assert by_op["matmul", "numpy"].calls == 3
    assert by_op["matmul", "numpy"].flops == 3 * 2 * 8**3
    assert by_op["matmul", "numpy"].least == pytest.approx(3 * max(1024 / 1e12, 3 * 256 / 1e12))
    assert by_op["add", "numpy"].calls == 5  # two of them are parts of twice_shifted
    assert by_op["add", "binary"].calls == 1
    assert by_op["twice_shifted", "numpy"].own < by_op["twice_shifted", "numpy"].seconds
    share = by_op["matmul", "numpy"].share
    assert share is not None
    assert 0 < share < 1
    outermost = sum(span.seconds for span in p.spans)
    by_backend = {row.backend: row for row in p.rows("backend")}
    assert by_backend["numpy"].seconds + by_backend["binary"].seconds == pytest.approx(outermost)
    assert by_backend["numpy"].calls == 7
    assert sum(row.own for row in p.rows()) == pytest.approx(outermost)
    lines = [row.line.number for row in p.rows("line") if row.line and row.name == "add" and row.calls == 3]
    assert lines == [test_rows_add_up.__code__.co_firstlineno + 5]
    owns = [row.own for row in p.rows("line")]
    assert owns == sorted(owns, reverse=True)
    with pytest.raises(ArgumentError, match="by to be 'op', 'line' or 'backend', got by='node'"):
        p.rows("node")  # type: ignore[arg-type]


def test_reports_are_texts(capsys: pytest.CaptureFixture[str]) -> None:
    x = tb.ones(4)
    with tb.profile(limits={"numpy": LIMITS}) as p:
        assert "runs" in repr(p)
        assert p.spans == ()
        twice_shifted(x)
        tb.ones(2, backend="binary")
    text = p.text()
    assert text.splitlines()[0].split()[:3] == ["op", "backend", "calls"]
    assert "of limit" in text
    assert "and 2 more" in p.text(top=2)
    tree = p.tree()
    assert any("twice_shifted(x)" in branch.text for branch in tree)
    assert [[part.text.split()[2] for part in branch.branches] for branch in tree if "twice" in branch.text] == [
        ["twice_shifted"]
    ]
    assert p.tree(min_seconds=100) == []
    p.print()
    assert "twice_shifted" in capsys.readouterr().out
    assert repr(p).startswith(p._summary())


def test_a_function_is_run_several_times() -> None:
    seen: list[int] = []

    def work(x: tb.Tensor, power: int) -> tb.Tensor:
        seen.append(power)
        return x**power

    p = tb.profile_function(work, tb.ones(3), 2, warmup=2, repeat=3)
    assert seen == [2] * 5
    assert names(p) == ["work"] * 3
    assert [part.name for span in p.spans for part in span.inside] == ["pow"] * 3
    assert len(p.runs) == 3
    assert "3 runs, the quickest" in repr(p)
    with pytest.raises(ArgumentError, match="an int of at least 1 as repeat"):
        tb.profile_function(work, tb.ones(3), 2, repeat=0)
    with pytest.raises(ArgumentError, match="an int of at least 0 as warmup"):
        tb.profile_function(work, tb.ones(3), 2, warmup=-1)


def test_an_error_of_a_kernel_passes_and_is_not_a_span() -> None:
    x, at = tb.ones(3), tb.asarray([7])
    with tb.profile() as p, pytest.raises(IndexError, match="take of "):
        tb.take(x, at)
    assert all(span.name != "take" for span in p.spans)


def test_a_span_tells_marks_from_calls() -> None:
    mark = Span("now", None, None, None, 5, 5, 1, None, None, [])
    assert mark.is_mark
    assert not mark._replace(backend="numpy").is_mark  # a short call may begin and end in one tick of the clock
