"""No node inside a function has a narrower dtype than its operands.

A number that is rounded to float32 on its way to a float64 result is wrong by 2**29 roundings, and right numbers hide
it: a constant, a count, a tolerance. So each public function is traced with double operands, its composites are divided
into primitives, and every node is asked for its dtype, those of the gradient too. The default precision is 16 bits
where no integers are among the operands: what falls back to the default dtype shows. It is 64 bits where integers are,
whose results have that dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given

import tensorbackend as tb
from tensorbackend.dtypes import DType
from tensorbackend.errors import TensorBackendError
from tensorbackend.expr.graph import Graph, subgraphs
from tensorbackend.expr.node import Node
from tensorbackend.expr.simplify import expanded
from tensorbackend.expr.trees import flatten
from tensorbackend.template import Template
from tensorbackend.testing import Invocation, calls, names, profile

from ..oracles import ORACLES

WIDE = {"float": tb.float64, "complex": tb.complex128, "int": tb.int64}
COUNTS = {"float": 2, "complex": 1, "int": 1}

DRAWN = {
    **{name: [(oracle.strategy, 4)] for name, oracle in ORACLES.items() if oracle.draws == "generator"},
    **{name: [(calls(name, WIDE[kind]), count) for kind, count in COUNTS.items()] for name in names()},
}
"""For each function, draws of calls and how many. They hold nothing but operands; those of laws close over others."""

OF_DEFAULT = {"nn.sinusoidal_positions", "random.normal", "random.truncated_normal", "random.uniform"}
"""Functions whose results have the default dtype, whatever their operands have."""

SHARDS = 12


def is_narrow(template: Template) -> bool:
    return template.dtype.is_inexact and template.dtype.bits < (128 if template.dtype.is_complex else 64)


def nodes(graph: Graph) -> Iterator[Node]:
    """The primitives of a graph, and of the graphs inside its nodes."""
    for node in expanded(graph, lambda node: False).nodes:
        yield node
        for inner in subgraphs(node):
            yield from nodes(inner)


def narrow_nodes(function: Callable[..., Any], templates: Sequence[Template]) -> list[str]:
    """What is narrower than double in a function of double operands."""
    graph = tb.trace(function)(*templates)
    return [f"{node.op} {template!r} {dict(node.options)}" for node in nodes(graph) for template in node.outs
            if is_narrow(template)]  # fmt: skip


def check(call: Invocation) -> bool:
    """Asserts it for a call with double operands, and for its gradient; whether the call is one that can be traced."""
    call = call._replace(options={name: value for name, value in call.options.items() if name != "dtype"})
    leaves = flatten((call.arguments, call.options))[0]
    if any(isinstance(leaf, DType) for leaf in leaves) or not call.tensors:
        return False
    templates = [x.template.replace(dtype=WIDE.get(x.dtype.kind, x.dtype)) for x in call.tensors]
    floats = [place for place, template in enumerate(templates) if template.dtype.is_inexact]
    integers = not floats or any(template.dtype.is_integer for template in templates)

    def results(*operands: tb.Tensor) -> Any:
        return call.with_tensors(operands).run()

    seen, others = False, False

    def total(*operands: tb.Tensor) -> tb.Tensor:
        """The sum of the real parts of all inexact results; notes whether there are others."""
        nonlocal others
        leaves = flatten(results(*operands))[0]
        inexact = [x for x in leaves if isinstance(x, tb.Tensor) and x.dtype.is_inexact]
        others = len(inexact) < len(leaves)
        sums = [tb.sum(tb.real(x)) for x in inexact]
        return sum(sums[1:], start=sums[0])

    with tb.precision(64 if integers else 16):
        # The first has the nodes of all inexact results too. The second is for others, and for what has no gradient.
        for function in (tb.value_and_grad(total, floats), results):
            try:
                found = narrow_nodes(function, templates)
            except (TensorBackendError, IndexError):  # a mistake, or what reads data
                continue
            assert not found, f"{call!r}: {found}"
            seen = True
            if not others:
                break
    return seen


@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_node_is_narrower_than_the_operands(shard: int) -> None:
    functions, traced = sorted(DRAWN.keys() - OF_DEFAULT)[shard::SHARDS], set[str]()
    for name in functions:
        for strategy, count in DRAWN[name]:

            @profile(count)
            @given(strategy)
            def holds(call: Invocation) -> None:
                if check(call):
                    traced.add(call.name)

            holds()
    assert len(traced) > 0.8 * len(functions)


KEY = tb.random.key(0)
ROW: Any = [0.1, 0.7]
"""A list where types ask for an array."""


def _steps(optimiser: tb.optimize.GradientTransformation) -> Callable[[tb.Tensor], Any]:
    def steps(x: tb.Tensor) -> Any:
        updates, state = optimiser.update(x * x, optimiser.init(x), x)
        updates, _ = optimiser.update(updates, state, x)
        return tb.optimize.apply_updates(x, updates)

    return steps


NEXT_TO_NUMBERS: dict[str, Callable[[tb.Tensor], Any]] = {
    "minimize": lambda x: (
        tb.optimize.minimize(lambda p: tb.sum((p - 0.1) ** 2), x, bounds=(0.1, ROW), tolerance=1e-9).x
    ),
    "minimize a tree": lambda x: tb.optimize.minimize(
        lambda p: tb.sum((p["a"] - p["b"]) ** 2), {"a": x, "b": 0.3}, bounds=({"a": 0.1, "b": 0.2}, 0.7)
    ).x["a"],
    "minimize for each example": lambda x: tb.optimize.minimize(lambda p: (p - 0.1) ** 2, x, tolerance=ROW).x,
    "least_squares": lambda x: tb.optimize.least_squares(lambda p: (p - 0.1) * x, x).x,
    "root": lambda x: tb.optimize.root(lambda p: p * p - 0.1 * x, x).x,
    "root of a tree": lambda x: tb.optimize.root(lambda p: [p[0] - 0.1 * x, p[1] - 0.7], [x, 0.1]).x[0],
    "fixed_point": lambda x: tb.optimize.fixed_point(lambda p: 0.1 * p + x, x).x,
    "bisect": lambda x: tb.optimize.bisect(lambda p: p - x, 0.1, x + 0.7).x,
    "solve": lambda x: (
        tb.solvers.solve(
            [[2.1, 0.1], [0.1, 3.3]], x, "cg", rtol=1e-9, atol=0.1, x0=ROW, null_space=tb.asarray([ROW], "f64", like=x)
        ).x
    ),
    "solve for b in a list": lambda x: tb.solvers.solve(tb.matmul(x[:, None], x[None]), ROW, "bicgstab").x,
    "eigsh": lambda x: tb.solvers.eigsh(tb.matmul(x[:, None], x[None]), 1, x0=ROW).eigenvalues,
    "solve_ivp": lambda x: tb.solvers.solve_ivp(lambda t, y: -0.1 * y, (0.1, 0.7), x, times=ROW).y,
    "solve_ivp, both directions": lambda x: tb.solvers.solve_ivp(lambda t, y: -0.1 * y, ROW, x, gradient="direct").y,
    "betainc": lambda x: tb.betainc(0.3, x, 0.1),
    "sample_gradient": lambda x: tb.sample_gradient(x, ROW),
    "sample_gradient at even places": lambda x: tb.sample_gradient(tb.concat([x, x]), dx=0.1, edge_order=2),
    "weighted_mean": lambda x: tb.weighted_mean(x, 0.3),
    "covariance": lambda x: tb.covariance(x[None], mean=ROW),
    "layer_norm": lambda x: tb.nn.layer_norm(x, ROW, ROW),
    "huber": lambda x: tb.nn.huber(ROW, x),
    "pinv": lambda x: tb.linalg.pinv(tb.matmul(x[:, None], x[None]), rtol=0.1),
    "norm": lambda x: tb.linalg.norm(x, ord=2.5),
    "sqrtm": lambda x: tb.linalg.sqrtm(tb.matmul(x[:, None], x[None])),
    "expm": lambda x: tb.linalg.expm(tb.matmul(x[:, None], x[None])),
    "interp": lambda x: tb.interp(0.1, x, x, left=0.3),
    "indexed_add": lambda x: tb.indexed_add(x, tb.asarray([[0]]), 0.1),
    "normal": lambda x: tb.random.normal(KEY, (2,), "f64", mean=x, deviation=ROW),
    "uniform": lambda x: tb.random.uniform(KEY, (2,), "f64", minval=0.1, maxval=x),
    "binomial": lambda x: tb.random.binomial(KEY, 10, x),
    "adam": _steps(tb.optimize.adam(0.1)),
    "adamw with a schedule": _steps(tb.optimize.adamw(tb.optimize.warmup(tb.optimize.cosine_decay(0.1, 10), 3))),
    "rmsprop": _steps(tb.optimize.rmsprop(tb.optimize.exponential_decay(0.1, steps=10, factor=0.7))),
    "adafactor": _steps(tb.optimize.adafactor(0.1)),
    "lion": _steps(tb.optimize.lion(0.1)),
    "clipped sgd": _steps(tb.optimize.chain(tb.optimize.clip_by_global_norm(0.1), tb.optimize.sgd(0.1, momentum=0.7))),
}
"""Functions of two doubles, next to numbers, lists of them, and functions."""


@pytest.mark.parametrize("name", NEXT_TO_NUMBERS)
def test_numbers_next_to_doubles_are_doubles(name: str) -> None:
    function = NEXT_TO_NUMBERS[name]
    double = tb.template((2,), "float64").template
    assert not narrow_nodes(lambda x: flatten(function(x))[0], [double])
