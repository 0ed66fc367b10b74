"""The operators and methods of arrays, from the functions that they are."""

from __future__ import annotations

from typing import Any, Final

from .arrays import functions, ndarray
from .conversion import back, host, tensor
from .functions import PUBLIC
from .promotion import Spec
from .reductions import ROWS as REDUCTIONS
from .ufunc_code import make_ufunc, operator_of
from .ufunc_table import (
    ACCUMULATORS,
    COMPARISONS,
    OF_BOOLS,
    OF_COMPLEX,
    OPERATORS,
    OPS,
    REDUCERS,
    SOLE,
    SYNONYMS,
)
from .ufuncs import operate, write_out

UFUNCS: Final[dict[str, Any]] = {}
"""The universal functions by name."""

for _name, _op in OPS.items():
    UFUNCS[_name] = make_ufunc(
        Spec(
            _name, _op, boolean=OF_BOOLS.get(_name), complex=OF_COMPLEX.get(_name),
            accumulator=ACCUMULATORS.get(_name),
            reducer=functions[REDUCERS[_name]] if REDUCERS.get(_name) in REDUCTIONS else None,
        )
    )  # fmt: skip
for _name, _same in SYNONYMS.items():
    UFUNCS[_name] = UFUNCS[_same]
functions.update(UFUNCS)
PUBLIC.update(UFUNCS)

for _method, _name in OPERATORS.items():
    _spec = UFUNCS[_name].spec
    if _name != "divmod":
        setattr(ndarray, f"__{_method}__", operator_of(_spec, "operator"))
        setattr(ndarray, f"__r{_method}__", operator_of(_spec, "reflected"))
        setattr(ndarray, f"__i{_method}__", operator_of(_spec, "in_place"))
for _method, _name in COMPARISONS.items():
    setattr(ndarray, f"__{_method}__", operator_of(UFUNCS[_name].spec, "operator"))
for _method, _name in SOLE.items():
    setattr(ndarray, f"__{_method}__", operator_of(UFUNCS[_name].spec, "sole"))


def _divmod(self: ndarray, other: Any) -> Any:
    return operate(UFUNCS["divmod"].spec, self, other)


def _rdivmod(self: ndarray, other: Any) -> Any:
    return operate(UFUNCS["divmod"].spec, other, self)


setattr(ndarray, "__divmod__", _divmod)  # noqa: B010 # a type checker reads the stub
setattr(ndarray, "__rdivmod__", _rdivmod)  # noqa: B010

METHODS: Final = [
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "cumprod", "cumsum", "diagonal",
    "dot", "max", "mean", "min", "nonzero", "prod", "put", "ravel", "repeat", "round", "searchsorted", "squeeze", "std",
    "sum", "swapaxes", "take", "trace", "var",
]  # fmt: skip
"""Methods of arrays that are the functions of their names."""


def _conjugate(self: ndarray, out: Any = None) -> Any:
    """The complex conjugates: a real array itself."""
    return self if out is None and not self._template().dtype.is_complex else PUBLIC["conjugate"](self, out=out)


def bind() -> None:
    """Adds the methods of arrays that are functions of the namespace."""
    for name in METHODS:
        setattr(ndarray, name, PUBLIC[name])
    for name in ("conj", "conjugate"):
        setattr(ndarray, name, _conjugate)
    setattr(ndarray, "T", property(functions["transpose"], doc="The axes in reverse order: a view."))  # noqa: B010


def _numpy_ufunc(ufunc: Any, method: str, inputs: Any, options: Any) -> Any:
    """A universal function of NumPy's with arrays, by ours of that name."""
    ours = UFUNCS.get(ufunc.__name__)
    if ours is None:
        given = {name: value for name, value in options.items() if name != "out"}
        made = back(getattr(ufunc, method)(*host(inputs), **host(given)))
        out = options.get("out")
        return made if out is None else write_out(ufunc.__name__, out, tensor(made))
    if method == "__call__" and not options:
        return ours(*inputs)
    if "out" in options and len(options["out"]) == 1:
        options = {**options, "out": options["out"][0]}
    return (ours if method == "__call__" else getattr(ours, method))(*inputs, **options)


def _numpy_function(function: Any, types: Any, arguments: Any, options: Any) -> Any:
    """A function of NumPy's with arrays, by ours of that name, else by NumPy on the host."""
    space = (getattr(function, "__module__", None) or "").partition(".")[2]
    name = f"{space}.{function.__name__}" if space in ("linalg", "fft") else function.__name__
    ours = PUBLIC.get(name)
    return ours(*arguments, **options) if ours is not None else back(function(*host(arguments), **host(options)))


def _array_ufunc(self: ndarray, ufunc: Any, method: str, /, *inputs: Any, **options: Any) -> Any:
    if not options and method == "__call__":
        ours = _OF_NUMPY.get(ufunc)
        if ours is not None:
            return ours(*inputs)
    return _numpy_ufunc(ufunc, method, inputs, options)


_OF_NUMPY: Final = {ours.spec.by_numpy: ours for ours in UFUNCS.values()}
"""The universal functions by NumPy's."""

setattr(ndarray, "__array_ufunc__", _array_ufunc)  # noqa: B010
functions["numpy_function"] = _numpy_function
