"""What a backend compiles, as a graph and as text."""

from __future__ import annotations

import pytest

import tensorbackend as tb


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
