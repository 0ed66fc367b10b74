"""The namespace's description of itself through the inspection interface of the Array API standard."""

from __future__ import annotations

import pytest

import tensorbackend as tb
from tensorbackend.errors import ShapeError


def test_a_tensor_has_at_most_the_dimensions_of_the_capabilities() -> None:
    most = tb.__array_namespace_info__().capabilities()["max dimensions"]
    assert tb.ones((1,) * most).ndim == most
    with pytest.raises(ShapeError, match=f"at most {most} axes"):
        tb.ones((1,) * (most + 1))
