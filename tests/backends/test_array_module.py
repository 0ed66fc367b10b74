"""The code that the array libraries share depends on none of them; each library has an adapter."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorbackend
import tensorbackend as tb
from tensorbackend.backends.array_module.module import ArrayModule
from tensorbackend.protocol.planned import QuickKernel, entered_kernel

from ..peak_memory import peak_memory

BACKENDS = Path(tensorbackend.__file__).parent / "backends"
LIBRARIES = {"numpy", "jax", "cupy", "cupyx"}
ADAPTERS = {"numpy_backend", "jax_backend", "cupy_backend", "cupy_module"}


def knowledge(source: str) -> list[str]:
    """Return the parts of a module's source that depend on the array library."""
    dependencies = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom | ast.Import):
            names = [alias.name for alias in node.names]
            names += (node.module or "").split(".") if isinstance(node, ast.ImportFrom) else []
            dependencies += [name for name in names if name.split(".")[0] in LIBRARIES | ADAPTERS]
        elif isinstance(node, ast.Compare):
            dependencies += [ast.unparse(node) for part in ast.walk(node) if ast.unparse(part).endswith(".__name__")]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            dependencies += [node.value] if node.value.split(".")[0] in LIBRARIES else []
    return dependencies


@pytest.mark.parametrize(
    "path", sorted((BACKENDS / "array_module").rglob("*.py")), ids=lambda path: str(path.relative_to(BACKENDS))
)
def test_the_body_knows_no_library(path: Path) -> None:
    assert not knowledge(path.read_text())


@pytest.mark.parametrize(
    "source",
    [
        "if xp.__name__ == 'jax.numpy': pass",
        "eager = module.__name__ in names",
        "from jax import lax",
        "def late():\n    from ..jax_backend.module import unfused",
        "import numpy as np",
        "LAZY = ('jax.numpy',)",
    ],
)
def test_what_knows_one_is_caught(source: str) -> None:
    assert knowledge(source)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_each_library_has_an_adapter(backend: str) -> None:
    xp = tensorbackend.get_backend(backend).xp  # type: ignore[attr-defined] # of backends on array modules
    assert isinstance(xp, ArrayModule)
    assert xp.eager is (backend == "numpy")
    joined = xp.join(xp.asarray([-0.0, xp.inf]), xp.asarray([xp.nan, -0.0]))
    assert str(joined.tolist()) == "[(-0+nanj), (inf-0j)]"
    assert str(xp.positive_zero(xp.asarray([-0.0, -2.0])).tolist()) == "[0.0, -2.0]"


def test_the_last_op_of_a_chain_takes_the_memory_of_an_operand_that_the_chain_made() -> None:
    x, y = tb.ones(100_000, dtype="f64"), tb.full((100_000,), 3.0, dtype="f64")
    chain = tb.jit(lambda x, y: x + 2 * y)
    reference = chain(x, y)
    assert reference.nbytes <= peak_memory(lambda: chain(x, y)) < 1.2 * reference.nbytes
    assert chain(x, y).tolist() == reference.tolist() == [7.0] * 100_000
    assert (x[0].item(), y[0].item()) == (1.0, 3.0)


def test_a_view_is_made_outside_of_the_context_without_reports() -> None:
    """Entering the context takes a fifth of the time of such a call, and a view makes no reports."""
    x, backend = tb.ones((4, 6)), tb.get_backend("numpy")
    callbacks: Any = type(backend)
    out = tb.Template((6, 4), "f32")
    views = [
        entered_kernel(backend, callbacks.reshape.__plan__, out, (x.template,), {}),
        entered_kernel(backend, callbacks.transpose.__plan__, out, (x.template,), {"axes": (1, 0)}),
    ]
    for view in views:
        assert not isinstance(view, QuickKernel)
        assert np.shares_memory(view(x.data), x.data)
    assert isinstance(entered_kernel(backend, callbacks.exp.__plan__, x.template, (x.template,), {}), QuickKernel)
