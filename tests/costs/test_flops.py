"""What a dry run counts: the operations of each callback, the bytes of inputs and results, and turns of loops."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend as tb
import tensorbackend.testing  # declares the ops of all namespaces
from tensorbackend.costs.estimate import Estimator
from tensorbackend.costs.flops import Work, rule_of
from tensorbackend.declarations.op_specs import CALLBACKS, OPS


def work(function: Any, *templates: Any) -> Work:
    """Return the work of the last node of a function's graph."""
    graph = tb.trace(function)(*templates)
    node = graph.nodes[-1]
    return Estimator().work(node)


def test_every_callback_has_a_rule_or_parts() -> None:
    composites = {spec.callback for spec in OPS.values() if spec.kind == "composite"}
    graphs = {name for name, callback in CALLBACKS.items() if callback.family == "control"}  # their graphs have costs
    called = {"ctc_forward", "ctc_posteriors"}  # functions that are not ops call these
    missing = [name for name in CALLBACKS if rule_of(name) is None and name not in composites | graphs | called]
    assert not missing, f"declare the FLOPs of {missing} in tensorbackend/costs/flops.py"


@pytest.mark.parametrize(
    ("function", "templates", "flops", "transcendentals"),
    [
        (tb.add, ("f32[3, 4]", "f32[4]"), 12, 0),
        (tb.exp, ("f32[3, 4]",), 0, 12),
        (tb.pow, ("s64[5]", "s64[5]"), 5, 0),
        (tb.pow, ("f32[5]", "f32[5]"), 0, 5),
        (lambda x: tb.astype(x, "f64"), ("f32[5]",), 5, 0),
        (lambda x: tb.reshape(x, (4, 3)), ("f32[3, 4]",), 0, 0),
        (lambda x: tb.take(x, tb.asarray([0, 2]), axis=0), ("f32[3, 4]",), 0, 0),
        (lambda x: tb.sum(x, axis=0), ("f32[3, 4]",), 8, 0),
        (tb.sum, ("f32[0, 4]",), 0, 0),
        (tb.argmax, ("f32[12]",), 11, 0),
        (lambda x: tb.sort(x, axis=1), ("f32[3, 9]",), 27 * 4, 0),
        (lambda x: tb.cumulative_sum(x, axis=1), ("f32[3, 9]",), 24, 0),
        (tb.matmul, ("f32[3, 4]", "f32[4, 5]"), 2 * 3 * 4 * 5, 0),
        (tb.matmul, ("f32[7, 3, 4]", "f32[7, 4, 5]"), 2 * 7 * 3 * 4 * 5, 0),
        (lambda x: tb.window_sum(x, (1, 3)), ("f32[3, 9]",), 3 * 7 * 2, 0),
        (tb.linalg.cholesky, ("f32[2, 30, 30]",), 2 * 9000, 0),
        (tb.linalg.qr, ("f32[20, 10]",), (12 * 2000 - 4 * 1000) // 3, 0),
        (tb.linalg.eigh, ("f32[10, 10]",), 9000, 0),
        (tb.fft.fft, ("c64[3, 8]",), 5 * 24 * 3, 0),
        (lambda x: tb.map(x, function=lambda element: tb.exp(element) * element + element), ("f32[3, 4]",), 24, 12),
        (lambda x: tb.reduce(x, 1.0, function=lambda a, b: a * b + b), ("f32[3, 4]",), 24, 0),
        (tb.softmax, ("f32[8]",), 7 + 8 + 7 + 8, 8),
    ],
)  # fmt: skip
def test_operations(function: Any, templates: tuple[str, ...], flops: int, transcendentals: int) -> None:
    cost = work(function, *templates)
    assert (cost.flops, cost.transcendentals) == (flops, transcendentals)


@pytest.mark.parametrize("padding", ["valid", "same", ((2, 1), (0, 3))])
@pytest.mark.parametrize(("strides", "dilation", "kernel_dilation"), [(1, 1, 1), (2, 3, 1), (3, 2, 2), (1, 2, 3)])
def test_a_convolution_counts_the_products_that_there_are(
    padding: Any, strides: int, dilation: int, kernel_dilation: int
) -> None:
    options: Any = {
        "strides": strides, "padding": padding, "input_dilation": dilation, "kernel_dilation": kernel_dilation,
    }  # fmt: skip
    cost = work(lambda x, k: tb.conv(x, k, **options), "f64[2, 3, 5, 7]", "f64[4, 3, 2, 3]")
    ones = tb.ones((2, 3, 5, 7), dtype="f64", backend="numpy")
    products = tb.conv(ones, tb.ones((4, 3, 2, 3), dtype="f64", backend="numpy"), **options)
    assert cost.flops == 2 * tb.sum(products).item()


def test_bytes_are_those_of_inputs_and_results() -> None:
    assert work(tb.add, "f32[3, 4]", "f32[4]")[2:4] == (64, 48)
    assert work(lambda x, i: tb.take(x, i, axis=0), "f32[1000, 4]", "s64[2]")[2:4] == (2 * 16 + 16, 32)
    assert work(lambda x: tb.permute_dims(x, (1, 0)), "f32[3, 4]")[2:4] == (0, 0)
    # The bytes of a composite are those of its parts, which are several nodes.
    assert work(tb.softmax, "f32[8]").read > 4 * 32


def test_control_flow_counts_each_turn() -> None:
    def step(carry: tb.Tensor, x: tb.Tensor) -> tuple[tb.Tensor, tb.Tensor]:
        return tb.exp(carry) * x, carry

    loop = work(lambda x, xs: tb.scan(step, x, xs), "f32[10]", "f32[7, 10]")
    assert (loop.flops, loop.transcendentals, loop.open) == (70, 70, False)
    assert loop.workspace == 280  # the rows, until they are stacked at the end

    bounded = work(lambda x: tb.fori_loop(0, 7, lambda i, x: tb.exp(x), x), "f32[10]")
    assert (bounded.transcendentals, bounded.open) == (70, False)
    endless = work(lambda x: tb.while_loop(lambda x: tb.sum(x) > 0, lambda x: tb.exp(x), x), "f32[10]")
    assert (endless.transcendentals, endless.open) == (10, True)
    dry_run = tb.dry_run(lambda x: tb.while_loop(lambda x: tb.sum(x) > 0, lambda x: tb.exp(x), x), "f32[10]")
    assert "counted as one iteration" in repr(dry_run)

    chosen = work(lambda x: tb.cond(tb.sum(x) > 0, lambda x: tb.exp(tb.exp(x)), lambda x: x * 2.0, x), "f32[10]")
    assert (chosen.flops, chosen.transcendentals) == (0, 20)  # the counts of the costlier branch
