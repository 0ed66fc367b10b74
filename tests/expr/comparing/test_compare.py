"""`compare` names the op and the line where a wrong kernel was planted, and finds nothing on right ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend import Tensor

from .drawn_programs import draw_program
from .wrong_kernels import LINES, WRONG_OPS, line_of, operands, program, wrong_class

ENGINES: list[tuple[tuple[str, str], bool]] = [
    (("binary", "numpy"), False),
    (("numpy", "jax"), False),
    (("numpy", "numpy"), True),
    (("numpy", "jax"), True),
]


@pytest.mark.parametrize("base", ["numpy", "jax", "binary"])
@pytest.mark.parametrize("op", WRONG_OPS)
def test_a_wrong_kernel_is_named_with_its_line(base: str, op: str) -> None:
    first = "numpy" if base == "binary" else "binary"
    found = tb.compare(program, *operands(), backends=(first, wrong_class(base, op)))
    assert found.difference is not None
    assert (found.difference.op, line_of(found)) == (op, LINES[op])
    assert not found.agrees


def test_a_part_of_a_composite_is_named() -> None:
    def scores(x: Tensor) -> Tensor:
        return tb.logsumexp(x, axis=-1)

    found = tb.compare(scores, tb.asarray([[1.0, 2.0]]), backends=("numpy", wrong_class("binary", "exp"))).difference
    assert found is not None
    assert (found.op, found.part) == ("logsumexp", "exp")


def test_a_wrong_gradient_has_the_line_of_what_is_differentiated() -> None:
    def loss(x: Tensor) -> Tensor:
        y = tb.sin(x)
        return tb.sum(y)

    found = tb.compare(loss, tb.asarray([1.0, 2.0]), backends=("numpy", wrong_class("numpy", "cos")), gradient=True)
    assert found.difference is not None
    assert found.difference.op == "cos"
    assert line_of(found) == loss.__code__.co_firstlineno + 1


def test_an_engine_that_raises_is_a_difference() -> None:
    class Broken(tb.NumpyBackend):
        def tanh(self, out: Any, x: Any) -> Any:
            raise RuntimeError("no such kernel")

    found = tb.compare(program, *operands(), backends=("numpy", Broken))
    assert found.difference is not None
    assert found.difference.error == "RuntimeError: no such kernel"
    assert line_of(found) == LINES["tanh"]
    assert "Broken raises RuntimeError: no such kernel" in str(found)


@pytest.mark.parametrize("jit", [False, True])
def test_a_file_reproduces_the_difference(tmp_path: Path, jit: bool) -> None:
    wrong = wrong_class("jax", "exp")
    place = tmp_path / "exp.safetensors"
    assert not tb.compare(program, *operands(), backends=("numpy", wrong), jit=jit, save=place).agrees
    cut = tb.load_graph(place)
    assert [node.op for node in cut.nodes if node.op != "captured"] == ["exp"]
    again = tb.compare(cut, backends=("numpy", wrong), jit=jit)
    assert again.difference is not None
    assert again.difference.op == "exp"
    assert line_of(again) == LINES["exp"]
    assert tb.compare(cut, backends=("numpy", "jax"), jit=jit).agrees


def test_nothing_is_saved_where_engines_agree(tmp_path: Path) -> None:
    assert tb.compare(program, *operands(), backends=("binary", "numpy"), save=tmp_path / "x.safetensors").agrees
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("seed", range(16))
def test_equal_engines_have_no_difference(seed: int) -> None:
    """The law: whatever the program, right engines agree, eagerly and compiled, with and without gradients."""
    function, arguments = draw_program(seed)
    backends, jit = ENGINES[seed % len(ENGINES)]
    gradient = seed // len(ENGINES) % 2 == 1
    found = tb.compare(function, *arguments, backends=backends, gradient=gradient, jit=jit)
    assert found.agrees, str(found)
