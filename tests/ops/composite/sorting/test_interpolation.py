"""Linear interpolation, compared with NumPy's, and its gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, ShapeError

XP, FP = np.array([-1.0, 0.0, 0.5, 2.0]), np.array([3.0, -1.0, 4.0, 4.5])
X = np.array([[-2.0, -1.0, -0.3], [0.5, 1.9, 7.0]])


@pytest.mark.parametrize("backend", ["binary", "numpy"])
@pytest.mark.parametrize("options", [{}, {"left": -9.0}, {"right": 0.0}, {"period": 2.5}, {"period": -4.0}])
def test_results_are_numpys(options: dict[str, Any], backend: str) -> None:
    x, xp, fp = (tb.asarray(each, backend=backend) for each in (X, XP, FP))
    x = x.rename("row", "n")
    wanted = np.interp(X, XP, FP, **options)
    for got in (tb.interp(x, xp, fp, **options), tb.jit(lambda x: tb.interp(x, xp, fp, **options))(x)):
        assert got.names == ("row", "n")
        np.testing.assert_allclose(np.asarray(got), wanted)


def test_gradients() -> None:
    x, xp, fp = (tb.asarray(each) for each in (X, XP, FP))
    slopes = tb.grad(lambda x: tb.sum(tb.interp(x, xp, fp)))(x)
    assert np.asarray(slopes)[0, 2] == pytest.approx(-4.0)
    assert np.asarray(slopes)[1, 1] == pytest.approx(1 / 3)
    assert [slopes[0, 0].item(), slopes[1, 2].item()] == [0.0, 0.0]  # outside
    shares = tb.grad(lambda fp: tb.sum(tb.interp(x, xp, fp)))(fp)
    assert tb.sum(shares).item() == pytest.approx(X.size)


def test_what_is_refused() -> None:
    for xp, fp in [(tb.zeros(0), tb.zeros(0)), (tb.zeros(2), tb.zeros(3)), (tb.zeros((1, 2)), tb.zeros((1, 2)))]:
        with pytest.raises(ShapeError, match=r"^interp: expected"):
            tb.interp(tb.zeros(2), xp, fp)
    with pytest.raises(ArgumentError, match="period"):
        tb.interp(tb.zeros(2), tb.zeros(2), tb.zeros(2), period=0.0)
