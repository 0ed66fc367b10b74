"""An operand of another dtype counts as if it were cast: in the result, its gradient and its tangents."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, Final

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.dtypes import DType, bool_
from tensorbackend.errors import TensorBackendError
from tensorbackend.testing.source import qualified

_DTYPES: Final = (bool_, tb.int8, tb.int64, tb.float32, tb.float16)

_ELSEWHERE: Final = {"scaled_gradient"}
"""Ops whose result has the dtype of one operand, whatever the other one's is."""


def operands(name: str) -> int:
    """The number of tensors that an op takes by position; 0 if it takes others too."""
    tensors = [each for each in OPS[name].parameters if each.role == "tensor" and not each.optional]
    return 0 if any(each.kind == "keyword" for each in tensors) else len(tensors)


SEVERAL: Final = sorted(name for name in OPS if operands(name) > 1 and name not in _ELSEWHERE)

COMPARED: Final[dict[str, Callable[..., Any]]] = {
    "result": lambda f, x: f(x),
    "gradient": lambda f, x: tb.grad(f)(x),
    "tangent": lambda f, x: tb.jvp(f, (x,), (tb.ones_like(x),))[1],
}


def total(result: Any) -> Any:
    """A number that depends on all elements of an op's first result."""
    first = result if isinstance(result, tb.Tensor) else result[0]
    real = tb.real(first) if first.dtype.is_complex else first
    return tb.sum(real * real)


@pytest.mark.parametrize("name", SEVERAL)
def test_an_operand_of_another_dtype_counts_as_if_it_were_cast(name: str) -> None:
    op = reduce(getattr, qualified(name).split("."), tb)
    values = numpy.random.default_rng(0).uniform(0.1, 0.9, (3, 3))
    others = numpy.array([[1, 0, 1], [0, 1, 1], [1, 1, 0]])
    wrong = []
    for dtype in _DTYPES:
        for place in range(operands(name)):
            for what, compute in COMPARED.items():
                try:
                    expected = numpy.asarray(
                        compute(of_one(op, name, place, values, others, dtype, cast=True), x64(values))
                    )
                    numpy.asarray(of_one(op, name, place, values, others, dtype, cast=False)(x64(values)))
                except (TensorBackendError, TypeError, IndexError):
                    continue  # the op takes no such operands
                found = numpy.asarray(compute(of_one(op, name, place, values, others, dtype, cast=False), x64(values)))
                if found.dtype != expected.dtype or not numpy.allclose(found, expected, 1e-9, 1e-11, equal_nan=True):
                    wrong.append(f"{what} of {name} with {dtype} at {place}: {found} for {expected}")
    assert not wrong, "\n".join(wrong)


def x64(values: Any) -> Any:
    return tb.tensor(values, dtype=tb.float64)


def of_one(
    op: Any, name: str, place: int, values: Any, others: Any, dtype: DType, *, cast: bool
) -> Callable[[Any], Any]:
    """The total of an op as a function of one float64 operand, with one of another dtype at a place."""
    other = tb.tensor(others, dtype=dtype)
    other = tb.astype(other, tb.float64) if cast else other

    def function(x: Any) -> Any:
        given = [other if each == place else x64(values) for each in range(operands(name))]
        given[0 if place else 1] = x
        return total(op(*given))

    return function
