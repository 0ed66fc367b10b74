"""The modules of `numpy.lib` can be imported."""

from __future__ import annotations

import importlib
import operator
import re
from collections.abc import Iterator
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import numpy
import pytest

import tensorbackend.numpy as np
from tensorbackend.numpy.host_modules import NAMES, advice

MISSING = {
    "core": "deprecated by NumPy",
    "distutils": "no part of NumPy from Python 3.12 on",
    "f2py": "compiles Fortran",
    "lib.tests": "tests",
    "linalg.lapack_lite": "a helper of NumPy's in C",
    "linalg.linalg": "deprecated by NumPy",
    "random.bit_generator": "a helper of NumPy's in C",
    "typing.mypy_plugin": "deprecated by NumPy",
}
"""NumPy's public modules that are not here, with the reason."""


NAMES_LEFT_OUT = {"NBitBase", "get_bit_generator", "set_bit_generator"}
"""Names in such modules that are not here: NumPy deprecates the first; the state of the legacy functions is a key."""


def public_modules(package: ModuleType) -> Iterator[str]:
    """Yield the names of NumPy's public modules, without `numpy.`."""
    for found in iter_modules(package.__path__, f"{package.__name__}."):
        name = found.name.removeprefix("numpy.")
        if name not in MISSING and not any(part in ("tests", "conftest") or part[0] == "_" for part in name.split(".")):
            yield name
            if found.ispkg:
                yield from public_modules(importlib.import_module(found.name))


@pytest.mark.filterwarnings("ignore")  # NumPy warns of modules that it will remove
@pytest.mark.parametrize("name", list(public_modules(numpy)))
def test_numpys_modules_can_be_imported_by_name(name: str) -> None:
    module = importlib.import_module(f"tensorbackend.numpy.{name}")
    assert operator.attrgetter(name)(np) is module
    theirs = importlib.import_module(f"numpy.{name}")
    names = set(getattr(theirs, "__all__", ())) - NAMES_LEFT_OUT
    assert not {each for each in names if not hasattr(module, each) and not advice(each)}


@pytest.mark.filterwarnings("ignore")  # NumPy warns of modules that it will remove, at their first import
@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_module_for_what_tensors_cannot_hold_is_numpys(name: str) -> None:
    assert importlib.import_module(f"tensorbackend.numpy.{name}") is importlib.import_module(f"numpy.{name}")


def test_fields_become_columns_and_come_back() -> None:
    fields: Any = np.lib.recfunctions
    kind = numpy.dtype([("x", "f4"), ("y", "f4")])
    points = fields.unstructured_to_structured(np.arange(6.0).reshape(3, 2), kind)
    assert points["y"].tolist() == [1.0, 3.0, 5.0]
    assert np.sum(fields.structured_to_unstructured(points), axis=0).tolist() == [6.0, 9.0]


def test_windows_and_broadcasting_are_among_the_tricks() -> None:
    from tensorbackend.numpy.lib.stride_tricks import broadcast_to, sliding_window_view

    x = numpy.arange(6.0).reshape(2, 3)
    windows = sliding_window_view(np.array(x), (2, 2))
    assert windows.tolist() == numpy.lib.stride_tricks.sliding_window_view(x, (2, 2)).tolist()
    assert broadcast_to is np.broadcast_to


@pytest.mark.parametrize("module", [np.lib, np.lib.stride_tricks, np.lib.scimath])
def test_an_unknown_name_is_an_attribute_error(module: object) -> None:
    with pytest.raises(AttributeError, match=re.escape("has no attribute 'nonsense'")):
        operator.attrgetter("nonsense")(module)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u2", "i8"])
@pytest.mark.parametrize("name", ["sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh", "power"])
def test_results_outside_the_domain_have_the_dtype_of_numpy(name: str, dtype: str) -> None:
    x, more = numpy.array([2 if dtype == "u2" else -2, 3, 0], dtype), (0.5,) if name == "power" else ()
    found, wanted = getattr(np.emath, name)(np.array(x), *more), getattr(numpy.emath, name)(x, *more)
    assert found.dtype == wanted.dtype
    numpy.testing.assert_allclose(numpy.asarray(found), wanted, rtol=1e-3 if dtype == "f2" else 1e-6)
