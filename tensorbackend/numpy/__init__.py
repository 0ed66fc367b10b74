"""NumPy's names, arguments and views on any backend: `import tensorbackend.numpy as np`.

A NumPy program runs with one changed line on NumPy, JAX, PyTorch or any other backend, and can then be
differentiated (`tb.grad`), compiled (`tb.jit`), batched (`tb.vmap`) and run without data (`tb.dry_run`). Dtypes follow
NumPy 2: float64 by default, and int32 with float32 is promoted to float64.

Examples
--------
>>> import tensorbackend as tb
>>> import tensorbackend.numpy as np
>>> def energy(x):
...     y = np.zeros_like(x)
...     y[1:] = x[1:] * x[:-1]
...     y[0] += 2 * x[0]
...     return np.sum(y)
>>> energy(np.array([1.0, 2.0, 3.0]))
np.float64(10.0)
>>> tb.grad(energy)(np.array([1.0, 2.0, 3.0]))
array([4., 4., 2.])
"""

from __future__ import annotations

from importlib import import_module as _import_module
from sys import modules as _modules
from typing import Any as _Any

import numpy as _numpy

import tensorbackend as _tb

from . import _typing as _typing
from . import (  # noqa: F401 # importing them enters their functions
    casting,
    elements,
    histograms,
    joining,
    ordering,
    polynomials,
    products,
    reductions,
    repeating,
    selection,
    sequences,
    shapes,
    statistics,
    storage,
    writing,
)
from . import creation as _creation
from . import exceptions as exceptions
from . import fft as fft
from . import hosting as _hosting
from . import indexing as _indexing
from . import lib as lib
from . import linalg as linalg
from . import methods as _methods
from . import selection as _selection
from . import strides as _strides
from . import typing as typing
from .arrays import functions as _functions
from .arrays import ndarray as ndarray
from .documents import document as _document
from .functions import PUBLIC as _PUBLIC
from .host_arrays import NAMES as _HOST_NAMES
from .host_modules import NAMES as _HOST_MODULES
from .host_modules import missing_name_error as _missing
from .ufuncs import ufunc as ufunc
from .univariate import poly1d as poly1d

_methods.bind()
_functions["namespace"] = lambda: _modules[__name__]

_ALIASES = {
    "amax": "max", "amin": "min", "around": "round", "concat": "concatenate", "permute_dims": "transpose",
    "row_stack": "vstack", "trapz": "trapezoid",
}  # fmt: skip

for _name, _function in list(_PUBLIC.items()):
    _space, _, _short = _name.rpartition(".")
    setattr(_modules[f"{__name__}.{_space}" if _space else __name__], _short, _function)
    _document(_function, _name)
for _name, _same in _ALIASES.items():
    globals()[_name] = _functions[_name] = _PUBLIC[_name] = _PUBLIC[_same]

# Constants, dtypes and what NumPy itself has to say

for _name in [
    "pi", "e", "inf", "nan", "newaxis", "euler_gamma", "bool", "bool_", "int8", "int16", "int32", "int64", "uint8",
    "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128", "byte", "ubyte", "short",
    "ushort", "intc", "uintc", "int_", "uint", "long", "ulong", "longlong", "ulonglong", "intp", "uintp", "half",
    "single", "double", "csingle", "cdouble", "generic", "number", "integer", "signedinteger", "unsignedinteger",
    "inexact", "floating", "complexfloating", "flexible", "dtype", "set_printoptions", "get_printoptions", "typename",
    "mintypecode", "format_float_positional", "format_float_scientific", "little_endian", "ScalarType", "typecodes",
    "get_include", "show_config", "info",
]:  # fmt: skip
    globals()[_name] = getattr(_numpy, _name)

sctypeDict = {name: kind for name, kind in _numpy.sctypeDict.items() if kind.__module__ == "numpy"}
"""NumPy's classes by name, without those that ml_dtypes adds when it is imported."""

_LATE = {"polynomial", "random", "testing"}
"""Modules of this package that are imported when they are first used, as they take longer than all others together."""

for _name in _HOST_NAMES:
    if hasattr(_numpy, _name):
        globals()[_name] = getattr(_numpy, _name)

True_, False_, _NoValue = _numpy.True_, _numpy.False_, _numpy._NoValue  # type: ignore[attr-defined] # not in the stub
__version__ = _numpy.__version__
version = _numpy.version
__array_api_version__ = "2025.12"

mgrid, ogrid, r_, c_ = _creation.mgrid, _creation.ogrid, _creation.r_, _creation.c_
s_, index_exp = _creation.s_, _creation.index_exp
flatiter, ndenumerate = _indexing.flatiter, _selection.ndenumerate
broadcast, nditer = _strides.broadcast, _strides.nditer
vectorize, errstate, printoptions = _hosting.vectorize, _hosting.errstate, _hosting.printoptions
emath = lib.scimath


class _NamespaceInfo(type(_numpy.__array_namespace_info__())):  # type: ignore[misc] # NumPy's class has no public name
    """What the array API standard asks of a namespace: NumPy's dtypes, and the devices of the default backend."""

    def devices(self) -> list[str]:
        return list(_tb.__array_namespace_info__().devices())

    def default_device(self) -> str:
        return str(_tb.__array_namespace_info__().default_device())


def __array_namespace_info__() -> _Any:
    """The dtypes and devices of the namespace, by the array API standard.

    Examples
    --------
    >>> import tensorbackend.numpy as np
    >>> np.__array_namespace_info__().default_dtypes()["real floating"]
    dtype('float64')
    """
    return _NamespaceInfo()


def __getattr__(name: str) -> _Any:
    """A module at its first use; `AttributeError` for unsupported names of NumPy, with what to write instead."""
    if name in _LATE or name in _HOST_MODULES or name == "special":  # where SciPy looks for its functions
        return _import_module(f".{name}", __name__)
    raise _missing(name, __name__)


def __dir__() -> list[str]:
    return sorted(
        {
            *_LATE,
            *(name for name in _HOST_MODULES if "." not in name and name != "matlib"),  # whose import warns, as NumPy's
            *(name for name in globals() if not name.startswith("_") and name != "special"),
        }
    )
