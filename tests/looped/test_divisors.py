"""Greatest common divisors and least common multiples, compared with NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import DTypeError

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


def test_only_integers() -> None:
    with pytest.raises(DTypeError, match=r"^gcd: expected"):
        tb.gcd(tb.asarray(1.5), 2)
