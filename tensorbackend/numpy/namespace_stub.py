"""The text of `__init__.pyi`, which editors and type checkers read: the public names, from the functions themselves."""

from __future__ import annotations

import inspect
from types import FunctionType, MethodType, ModuleType
from typing import Any, Final

import numpy

from .arrays import ndarray
from .functions import PUBLIC
from .host_modules import NAMES as HOST_MODULES
from .ufunc_table import COMPARISON_METHODS, OPERATORS, SOLE
from .ufuncs import ufunc

_HEAD: Final = '''\
"""NumPy's names, arguments and views on any backend. Written by `python -m tensorbackend.numpy.stub`."""


import builtins
from types import EllipsisType
from typing import Any, Callable, Generic, Iterable, Iterator, Literal, overload

import numpy as _numpy
from typing_extensions import TypeVar

from tensorbackend import Tensor

from . import exceptions as exceptions
from . import fft as fft
from . import lib as lib
from . import linalg as linalg
from . import polynomial as polynomial
from . import random as random
from . import testing as testing
from . import typing as typing
from .lib import scimath as emath
from .univariate import poly1d as poly1d

_Shape = TypeVar("_Shape", default=Any)
_DType = TypeVar("_DType", default=Any)

class ufunc:
    __name__: str
    nin: int
    nout: int
    nargs: int
    identity: Any
    def __call__(
        self, *args: Any, out: Any = ..., where: Any = ..., dtype: Any = ..., casting: Any = ..., order: Any = ...,
    ) -> Any: ...
    def reduce(
        self, array: Any, axis: Any = ..., dtype: Any = ..., out: Any = ..., keepdims: builtins.bool = ...,
        initial: Any = ..., where: Any = ...,
    ) -> Any: ...
    def accumulate(self, array: Any, axis: int = ..., dtype: Any = ..., out: Any = ...) -> Any: ...
    def reduceat(self, array: Any, indices: Any, axis: int = ..., dtype: Any = ..., out: Any = ...) -> Any: ...
    def outer(self, a: Any, b: Any, /, **options: Any) -> Any: ...
    def at(self, a: Any, indices: Any, b: Any = ..., /) -> None: ...

class _SoleResult(ufunc):
    @overload
    def __call__(
        self, x1: complex | generic, x2: complex | generic = ..., /, *, where: Any = ..., dtype: Any = ...,
        casting: Any = ..., order: Any = ...,
    ) -> _ArrayOrNumber: ...
    @overload
    def __call__(
        self, *args: Any, out: Any = ..., where: Any = ..., dtype: Any = ..., casting: Any = ..., order: Any = ...,
    ) -> ndarray: ...
'''

_TYPES: Final = {"bool": "builtins.bool", "int": "int", "str": "str", "float": "float"}
_RESULTS: Final = {
    "ndarray": "ndarray", "Self": "ndarray", "bool": "builtins.bool", "int": "int", "str": "str", "None": "None",
    "bytes": "bytes",
    "tuple[ndarray, ...]": "tuple[ndarray, ...]", "list[ndarray]": "list[ndarray]",
    "tuple[int, ...]": "tuple[int, ...]", "Shape": "tuple[int, ...]", "Tensor": "Tensor", "float": "float",
    "complex": "complex",
}  # fmt: skip

ARRAYS: Final = frozenset({
    "append", "argpartition", "argsort", "argwhere", "bartlett", "bincount", "blackman", "block", "column_stack",
    "compress", "concat", "concatenate", "convolve", "correlate", "cumprod", "cumsum", "cumulative_prod",
    "cumulative_sum", "delete", "diagflat", "diff", "dstack", "ediff1d", "extract", "flatnonzero", "geomspace",
    "hamming", "hanning", "histogram_bin_edges", "hstack", "in1d", "insert", "isin", "kaiser", "logspace",
    "nancumprod", "nancumsum", "outer", "packbits", "pad", "partition", "piecewise", "repeat", "resize", "roots",
    "row_stack", "select", "setdiff1d", "setxor1d", "sort", "sort_complex", "stack", "take_along_axis", "tile",
    "tril", "triu", "union1d", "unique_values", "unpackbits", "unwrap", "vander", "vstack",
})  # fmt: skip
"""The functions whose result is an array, and never a number as those of other functions without axes."""

ARRAYS_OR_NUMBERS: Final = frozenset({
    "all", "amax", "amin", "angle", "any", "argmax", "argmin", "around", "clip", "conj", "conjugate", "corrcoef", "cov",
    "cross", "digitize", "dot", "einsum", "fix", "i0", "imag", "inner", "interp", "isclose", "iscomplex", "isneginf",
    "isposinf", "isreal", "kron", "max", "mean", "median", "min", "nan_to_num", "nanargmax", "nanargmin", "nanmax",
    "nanmean", "nanmedian", "nanmin", "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar",
    "percentile", "polyval", "prod", "ptp", "quantile", "real", "roll", "round", "searchsorted", "sinc", "std", "sum",
    "take", "tensordot", "trace", "trapezoid", "var", "vdot",
})  # fmt: skip
"""The functions and methods whose result is an array, or a number where it has no axes."""

_OF_ARRAYS: Final = frozenset({
    *(f"__{kind}{name}__" for name in OPERATORS if name != "divmod" for kind in ("", "r", "i")),
    *(f"__{name}__" for name in (*COMPARISON_METHODS, *SOLE) if name not in ("eq", "ne")),
})  # fmt: skip
"""The operators of arrays, whose results are arrays, as NumPy's own stubs have it; `object` declares `==` otherwise."""

_PLACES: Final = [
    "diag_indices", "diag_indices_from", "mask_indices", "nonzero", "tril_indices", "tril_indices_from",
    "triu_indices", "triu_indices_from",
]  # fmt: skip

TUPLES: Final = {
    **dict.fromkeys(_PLACES, "tuple[ndarray, ...]"),
    "histogram": "tuple[ndarray, ndarray]",
    "histogram2d": "tuple[ndarray, ndarray, ndarray]",
    "histogramdd": "tuple[ndarray, tuple[ndarray, ...]]",
}  # fmt: skip
"""The functions whose result is a tuple of arrays."""

_ALONE: Final = [("ary: Any, /", "ndarray"), ("*arys: Any", "tuple[ndarray, ...]")]

_OVERLOADS: Final = {
    "atleast_1d": _ALONE,
    "atleast_2d": _ALONE,
    "atleast_3d": _ALONE,
    "linspace": [
        ("start: Any, stop: Any, num: int = ..., endpoint: builtins.bool = ..., retstep: Literal[False] = ..., "
         "dtype: Any = ..., axis: int = ..., *, device: Any = ...", "ndarray"),
        ("start: Any, stop: Any, num: int = ..., endpoint: builtins.bool = ..., *, retstep: Literal[True], "
         "dtype: Any = ..., axis: int = ..., device: Any = ...", "tuple[ndarray, Any]"),
    ],
    "unique": [
        ("ar: Any, *, axis: Any = ..., equal_nan: builtins.bool = ...", "ndarray"),
        ("ar: Any, return_index: Any = ..., return_inverse: Any = ..., return_counts: Any = ..., axis: Any = ..., *, "
         "equal_nan: builtins.bool = ..., sorted: builtins.bool = ...", "Any"),
    ],
    "where": [
        ("condition: Any, /", "tuple[ndarray, ...]"),
        ("condition: Any, x: Any, y: Any, /", "ndarray"),
    ],
}  # fmt: skip
"""The parameters and results of functions whose result depends on which arguments are given."""

_GETITEM: Final = """\
    @overload
    def __getitem__(self, key: slice | list[Any] | range | EllipsisType | None) -> ndarray: ...
    @overload
    def __getitem__(self, key: int | integer[Any] | tuple[Any, ...] | str) -> Any: ...
    @overload
    def __getitem__(self, key: ndarray | _numpy.ndarray[Any, Any] | Tensor) -> _ArrayOrNumber: ...
"""
"""Keys of ints may choose numbers of any class, so what they choose is `Any`, as in NumPy's stubs."""


def _overloads(name: str) -> str:
    """The declarations of a function for the arguments that it may get."""
    return "".join(f"@overload\ndef {name}({given}) -> {result}: ...\n" for given, result in _OVERLOADS[name])


def declaration(name: str, function: Any, indent: str = "", *, result: str = "") -> str:
    """The declaration of a function, with its parameters and the first line of its docstring."""
    given = inspect.signature(function)
    parts, star, previous = [], False, None
    for parameter in given.parameters.values():
        kind = parameter.kind
        if previous is parameter.POSITIONAL_ONLY and kind is not previous:
            parts.append("/")
        if kind is parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        mark = "*" if kind is parameter.VAR_POSITIONAL else "**" if kind is parameter.VAR_KEYWORD else ""
        star = star or kind is parameter.VAR_POSITIONAL
        annotation = _TYPES.get(str(parameter.annotation), "Any")
        typed = parameter.name if parameter.name == "self" else f"{mark}{parameter.name}: {annotation}"
        parts.append(typed if parameter.default is parameter.empty or mark else f"{typed} = ...")
        previous = kind
    if previous is inspect.Parameter.POSITIONAL_ONLY:
        parts.append("/")
    result = result or _result(name, function)
    summary = (function.__doc__ or "").strip().partition("\n")[0].replace("\\", "\\\\")
    text = f'{indent}def {name}({", ".join(parts)}) -> {result}:\n{indent}    """{summary}"""\n'
    return text if summary else f"{indent}def {name}({', '.join(parts)}) -> {result}: ...\n"


def _result(name: str, function: Any) -> str:
    """What a function of the namespace or a method of arrays returns."""
    if name in _OF_ARRAYS:
        return "ndarray"
    result = _RESULTS.get(str(inspect.signature(function).return_annotation), "Any")
    if function is PUBLIC.get(name):
        result = "ndarray" if name in ARRAYS else TUPLES.get(name, result)
    return "_ArrayOrNumber" if result == "Any" and name in ARRAYS_OR_NUMBERS else result


def _class_of_arrays() -> str:
    """The declaration of `ndarray` with all methods, also those that are functions of the namespace."""
    lines = ["class ndarray(Generic[_Shape, _DType]):\n"]
    lines.append(
        "    def __init__(self, shape: Any, dtype: Any = ..., buffer: Any = ..., offset: int = ...) -> None: ...\n"
    )
    hidden = {"__class__", "__dict__", "__init__", "__new__", "__init_subclass__", "__subclasshook__", "__module__",
              "__class_getitem__"}  # fmt: skip
    for name in sorted(
        set(dir(ndarray)) - set(dir(object)) | {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}
    ):
        member = inspect.getattr_static(ndarray, name)
        if name in hidden or (name.startswith("_") and not name.startswith("__")):
            continue
        if isinstance(member, property) and member.fget is not None:
            result = _RESULTS.get(str(inspect.signature(member.fget).return_annotation), "Any")
            lines.append(f"    @property\n    def {name}(self) -> {result}: ...\n")
            if member.fset is not None:
                lines.append(f"    @{name}.setter\n    def {name}(self, value: Any) -> None: ...\n")
        elif callable(member) and not inspect.ismemberdescriptor(member):
            text = _GETITEM if name == "__getitem__" else declaration(name, member, "    ")
            first = next(iter(inspect.signature(member).parameters))
            text = text.replace(f"({first}: Any", "(self", 1)
            if name == "__ipow__":  # Python passes it no modulus
                text = text.replace("...\n", "...  # type: ignore[misc] # not the signature of __pow__\n")
            lines.append(text)
    return "".join(lines)


_ARRAY_OR_NUMBER: Final = '''\
class _ArrayOrNumber(ndarray, float):  # type: ignore[misc] # as both have operators
    """What is an array, or a number where it has no axes: neither is a mistake in a program that uses it as one."""

'''


_UNLIKE_FLOAT: Final = {"ge", "gt", "ipow", "le", "lt", "pow", "rpow"}
"""Operators whose declarations of `float` those of arrays do not fit."""


def _class_of_both() -> str:
    """The declaration of the class of results that may be arrays or numbers, whose operators give such results."""
    lines = [_ARRAY_OR_NUMBER]
    for name in sorted(_OF_ARRAYS):
        given = "self" if name.strip("_") in SOLE else "self, other: Any"
        ignored = "  # type: ignore[override] # float's take numbers alone" if name.strip("_") in _UNLIKE_FLOAT else ""
        lines.append(f"    def {name}({given}) -> _ArrayOrNumber: ...{ignored}\n")
    return "".join(lines)


def text() -> str:
    """The text of the stub."""
    import tensorbackend.numpy as namespace

    lines = [_HEAD, "\n", _class_of_arrays(), "\n", _class_of_both(), "\n"]
    for name in sorted(vars(namespace)):
        value = getattr(namespace, name)
        if name.startswith("_") and name not in ("__version__", "__array_api_version__"):
            continue
        if name in ("ndarray", "ufunc", "poly1d", "annotations") or isinstance(value, ModuleType):
            continue
        if isinstance(value, ufunc):
            kind = "_SoleResult" if vars(value)["nout"] == 1 else "ufunc"
            lines.append(f"{name}: {kind}\n")
        elif isinstance(value, FunctionType | MethodType) and value.__module__.startswith(namespace.__name__):
            lines.append(_overloads(name) if name in _OVERLOADS else declaration(name, value))
        elif isinstance(value, type) and value.__module__ == "numpy" and name in vars(numpy):
            lines.append(f"from numpy import {name} as {name}\n")
        elif isinstance(value, type) and value.__module__.startswith(namespace.__name__):
            module = value.__init__.__globals__["__name__"].removeprefix(namespace.__name__)  # type: ignore[misc] # of a class of this package
            lines.append(f"from {module} import {name} as {name}\n")
        elif isinstance(value, float | str):
            lines.append(f"{name}: {type(value).__name__}\n")
        else:
            lines.append(f"{name}: Any\n")
    lines += [f"from numpy import {name} as {name}\n" for name in sorted(HOST_MODULES) if name.isidentifier()]
    return "".join(lines)
