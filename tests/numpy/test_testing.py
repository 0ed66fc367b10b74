"""NumPy's assertions for arrays here, and for objects that give them."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend.numpy as np


class Measured:
    """A class of another library's, which NumPy converts by `__array__`."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array([1.0, 2.0], dtype=dtype)


def test_objects_that_give_arrays_are_compared() -> None:
    np.testing.assert_allclose(Measured(), [1.0, 2.0])
    np.testing.assert_array_equal(np.array([1.0, 2.0]), Measured())
    with pytest.raises(AssertionError, match="Mismatched elements: 1 / 2"):
        np.testing.assert_allclose(Measured(), [1.0, 3.0])
