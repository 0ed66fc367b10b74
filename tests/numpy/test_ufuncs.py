"""Universal functions of the NumPy namespace with dtypes and options at the edge of what they take."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy
import pytest

import tensorbackend.numpy as np

from .beside import assert_as_numpy

CALLS = """
np.array([2**60, -1]) < np.array([2**60 + 1, 0], dtype=np.uint64)
np.array([2**60 + 1, 0], dtype=np.uint64) > np.array([2**60, -1])
np.equal(np.array([-1, 2**62 + 1]), np.array([2**64 - 1, 2**62], dtype=np.uint64))
np.not_equal(np.array([2**62]), np.array([2**62 + 1], dtype=np.uint64))
np.arange(3, dtype=np.uint8) > -1
-1 < np.arange(3, dtype=np.uint8)
np.arange(3, dtype=np.int8) == 1000
np.less_equal(np.arange(3, dtype=np.int16), 2**40)
np.arange(3, dtype=np.uint8) + 300
k ** -1
m ** -1
np.power(m, -1)
m ** np.array(-1)
[m ** 2, m ** 1, m ** 3, m ** True, m ** m, m ** 2.0, m ** np.int64(2), m ** np.array(2), m[0] ** 2, m.T ** 2]
[np.power(m, 2), np.array(True) ** 2, 2 ** m, m[0, 0] ** 2]
m **= 2
k ** np.int64(-1)
np.int64(2) ** np.arange(-1, 2)
k ** np.int64(2)
2.5 ** np.arange(-1, 2)
np.copysign.reduce(x, axis=(0, 1))
np.hypot.reduce(x, axis=(0, 1))
np.vecdot(t, t, axis=np.int8(0))
k ** np.array(-1)
np.power(k, np.array([1, -1, 2]))
2.0 ** -np.arange(3)
k ** 3
np.sign(np.array([np.inf + 0j, -np.inf + 1j, complex(0, np.inf), complex(np.nan, 0), 3 + 4j]))
np.add(k, k, out=np.full(3, 1.5), where=[1, 0, 1])
np.add(k, k, where=np.array([True, False, True]), out=np.full(3, 7))
np.vecdot(t, t, axis=0)
np.vecdot(t, t, axis=1, keepdims=True)
np.matvec(t, np.ones(4), axes=[(0, 2), (0,), (1,)])
np.matmul(t, t, axes=[(0, 2), (2, 0), (0, 1)])
np.add(x, x, axis=0)
np.add(k, 1.5, signature="dd->d")
np.add.reduceat(x, [])
np.subtract.reduce(x, axis=(0, 1))
np.divide.reduce(x[:, :0], axis=1).shape
np.power.at(k, [0, 0], 1.5)
np.matmul.at(s, [0], s)
np.bitwise_count(np.array([-3, 5, -2**31], dtype=np.int32))
np.bitwise_count(np.array([-128, -1, 127], dtype=np.int8))
np.logical_xor(np.array([1, 0], dtype=np.uint64), np.array([2, 3], dtype=np.int32))
np.logical_and(k[:2], np.array([1, 0], dtype=np.uint64))
np.lcm(2, np.array([3, 2**63 + 2], dtype=np.uint64))
np.gcd(np.array([4, -6], dtype=np.int8), 6)
np.remainder(np.array([1.0, 2.5]), 1.5, dtype=np.int32, casting="unsafe")
np.subtract(2.5, k, dtype=np.int32, casting="unsafe")
np.add(x, 2.5j, dtype=np.float32, casting="unsafe")
np.fmax(np.array([1 + 1j, np.nan, 2, 2]), np.array([2, 1j, np.nan, 2 + 1j]))
np.fmin(complex(np.nan, 1), np.array([2, 1j, np.nan, 2 + 1j]))
np.zeros(3, dtype=np.float16) + 1e9
-100000 - np.zeros(3, dtype=np.float16)
x = x.astype(np.float16); x[1:] -= 1e9
x = x.astype(np.float16); x *= -(10**9)
np.minimum(x.astype(np.float16), 1e9)
np.clip(x.astype(np.float16), -1e9, 100000)
np.arctan2(x.astype(np.float16), 10**9)
np.heaviside(x.astype(np.float16), 1e9)
np.max(x.astype(np.float16), initial=1e9)
x.astype(np.complex64) + 1e300
k.astype(np.uint8) + 300
"""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_a_universal_function_does_what_numpy_does(call: str) -> None:
    assert_as_numpy(call)


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i4", "u8", "f2", "f4"])
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "subtract"])
def test_running_and_partial_reductions_have_the_dtypes_of_numpy(name: str, dtype: str) -> None:
    if (name, dtype) == ("subtract", "?"):
        return
    outcomes: list[Any] = []
    for namespace in (np, numpy):
        function, x = getattr(namespace, name), namespace.array([1, 100, 100, 1], dtype=dtype)
        for made in (function.accumulate(x), function.reduceat(x, [1, 0])):
            outcomes.append((made.dtype, made.tolist()))
    assert outcomes[:2] == outcomes[2:]


class Measured:
    """A number of another library, which knows nothing of arrays."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Measured({self.value})"

    def __add__(self, other: Any) -> Any:
        return Measured(self.value + other) if isinstance(other, int | float) else NotImplemented

    __radd__ = __add__

    def __eq__(self, other: object) -> Any:
        other = other.value if isinstance(other, Measured) else other
        return self.value == other if isinstance(other, int | float) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)


@pytest.mark.parametrize("number", [Fraction(1, 2), Decimal(2), Measured(2.0), timedelta(days=1)], ids=repr)
@pytest.mark.parametrize(
    "operate", [operator.add, operator.mul, operator.truediv, operator.pow, operator.eq, operator.lt]
)
def test_a_number_of_another_library_makes_an_array_of_objects(number: Any, operate: Callable[..., Any]) -> None:
    def outcome(module: Any, values: list[Any], reflected: bool) -> Any:
        x = module.array(values)
        try:
            made = operate(number, x) if reflected else operate(x, number)
        except TypeError as error:
            return str(error)
        return str(getattr(made, "dtype", None)), numpy.shape(made), str(list(made))

    for values in ([1, 2], [1.5, 2.0]):
        for reflected in (False, True):
            theirs = outcome(numpy, values, reflected)
            assert _unnamed(outcome(np, values, reflected)) == _unnamed(theirs)


def _unnamed(outcome: Any) -> str:
    """An outcome without the places of objects in memory."""
    return re.sub(r"0x[0-9a-f]+", "", str(outcome))


@pytest.mark.parametrize("second", ["np.zeros(5)", "np.zeros(4, dtype=int)"])
def test_no_out_is_written_to_if_another_one_does_not_fit(second: str) -> None:
    x = np.arange(4.0)
    with pytest.raises((ValueError, TypeError)):
        np.modf(x + 0.5, out=(x, eval(second)))
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]
