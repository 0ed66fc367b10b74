"""What a backend compiles, as a graph and as text."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import ContractError


@pytest.mark.parametrize(
    ("backend", "fragment"), [("numpy", "ops=('exp', 'multiply', 'add')"), ("binary", "exp "), ("jax", "stablehlo.exp")]
)
def test_what_is_compiled_as_text(backend: str, fragment: str) -> None:
    function = tb.jit(lambda x, factor: tb.exp(x) * factor + tb.exp(x))
    lowered = function.lower(tb.ones(3, backend=backend), 2)
    assert lowered.backend.name == backend
    assert fragment in lowered.as_text()
    assert [node.op for node in lowered.graph.nodes].count("exp") == 2
    assert function.cache_info().misses == 0
    with tb.default_backend(backend):
        assert fragment in function.lower(tb.template((3,), "f32"), factor=2).as_text()


@pytest.mark.parametrize("returned", ["no", tb.trace(tb.sin)("f32[2]")])
def test_what_is_compiled_is_a_function_of_payloads(returned: Any) -> None:
    kind: Any = type("Giving", (tb.NumpyBackend,), {"name": "giving", "compile_graph": lambda self, graph, /: returned})
    with pytest.raises(ContractError, match=r"compile_graph of .* to return a function .*; return kernel_of_graph\("):
        tb.jit(tb.sin)(tb.ones(2, backend=kind))
