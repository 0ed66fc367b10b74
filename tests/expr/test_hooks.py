"""Calls of Python functions from inside transformed functions."""

import importlib
from collections.abc import Callable
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import OperandError

BACKENDS = ["numpy", "binary", "jax"]


class Log:
    """A function that records the data of its arguments."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __call__(self, *tensors: tb.Tensor) -> None:
        self.seen.append([x.tolist() for x in tensors])

    def taken(self, *results: tb.Tensor) -> list[Any]:
        """Wait for the results, then return all calls so far and forget them."""
        for result in results:
            result.block_until_ready()
        calls, self.seen = self.seen, []
        return calls


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_is_called_with_the_data_of_each_run(backend: str) -> None:
    log = Log()

    def step(x: tb.Tensor) -> tb.Tensor:
        tb.debug_callback(log, x, x * 2)
        y = tb.sum(x * x)
        tb.debug_callback(log, y)
        return y

    x = tb.asarray([1.0, 2.0], backend=backend)
    calls = [[[1.0, 2.0], [2.0, 4.0]], [5.0]]
    assert log.taken(step(x)) == calls
    compiled = tb.jit(step)
    assert log.taken(compiled(x), compiled(x)) == calls * 2
    assert log.taken(tb.grad(step)(x)) == calls
    assert log.taken(tb.jit(tb.grad(step))(x)) == calls
    assert log.taken(tb.value_and_grad(step)(x)[1]) == calls
    assert log.taken(tb.trace(step)(x)(x)) == calls
    assert log.taken(tb.jvp(step, (x,), (x,))[1]) == calls
    assert log.taken(tb.checkpoint(step)(x)) == calls


def test_a_function_is_not_called_without_data() -> None:
    log = Log()

    def step(x: tb.Tensor) -> tb.Tensor:
        tb.debug_callback(log, x)
        return tb.exp(x)

    step(tb.template((2,), "f32"))
    tb.jit(step)(tb.template((2,), "f32"))
    dry_run = tb.dry_run(step, "f32[1000]", gradient=False)
    assert not log.seen
    assert dry_run.flops == 0
    assert dry_run.peak.memory == tb.dry_run(tb.exp, "f32[1000]").peak.memory + 1  # a byte orders the calls


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_constant_is_handed_over_at_each_run(backend: str) -> None:
    log = Log()

    @tb.jit
    def step(x: tb.Tensor) -> tb.Tensor:
        tb.debug_callback(log, tb.asarray([1.0]) + 1)
        tb.debug_callback(lambda text, scale: log.seen.append((text, scale)), "text", scale=2)
        return x

    for _ in range(2):
        assert log.taken(step(tb.ones((), backend=backend))) == [[[2.0]], ("text", 2)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("operands", [0, 1], ids=["without operands", "of a constant"])
def test_a_call_that_needs_no_carried_value_is_made_in_each_iteration(backend: str, operands: int) -> None:
    log = Log()
    constant = tb.asarray(7.0, backend=backend)

    def call(x: tb.Tensor) -> tb.Tensor:
        tb.debug_callback(log, *[constant] * operands)
        return x + 1

    def iteration(i: tb.Tensor, x: tb.Tensor) -> Any:
        tb.debug_callback(log, *[tb.asarray(8.0)] * operands)
        return tb.cond(i > 1, call, lambda x: x, x)

    def loop(x: tb.Tensor) -> Any:
        return tb.fori_loop(0, 3, iteration, x)

    x = tb.asarray(0.0, backend=backend)
    calls = [[8.0][:operands]] * 3 + [[7.0][:operands]]
    assert log.taken(loop(x)) == calls
    compiled = tb.jit(loop)
    assert log.taken(compiled(x)) == calls
    assert log.taken(compiled(x)) == calls
    scanned = tb.scan(lambda c, e: (call(c), e), x, tb.ones(2, backend=backend))[0]
    assert log.taken(scanned) == [[7.0][:operands]] * 2


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_is_called_for_each_example_of_a_batch(backend: str) -> None:
    log = Log()

    def step(x: tb.Tensor, shift: tb.Tensor) -> tb.Tensor:
        tb.debug_callback(log, x, shift)
        tb.debug_callback(log, shift)
        return x + shift

    x, shift = (tb.asarray(numbers, backend=backend) for numbers in ([[1.0], [2.0]], 5.0))
    for function in (tb.vmap(step, in_axes=(0, None)), tb.jit(tb.vmap(step, in_axes=(0, None)))):
        assert log.taken(function(x, shift)) == [[[1.0], 5.0], [[2.0], 5.0], [5.0]]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_is_called_in_loops_and_branches(backend: str) -> None:
    log = Log()

    def iteration(i: tb.Tensor, total: tb.Tensor) -> Any:
        tb.debug_callback(log, i)
        return tb.cond(i > 1, branch, lambda total: total, total)

    def branch(total: tb.Tensor) -> tb.Tensor:
        tb.debug_callback(log, total)
        return total + 1

    def loop(x: tb.Tensor) -> Any:
        return tb.fori_loop(0, 4, iteration, x)

    def endless(x: tb.Tensor) -> Any:
        return tb.while_loop(lambda c: c < 3, branch, x)

    x = tb.asarray(0.0, backend=backend)
    calls = [[0], [1], [2], [0.0], [3], [1.0]]
    assert log.taken(loop(x)) == calls
    assert log.taken(tb.jit(loop)(x)) == calls
    assert log.taken(tb.jit(endless)(x)) == [[0.0], [1.0], [2.0]]
    gradient = tb.grad(loop)(x)
    assert gradient.item() == 1.0
    # Once for the result, and once more for the gradient, which computes the steps again.
    assert [call for call in log.taken(gradient) if isinstance(call[0], int)] == [[0], [1], [2], [3]] * 2


def test_a_function_may_keep_its_tensors() -> None:
    kept: list[tb.Tensor] = []

    @tb.jit
    def step(x: tb.Tensor) -> tb.Tensor:
        y = tb.tanh(x) * 0 + 1
        tb.debug_callback(kept.append, y)
        return tb.exp(y * 2 + x) * 3 - y

    step(tb.arange(1e5, dtype="f32"))
    assert tb.all(kept[0] == 1)


def test_nested_arguments_and_names() -> None:
    calls: list[Any] = []

    @tb.jit
    def step(x: tb.Tensor) -> tb.Tensor:
        tb.debug_callback(lambda state, *, text: calls.append((state, text)), {"x": [x.rename("row")]}, text="now")
        return x

    step(tb.ones(2, names=("n",)))
    ((state, text),) = calls
    assert text == "now"
    assert state["x"][0].names == ("row",)


@pytest.mark.parametrize("transform", [lambda f: f, tb.jit])
def test_what_the_function_raises(transform: Callable[[Any], Any]) -> None:
    def refuse(x: tb.Tensor) -> None:
        raise FloatingPointError(f"not finite: {x.item()}")

    def step(x: tb.Tensor) -> tb.Tensor:
        tb.debug_callback(refuse, x)
        return x

    with pytest.raises(FloatingPointError, match="not finite: inf"):
        transform(step)(tb.asarray(float("inf")))


def test_on_a_tape() -> None:
    log = Log()
    with tb.tape() as tape:
        x = tape.watch(tb.asarray(3.0))
        tb.debug_callback(log, x)
        y = x * x
    assert tb.gradient(y, x).item() == 6.0
    assert log.seen == [[3.0]]


def test_a_traced_function_without_results() -> None:
    with pytest.raises(OperandError, match=r"expected a traced function that calls debug_print\(\) or"):
        tb.jit(lambda x: tb.debug_print("{}", x))(tb.ones(2))


def test_jax_transforms_call_the_function() -> None:
    tb.get_backend("jax")
    jax: Any = importlib.import_module("jax")
    log = Log()

    def step(x: tb.Tensor) -> Any:
        tb.debug_callback(log, x)
        return tb.sum(x * x).data

    x = tb.asarray([1.0, 2.0], backend="jax")
    jax.block_until_ready(jax.jit(step)(x))
    jax.effects_barrier()
    assert jax.grad(step)(x).tolist() == [2.0, 4.0]
    jax.effects_barrier()
    assert log.seen == [[[1.0, 2.0]]] * 2


@pytest.mark.parametrize("backend", BACKENDS)
def test_printing(backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    @tb.jit
    def step(x: tb.Tensor) -> tb.Tensor:
        tb.debug_print("x = {}, sum {total:.2f} {what}", x, total=tb.sum(x), what="here")
        return x * 2

    step(tb.asarray([1.0, 2.0], backend=backend)).block_until_ready()
    text = capsys.readouterr().out
    assert text.endswith("[1.0, 2.0], sum 3.00 here\n")


def test_a_letter_that_the_console_does_not_have(capsys: pytest.CaptureFixture[str]) -> None:
    tb.debug_print("\ud800 {}", 1)
    assert capsys.readouterr().out == "\\ud800 1\n"
