"""xarray's own tests of arrays of other libraries, with tensors and with arrays of the NumPy namespace.

They are 98 for each kind on each backend. xarray holds tensors as such arrays, so both kinds have results of one class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xarray.tests import test_duck_array_wrapping as suite

import tensorbackend as tb
import tensorbackend.numpy as tnp
import tensorbackend.xarray

NAMESPACES = {"tensorbackend": "Tensor", "tensorbackend.numpy": "ndarray"}
for name, kind in NAMESPACES.items():
    suite.NAMESPACE_ARRAYS[name] = {"attrs": {"array": kind, "constructor": "asarray"}, "xfails": {}}


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


@pytest.mark.client("xarray")
def test_other_arrays_do_not_count(backend: str) -> None:
    """Its own tests of arrays of other libraries, with tensors and with arrays of `tensorbackend.numpy`."""
    assert isinstance(tnp.ones(2), _Array)
    assert not isinstance(np.ones(2), _Array)
    assert not isinstance(tb.ones(2), _Array)
    assert isinstance(np.float64(1.0), _Array) == (backend == "numpy")


def _of_ours(tests: Any) -> Any:
    """A class of tests, for tensors and the namespace's arrays in place of those of other libraries."""
    tests.pytestmark = [pytest.mark.parametrize("namespace", NAMESPACES), pytest.mark.client("xarray")]
    for name, test in vars(tests).items():
        if name.startswith("test_"):
            test.__doc__ = test_other_arrays_do_not_count.__doc__
    return tests


TestTopLevelMethods = _of_ours(suite.TestTopLevelMethods)
TestDataArrayMethods = _of_ours(suite.TestDataArrayMethods)
