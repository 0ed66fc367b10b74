"""A wrong kernel is found inside a compiled program, and the fewest ops that show a fault are cut out."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend import Tensor

from .wrong_kernels import LINES, line_of, operands, program, wrong_class


@pytest.mark.parametrize("base", ["numpy", "jax"])
@pytest.mark.parametrize("op", ["dot", "tanh", "sum", "exp", "take"])
def test_a_wrong_kernel_is_found_in_a_compiled_program(base: str, op: str) -> None:
    found = tb.compare(program, *operands(), backends=(base, wrong_class(base, op)), jit=True)
    assert found.difference is not None
    assert (found.difference.op, line_of(found)) == (op, LINES[op])


def test_ops_that_are_wrong_only_together_are_cut_out_together() -> None:
    class Joined(tb.JaxBackend):
        """Like a compiler that joins two ops wrongly: a product is wrong if a sum takes it in the same program."""

        def sum(self, out: Any, x: Any, **options: Any) -> Any:
            total = tb.JaxBackend.sum(self, out, x, **options)
            return total if type(x.data).__name__ == "ArrayImpl" else total * numpy.float32(2)

    def run(x: Tensor) -> Tensor:
        y = tb.tanh(x)
        return tb.sqrt(tb.sum(y * x))

    found = tb.compare(run, tb.asarray([0.5, 1.5]), backends=("numpy", Joined), jit=True)
    assert found.difference is not None
    assert (found.difference.op, line_of(found)) == ("sum", run.__code__.co_firstlineno + 2)
    assert tb.compare(run, tb.asarray([0.5, 1.5]), backends=("numpy", Joined)).agrees


def test_a_program_that_does_not_compile_is_a_difference() -> None:
    class Broken(tb.JaxBackend):
        def tanh(self, out: Any, x: Any) -> Any:
            raise RuntimeError("no such kernel")

    found = tb.compare(program, *operands(), backends=("numpy", Broken), jit=True)
    assert found.difference is not None
    assert "no such kernel" in found.difference.error
    assert line_of(found) == LINES["tanh"]
