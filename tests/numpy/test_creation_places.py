"""Where NumPy's constructors make arrays: on the device of an array, next to one, or on the default backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np

MAKERS: dict[str, Callable[..., Any]] = {
    "arange": lambda **at: np.arange(3, **at),
    "array": lambda **at: np.array([1.0, 2.0], **at),
    "asarray": lambda **at: np.asarray([1.0, 2.0], **at),
    "empty": lambda **at: np.empty(3, **at),
    "eye": lambda **at: np.eye(3, 2, 1, **at),
    "full": lambda **at: np.full(3, 2.5, **at),
    "full_like": lambda **at: np.full_like(np.ones(3), 2, **at),
    "identity": lambda **at: np.identity(3, **at),
    "linspace": lambda **at: np.linspace(0.0, 1.0, 4, **at),
    "ones": lambda **at: np.ones((2, 3), **at),
    "ones_like": lambda **at: np.ones_like(np.ones(3), **at),
    "tri": lambda **at: np.tri(3, 4, -1, **at),
    "zeros": lambda **at: np.zeros((2, 3), **at),
    "zeros_like": lambda **at: np.zeros_like(np.ones(3), **at),
}
WITHOUT_DEVICE, WITHOUT_LIKE = {"identity", "tri"}, {"full_like", "linspace", "ones_like", "zeros_like"}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("backend", ["binary", "jax"])
def test_an_array_is_made_next_to_another(name: str, backend: str) -> None:
    make, x = MAKERS[name], np.asarray(tb.ones(3, backend=backend))
    here = make()
    places: list[dict[str, Any]] = [] if name in WITHOUT_DEVICE else [{"device": x.device}]
    places += [] if name in WITHOUT_LIKE else [{"like": x}, {"like": x.tensor}]
    for given in places:
        made = make(**given)
        assert made.tensor.backend.name == backend
        numpy.testing.assert_array_equal(numpy.asarray(made), numpy.asarray(here))
        assert made.dtype == here.dtype
    assert here.tensor.backend.name == "numpy"
    if name not in WITHOUT_LIKE:
        assert make(like=numpy.ones(2)).tensor.backend.name == "numpy"
    if name not in WITHOUT_DEVICE:
        assert make(device="cpu").tensor.backend.name == "numpy"


@pytest.mark.parametrize("name", sorted(MAKERS.keys() - WITHOUT_LIKE))
def test_it_is_made_inside_transforms(name: str) -> None:
    def total(x: Any) -> Any:
        return (x * MAKERS[name](like=x).sum()).sum()

    for x in (np.asarray([1.0, 2.0]), np.asarray(tb.asarray([1.0, 2.0], backend="jax"))):
        wanted = float(total(x))
        assert float(tb.jit(total)(x)) == pytest.approx(wanted)
        slope = tb.grad(total)(x)
        numpy.testing.assert_allclose(numpy.asarray(slope), wanted / 3)
        assert slope.tensor.backend is x.tensor.backend
