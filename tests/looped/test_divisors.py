"""Greatest common divisors and least common multiples, compared with NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import DTypeError, OutOfRangeError

X1 = np.array([[0], [12], [-18], [7]])
X2 = np.array([0, 8, -27, 35, 6])


@pytest.mark.parametrize("backend", ["binary", "numpy"])
@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_results_are_numpys(name: str, backend: str) -> None:
    ours, wanted = getattr(tb, name), getattr(np, name)(X1, X2).tolist()
    x1, x2 = tb.asarray(X1, names=("row", None), backend=backend), tb.asarray(X2, names=("n",), backend=backend)
    assert ours(x1, x2).tolist() == tb.jit(ours)(x1, x2).tolist() == wanted
    assert ours(x1, x2).names == ("row", "n")
    assert tb.vmap(lambda row: ours(row, x2))(x1).tolist() == wanted
    assert ours(x1[1, 0], 8).item() == getattr(np, name)(12, 8)


@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_a_number_takes_the_dtype_of_the_tensor(name: str) -> None:
    x = tb.asarray([4, 6], dtype="u64")
    for made in (getattr(tb, name)(x, 2), getattr(tb, name)(2, x)):
        assert made.dtype is tb.uint64
    assert getattr(tb, name)(x.astype(tb.int8), -2).dtype is tb.int8
    with pytest.raises(OutOfRangeError):
        getattr(tb, name)(x.astype(tb.int8), 300)


def test_only_integers() -> None:
    with pytest.raises(DTypeError, match=r"^gcd: expected"):
        tb.gcd(tb.asarray(1.5), 2)
