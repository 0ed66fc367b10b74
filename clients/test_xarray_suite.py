"""xarray's own tests of arrays of other libraries, with those of the NumPy namespace: 98 on each backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xarray.tests import test_duck_array_wrapping as suite

import tensorbackend as tb
import tensorbackend.numpy as tnp

NAMESPACE = "tensorbackend.numpy"
suite.NAMESPACE_ARRAYS[NAMESPACE] = {"attrs": {"array": "ndarray", "constructor": "asarray"}, "xfails": {}}


class _Exactly(type):
    """A class whose instances are arrays of the namespace alone, whose own class counts NumPy's arrays too.

    In NumPy's memory a result without axes is NumPy's number, as it is for NumPy's own arrays.
    """

    def __instancecheck__(cls, value: object) -> bool:
        is_number = isinstance(value, np.generic | np.ndarray) and not np.ndim(value)
        return type(value) is tnp.ndarray or (is_number and tb.get_backend().name == "numpy")


class _Array(metaclass=_Exactly):
    pass


_set_up = suite._BaseTest.setup_for_test


def _set_up_exactly(self: Any, request: Any, namespace: str) -> None:
    _set_up(self, request, namespace)
    self.Array = _Array


suite._BaseTest.setup_for_test = _set_up_exactly


def _of_ours(tests: Any) -> Any:
    """A class of tests, for the namespace's arrays in place of those of other libraries."""
    tests.pytestmark = [pytest.mark.parametrize("namespace", [NAMESPACE]), pytest.mark.client("xarray")]
    for name, test in vars(tests).items():
        if name.startswith("test_"):
            test.__doc__ = "Its own tests of arrays of other libraries, with arrays of `tensorbackend.numpy`."
    return tests


TestTopLevelMethods = _of_ours(suite.TestTopLevelMethods)
TestDataArrayMethods = _of_ours(suite.TestDataArrayMethods)


@pytest.mark.client("xarray")
def test_other_arrays_do_not_count(backend: str) -> None:
    """Its own tests of arrays of other libraries, with arrays of `tensorbackend.numpy`."""
    assert isinstance(tnp.ones(2), _Array)
    assert not isinstance(np.ones(2), _Array)
    assert not isinstance(tb.ones(2), _Array)
    assert isinstance(np.float64(1.0), _Array) == (backend == "numpy")
