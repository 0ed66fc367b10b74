"""The namespace's description of itself through the inspection interface of the Array API standard."""

from __future__ import annotations

import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.dtypes import bool_
from tensorbackend.errors import ShapeError


def test_a_tensor_has_at_most_the_dimensions_of_the_capabilities() -> None:
    most = tb.__array_namespace_info__().capabilities()["max dimensions"]
    assert tb.ones((1,) * most).ndim == most
    with pytest.raises(ShapeError, match=f"at most {most} axes"):
        tb.ones((1,) * (most + 1))


def test_the_dtypes_are_those_that_the_backend_holds() -> None:
    class Few(NumpyBackend):
        name = "few"
        dtypes = frozenset({bool_, tb.int64, tb.float32, tb.bfloat16})

    info = tb.__array_namespace_info__()
    assert "complex128" in info.dtypes()
    with tb.default_backend(Few):
        assert info.dtypes() == {"bool": bool_, "int64": tb.int64, "float32": tb.float32}
        assert info.dtypes(kind="real floating") == {"float32": tb.float32}
