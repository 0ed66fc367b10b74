"""`debug_nans` finds the op that computes the first NaN or infinity, on each backend, wherever it runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import NonFiniteError
from tensorbackend.expr.node import Line

pytestmark = pytest.mark.usefixtures("few_ready_calls")

BACKENDS = ["binary", "numpy", "jax"]
X = [[1.0, -1.0], [2.0, 3.0]]


def caught(function: Callable[[], Any], **options: bool) -> NonFiniteError:
    with tb.debug_nans(**options), pytest.raises(NonFiniteError) as error:
        function()
    return error.value


def number_of(function: Callable[..., Any], text: str) -> int:
    """The number of the line of a function that contains a text."""
    lines, first = inspect.getsourcelines(function)
    return first + next(place for place, line in enumerate(lines) if text in line)


def where(error: NonFiniteError) -> tuple[str | None, int]:
    assert isinstance(error.line, Line)
    assert error.line.file == __file__
    return error.operation and error.operation.partition(" of ")[0], error.line.number


def roots(x: tb.Tensor) -> tb.Tensor:
    y = x * 2
    with tb.name_scope("encoder"):
        y = tb.sqrt(y)  # here
    return tb.sum(y)


WAYS: dict[str, Callable[[tb.Tensor], Any]] = {
    "eager": roots,
    "jit": tb.jit(roots),
    "grad": tb.grad(roots),
    "jit of grad": tb.jit(tb.grad(roots)),
    "vmap": tb.vmap(roots),
    "jvp": lambda x: tb.jvp(roots, (x,), (x,)),
    "checkpoint": tb.grad(tb.checkpoint(roots)),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("way", WAYS)
def test_the_op_its_line_its_scope_and_its_operands_are_named(way: str, backend: str) -> None:
    x = tb.asarray(X, names=("batch", "feature"), backend=backend)
    for _ in range(2):
        error = caught(partial(WAYS[way], x))
        assert where(error) == ("sqrt", number_of(roots, "# here"))
        assert isinstance(error.line, Line)
        assert error.line.scope == "encoder"
        assert [x.dtype for x in error.inputs] == [tb.float32]  # type: ignore[attr-defined]
        assert "expected finite results, got NaN" in str(error)
        assert "from -2.0" in str(error)
    assert numpy.isnan(numpy.asarray(tb.sqrt(x))).sum() == 1  # nothing is looked at outside the block


def test_the_first_such_element_is_named_by_its_axes() -> None:
    x = tb.asarray(X, names=("batch", None))
    text = str(caught(lambda: tb.log(x)))
    assert text.startswith(
        "log of f32[batch: 2][2]: expected finite results, got NaN in 1 of 4 elements, first at batch=0, 1 from -1.0; "
    )
    assert "got an infinity from 1.0 and 0.0" in str(caught(lambda: tb.asarray(1.0) / 0.0))


def back(x: tb.Tensor) -> tb.Tensor:
    return tb.sum(tb.sqrt(x))  # backwards


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("compiled", [False, True])
def test_a_gradient_has_the_line_of_the_op_that_it_differentiates(compiled: bool, backend: str) -> None:
    gradient = tb.jit(tb.grad(back)) if compiled else tb.grad(back)
    x = tb.asarray([1.0, 0.0], backend=backend)
    error = caught(lambda: gradient(x))
    assert where(error)[1] == number_of(back, "# backwards")
    assert "an infinity" in str(error)


def test_a_gradient_of_a_tape() -> None:
    with tb.tape() as tape:
        x = tape.watch(tb.asarray([1.0, 0.0]))
        y = back(x)
    error = caught(lambda: tb.gradient(y, x))
    assert "an infinity" in str(error)


def logs(x: tb.Tensor) -> tb.Tensor:
    return tb.log(x)  # in a loop


LOOPS: dict[str, Callable[[tb.Tensor], Any]] = {
    "scan": lambda x: tb.scan(lambda carry, _: (logs(carry), carry), x, tb.ones(5, like=x)),
    "while_loop": lambda x: tb.while_loop(lambda x: x != 10, logs, x, limit=5),
    "cond": lambda x: tb.cond(x > 0, lambda x: logs(-x), logs, x),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("compiled", [False, True])
def test_an_op_in_a_loop_or_a_branch(loop: str, compiled: bool, backend: str) -> None:
    function = tb.jit(LOOPS[loop]) if compiled else LOOPS[loop]
    x = tb.asarray(2.0, backend=backend)
    assert where(caught(lambda: function(x))) == ("log", number_of(logs, "# in a loop"))
    function(x)


READS: dict[str, Callable[[tb.Tensor], tb.Tensor]] = {
    "take": lambda x: tb.take(x, tb.asarray([1, 0], like=x), axis=0),
    "slice": lambda x: x[:2],
    "number": lambda x: x[1],
    "tensor": lambda x: x[tb.asarray([0, 1], like=x)],
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("read", READS)
def test_an_error_goes_on_through_reads_that_are_ready(read: str, backend: str) -> None:
    x, yes = tb.asarray([2.0, -1.0, 3.0], backend=backend), tb.asarray(True, backend=backend)

    def branch() -> tb.Tensor:
        return tb.sum(READS[read](logs(x)))

    for _ in range(3):  # then the kernels of all ops are ready
        tb.cond(yes, branch, lambda: tb.sum(x))
        READS[read](logs(x))
    for _ in range(2):
        found = caught(lambda: tb.cond(yes, branch, lambda: tb.sum(x)))
        assert where(found) == ("log", number_of(logs, "# in a loop"))
    with tb.debug_nans():
        READS[read](tb.asarray([1.0, numpy.nan, 2.0], backend=backend))  # that was not finite before


def write(x: tb.Tensor, key: Any, value: Any) -> tb.Tensor:
    x = x + 0
    x[key] = value
    return x


WRITES: dict[str, Callable[[tb.Tensor], tb.Tensor]] = {
    "number": lambda x: write(x * 0, 1, logs(x)[1]),
    "slice": lambda x: write(x * 0, slice(1, None), logs(x)[1:]),
    "ellipsis": lambda x: write(x * 0, ..., logs(x)),
    "positions": lambda x: write(x * 0, tb.asarray([0, 1], like=x), logs(x)[:2]),
    "mask": lambda x: write(x * 0, x < 5, logs(x)),
    "another element": lambda x: write(logs(x), 0, 1.0),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("way", WRITES)
def test_an_error_goes_on_through_assignments_that_are_ready(way: str, backend: str) -> None:
    x, yes = tb.asarray([2.0, -1.0, 3.0], backend=backend), tb.asarray(True, backend=backend)
    for _ in range(3):  # then the functions that assign are known
        tb.cond(yes, lambda: WRITES[way](x), lambda: x)
        WRITES[way](x)
    for _ in range(2):
        for call in (
            lambda: tb.cond(yes, lambda: WRITES[way](x), lambda: x),
            lambda: tb.scan(lambda total, _: (total + WRITES[way](x), None), x, length=2),
        ):
            assert where(caught(call)) == ("log", number_of(logs, "# in a loop"))
    nan = tb.asarray([1.0, numpy.nan, 2.0], backend=backend)
    with tb.debug_nans():
        for _ in range(3):  # what was not finite before, or is asked for
            assert tb.isnan(write(x, ..., nan)[1])
            assert write(x, 0, float("inf"))[0] == float("inf")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_composite_is_named_with_the_op_inside_it(backend: str) -> None:
    x = tb.asarray([3e38, 3e38], backend=backend)
    for _ in range(3):  # op by op, then by the program of the composite
        error = caught(lambda: tb.weighted_mean(x, x))
        assert error.operation is not None
        assert error.operation.startswith("weighted_mean of f32[2]")
        assert where(error)[1] == number_of(test_a_composite_is_named_with_the_op_inside_it, "tb.weighted_mean")
        assert ", in " in str(error)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_not_finite_before_is_not_a_fault_of_an_op(backend: str) -> None:
    x = tb.asarray(X, backend=backend)
    with tb.debug_nans():
        masked = tb.where(x > 0, x, -float("inf"))
        assert tb.softmax(masked, axis=1).tolist()[0] == [1.0, 0.0]
        assert tb.isnan(tb.asarray(float("nan"), backend=backend) + 1)
    assert "got NaN" in str(caught(lambda: masked - masked))  # from infinities, which are not NaN
    nan = tb.asarray([1.0, float("nan")], backend=backend)
    assert "expected finite operands, got NaN in 1 of 2 elements, first at 1" in str(
        caught(lambda: nan + 1, operands=True)
    )


def test_infinities_may_be_left_out() -> None:
    with tb.debug_nans(infinities=False):
        assert tb.asarray(1.0) / 0.0 == float("inf")
    assert "got NaN" in str(caught(lambda: tb.log(tb.asarray(-1.0)), infinities=False))


def test_blocks_nest_decorate_and_leave_other_threads_alone() -> None:
    from concurrent.futures import ThreadPoolExecutor

    x = tb.asarray(-1.0)
    with tb.debug_nans():
        with tb.debug_nans(infinities=False):
            pass
        with pytest.raises(NonFiniteError):
            tb.log(x)
        with ThreadPoolExecutor(1) as pool:
            assert tb.isnan(pool.submit(tb.log, x).result())
    assert tb.isnan(tb.log(x))

    @tb.debug_nans()
    def logarithm(x: tb.Tensor) -> tb.Tensor:
        return tb.log(x)

    for _ in range(2):
        with pytest.raises(NonFiniteError):
            logarithm(x)


def test_a_profile_sees_the_ops_inside_such_a_block() -> None:
    x = tb.asarray(1.0)
    f = tb.jit(lambda x: tb.sum(tb.exp(x)))
    with tb.profile() as p, tb.debug_nans():
        tb.log(x)
        f(x)
    assert [span.name for span in p.spans] == ["log", "jit(<lambda>)"]


def test_complex_numbers_and_several_results() -> None:
    assert "got" in str(caught(lambda: tb.asarray(1j) / tb.asarray(0j)))
    wide = tb.asarray([[1.0, 2.0], [3.0, 4.0]]) * 1e38
    assert caught(lambda: tb.linalg.qr(wide * wide)).operation is not None


def halves(x: tb.Tensor) -> tb.Tensor:
    return tb.where(x > 0, 1 / tb.where(x > 0, x, 0), 0)  # the quotient of 0 is left out


FINITE: dict[str, Callable[[tb.Tensor], Any]] = {
    "a minimum": lambda x: tb.optimize.minimize(lambda y: tb.sum((y - x) ** 2), x).x,
    "a solution": lambda x: tb.solvers.solve(tb.eye(2, like=x) * 2, x, "bicgstab(2)").x,
    "a segment": lambda x: tb.segment_max(x, tb.asarray([0, 1], like=x), size=2),
    "zeta": lambda x: tb.zeta(x + 2, 1.0),
    "polygamma": lambda x: tb.polygamma(1, x + 1),
    "a compiled function": tb.jit(halves),
    "a gradient": tb.grad(lambda x: tb.sum(halves(x))),
    "an infinity that is asked for": lambda x: tb.minimum(tb.full(2, float("inf"), like=x), x),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("way", FINITE)
def test_a_finite_result_is_no_error(way: str, backend: str) -> None:
    x = tb.asarray([1.0, 0.0], backend=backend)
    with tb.debug_nans():
        for _ in range(2):
            results = FINITE[way](x)
    assert not numpy.isnan(numpy.asarray(results)).any()


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_op_in_a_function_of_the_user_is_named_by_the_call_that_runs_it(backend: str) -> None:
    x = tb.asarray([1.0, 2.0], backend=backend)
    error = caught(lambda: tb.optimize.minimize(lambda y: tb.sum(tb.log(y * 0 - 1)), x))  # objective
    assert "log of f32[2]: expected finite results, got NaN" in str(error)
