"""The precision of products: what JAX is asked for, and what keeps it, eagerly, compiled and in gradients."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.dtypes import product_precision
from tensorbackend.errors import ArgumentError
from tensorbackend.expr.graph_pickle import from_bytes, to_bytes

X = tb.asarray(np.random.default_rng(0).standard_normal((3, 3)).astype("f4"), backend="jax")

PRODUCTS: dict[str, Callable[[tb.Tensor], tb.Tensor]] = {
    "matmul": lambda x: x @ x,
    "dot": lambda x: tb.tensordot(x, x, axes=1),
    "einsum": lambda x: tb.einsum("ij,jk->ik", x, x),
    "attention": lambda x: tb.nn.attention(x[None], x[None], x[None]),
    "conv": lambda x: tb.conv(tb.reshape(x, (1, 1, 3, 3)), tb.reshape(x, (1, 1, 3, 3))),
}


def precisions(function: Callable[..., Any], *tensors: tb.Tensor) -> list[str]:
    """Return the precision of each product in the program that JAX traces."""

    def run(*arrays: Any) -> Any:
        given = [tb.Tensor(x.template, x.backend, array) for x, array in zip(tensors, arrays, strict=True)]
        return tb.tree_map(lambda x: x.data, function(*given))

    text = str(jax.make_jaxpr(run)(*(x.data for x in tensors)))
    return re.findall(r"precision=\(?(?:Precision\.)?(\w+)", text)


@pytest.mark.parametrize("name", PRODUCTS)
def test_jax_multiplies_with_the_precision_of_the_block(name: str) -> None:
    function = PRODUCTS[name]
    expected = np.asarray(function(X))
    for wanted in ("default", "highest", "high"):
        with tb.precision(wanted):
            found = precisions(function, X)
            assert product_precision() == wanted
            np.testing.assert_allclose(function(X), expected, rtol=1e-5, atol=1e-6)  # a CPU multiplies all bits
        assert found
        assert {*found} == {wanted.upper()}
    assert {*precisions(function, X)} == {"HIGHEST"}


def mixed(x: tb.Tensor) -> tb.Tensor:
    """Return three products, each with another precision."""
    first = x @ x
    with tb.precision("default"):
        second = first @ x
        with tb.precision("high"):
            third = tb.einsum("ij,jk->ik", second, x)
    return third


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (lambda f: f, {"HIGHEST": 1, "DEFAULT": 1, "HIGH": 1}),
        (tb.jit, {"HIGHEST": 1, "DEFAULT": 1, "HIGH": 1}),
        (tb.vmap, {"HIGHEST": 1, "DEFAULT": 1, "HIGH": 1}),
        # Each product has two products in its gradient, with its own precision.
        (lambda f: tb.grad(lambda x: tb.sum(f(x))), {"HIGHEST": 3, "DEFAULT": 3, "HIGH": 3}),
        (lambda f: tb.jit(tb.grad(lambda x: tb.sum(f(x)))), {"HIGHEST": 3, "DEFAULT": 3, "HIGH": 2}),
        (lambda f: tb.jit(tb.checkpoint(f)), {"HIGHEST": 1, "DEFAULT": 1, "HIGH": 1}),
        (tb.trace, {"HIGHEST": 1, "DEFAULT": 1, "HIGH": 1}),
    ],
    ids=["eager", "jit", "vmap", "grad", "jit of grad", "checkpoint", "trace"],
)
def test_each_product_keeps_its_precision(change: Any, counts: dict[str, int]) -> None:
    x = tb.stack([X, X]) if change is tb.vmap else X
    function = change(mixed)
    if change is tb.trace:
        graph = tb.trace(mixed)(X)
        function = from_bytes(to_bytes(graph))
    found = precisions(function, x)
    for _ in range(2):  # warm calls, which other precisions have preceded
        with tb.precision("high"):
            assert {*precisions(lambda x: x @ x, X)} == {"HIGH"}
        assert precisions(function, x) == found
    assert {name: found.count(name) for name in counts} == counts


def test_a_function_is_compiled_for_each_precision() -> None:
    run = tb.jit(lambda x: x @ x)
    run(X)
    with tb.precision("default"):
        run(X)
        run(X)
    run(X)
    assert run.cache_info().misses == 2
    assert tb.explain_compilations(run)[1].changes == ("the precision: 32, then 32, products 'default'",)


def test_a_derived_graph_is_kept_for_each_precision() -> None:
    for function in (tb.grad(lambda x: tb.sum(x @ x)), tb.vmap(lambda x: x[None] @ x[:, None])):
        for change in (lambda f: f, tb.jit):
            for wanted in ("highest", "default", "high", "highest"):
                with tb.precision(wanted):
                    assert {*precisions(change(function), X)} == {wanted.upper()}


def test_a_gradient_on_a_tape_has_the_precision_of_its_products() -> None:
    def run(x: tb.Tensor) -> tb.Tensor:
        with tb.tape() as tape:
            x = tape.watch(x)
            with tb.precision("default"):
                y = tb.sum(x @ x)
        return tb.gradient(y, x)

    for _ in range(2):
        assert precisions(run, X) == ["DEFAULT"] * 3


def test_equal_products_of_two_precisions_are_two() -> None:
    def run(x: tb.Tensor) -> list[tb.Tensor]:
        with tb.precision("high"):
            second = x @ x
        return [x @ x, second, x @ x]

    assert sorted(precisions(tb.jit(run), X)) == ["HIGH", "HIGHEST"]


@pytest.mark.parametrize("backend", ["numpy", "binary"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_other_backends_compute_the_same(backend: str, name: str) -> None:
    x = X.backend_copy(backend)
    expected = PRODUCTS[name](x)
    with tb.precision("default"):
        result = PRODUCTS[name](x)
        again = tb.jit(PRODUCTS[name])(x)
    assert result.template is expected.template
    assert result.tolist() == expected.tolist() == again.tolist()
    with tb.precision("default"):
        assert PRODUCTS[name](tb.template(x.shape, "f32")).template is expected.template


def test_the_settings_are_independent() -> None:
    with tb.precision("high"), tb.precision(64):
        assert (product_precision(), tb.get_precision()) == ("high", 64)
        with tb.precision("default"):
            assert (product_precision(), tb.get_precision()) == ("default", 64)
        with tb.autocast("bfloat16"):
            assert (product_precision(), tb.get_precision()) == ("high", 64)
            assert (X @ X).dtype is tb.bfloat16
            assert {*precisions(lambda x: x @ x, X)} == {"HIGH"}
            with tb.precision("highest"):
                assert (X @ X).dtype is tb.bfloat16
                assert {*precisions(lambda x: x @ x, X)} == {"HIGHEST"}
        with tb.precision(16, cast=True):
            assert (X @ X).dtype is tb.float16
            assert product_precision() == "high"
    assert (product_precision(), tb.get_precision()) == ("highest", 32)


@pytest.mark.parametrize(("bits", "cast"), [("low", False), ("high", True), (8, False), (None, False)])
def test_what_is_no_precision_is_refused(bits: Any, cast: bool) -> None:
    with pytest.raises(ArgumentError, match=r"precision: expected 16, 32 or 64 bits, or 'highest', 'high', 'default'"):
        tb.precision(bits, cast=cast)


def test_a_saved_graph_keeps_it(tmp_path: Path) -> None:
    graph = tb.trace(mixed)(X)
    tb.save_graph(tmp_path / "graph.safetensors", graph)
    assert sorted(precisions(tb.load_graph(tmp_path / "graph.safetensors"), X)) == ["DEFAULT", "HIGH", "HIGHEST"]


@pytest.mark.parametrize("change", [lambda f: f, tb.jit], ids=["eager", "jit"])
def test_loops_and_branches_keep_it(change: Any) -> None:
    def run(x: tb.Tensor) -> tb.Tensor:
        with tb.precision("high"):
            y, _ = tb.scan(lambda carry, _: (carry @ x, None), x, length=2)
        result: tb.Tensor = tb.cond(tb.sum(y) > 0, lambda y: y @ y, lambda y: y, y)
        return result

    assert sorted({*precisions(change(run), X)}) == ["HIGH", "HIGHEST"]
