"""Reductions along axes: sums, means, extremes etc., generated from a table."""

from __future__ import annotations

import operator
from collections.abc import Callable
from inspect import signature
from typing import Any, Final, NamedTuple

import numpy

import tensorbackend as tb

from ..dtypes import ALL_DTYPES, REAL_OF, DType, bool_
from ..errors import ArgumentError, DTypeError
from ..tensor import Tensor
from .arrays import blank, box, functions, ndarray, result
from .conversion import cast, tensor
from .documents import summary_of
from .dtypes import FLOATING, INEXACT, NUMERIC, dtype_of, numpy_dtype
from .functions import PUBLIC
from .host_arrays import AT_HOME, FALL_BACK, RESULT, SCOPE, compile_late
from .overrides import tensor_or_numpy
from .shapes import axis_positions, known_axis, refuse_lists, size
from .ufuncs import write_out

NO_VALUE: Final = numpy._NoValue
"""Represents an omitted argument, as None and False are values."""


class Reduction(NamedTuple):
    """A row of the table: the op, the dtypes for which it agrees with NumPy, and further steps."""

    op: Callable[..., Tensor]
    signature: str
    straight: frozenset[DType]
    computes_in: str = ""
    identity: float | bool | None = None
    combines: str = ""


_OUT: Final = "axis=None, out=None"
_DTYPE: Final = "axis=None, dtype=None, out=None"
_SPREAD: Final = f"{_DTYPE}, ddof=0, keepdims=NO_VALUE, *, where=NO_VALUE, mean=NO_VALUE, correction=NO_VALUE"
_ANY: Final = frozenset(ALL_DTYPES)
_REAL: Final = NUMERIC - {dtype for dtype in ALL_DTYPES if dtype.is_complex}
_LAST: Final = "keepdims=NO_VALUE, initial=NO_VALUE, where=NO_VALUE"


ROWS: Final = {
    "sum": Reduction(tb.sum, f"{_DTYPE}, {_LAST}", _ANY, "", 0, "add"),
    "prod": Reduction(tb.prod, f"{_DTYPE}, {_LAST}", _ANY, "", 1, "multiply"),
    "max": Reduction(tb.max, f"{_OUT}, {_LAST}", _REAL, "uint8", None, "maximum"),
    "min": Reduction(tb.min, f"{_OUT}, {_LAST}", _REAL, "uint8", None, "minimum"),
    "all": Reduction(tb.all, f"{_OUT}, keepdims=NO_VALUE, *, where=NO_VALUE", _ANY, "", True, "logical_and"),
    "any": Reduction(tb.any, f"{_OUT}, keepdims=NO_VALUE, *, where=NO_VALUE", _ANY, "", False, "logical_or"),
    "mean": Reduction(tb.mean, f"{_DTYPE}, keepdims=NO_VALUE, *, where=NO_VALUE", INEXACT, "float64"),
    "var": Reduction(tb.var, _SPREAD, FLOATING, "float64"),
    "std": Reduction(tb.std, _SPREAD, FLOATING, "float64"),
    "argmax": Reduction(tb.argmax, f"{_OUT}, *, keepdims=NO_VALUE", _REAL, "uint8"),
    "argmin": Reduction(tb.argmin, f"{_OUT}, *, keepdims=NO_VALUE", _REAL, "uint8"),
    "median": Reduction(
        tb.median, "axis=None, out=None, overwrite_input=False, keepdims=False", FLOATING, "float64"
    ),
    "count_nonzero": Reduction(tb.count_nonzero, "axis=None, *, keepdims=False", _ANY),
}  # fmt: skip

_OF_COUNTS: Final = frozenset({"mean", "var", "std", "median"})
"""Reductions that need the number of elements, for which NumPy refuses an axis of a number."""

_SOURCE: Final = """\
def {name}(a, {signature}):
    if a.__class__ is ndarray and {plain}:
        t = a._t
        if t is None:
            t = a._read()
        if t.template.dtype in straight and (axis is None or t.template.shape):
            r = op(t, axis=axis{keepdims}{correction})
{result}    try:
        if a.__class__ is ndarray or not ({plain}):
{at_home}        return reduce({name!r}, a, {passed})
{fall_back}"""

_PLAIN: Final = ("dtype", "out", "initial", "where", "mean", "correction")


def _make_function(name: str, row: Reduction) -> Callable[..., Any]:
    scope: dict[str, Any] = {
        **SCOPE, "HOST": numpy.ndarray, "NO_VALUE": NO_VALUE, "blank": blank, "ndarray": ndarray, "op": row.op,
        "reduce": reduce, "straight": row.straight, "__name__": __package__,
    }  # fmt: skip
    made: Any = compile_late(name, lambda: _source(name, row, scope), scope)
    made.__wrapped__ = scope["face"] = eval(f"lambda a, {row.signature}: a", scope)
    made.__module__, made.__doc__ = __package__, summary_of(row.op)
    return made  # type: ignore[no-any-return] # generated code has no types


def _source(name: str, row: Reduction, scope: dict[str, Any]) -> str:
    """The source of a reduction; its parameters are entered in the scope."""
    scope["given"] = signature(scope["face"])
    names = [part.partition("=")[0].strip() for part in row.signature.split(",") if part.strip() != "*"]
    tests = [f"{each} is {'None' if each in ('dtype', 'out') else 'NO_VALUE'}" for each in names if each in _PLAIN]
    if "axis" in names:
        tests.append("axis.__class__ is not ndarray and axis.__class__ is not list")
    arrays = ["a", *[each for each in names if each in ("out", "initial", "where", "mean")]]
    keep = ", keepdims=False if keepdims is NO_VALUE else keepdims" if "keepdims" in names else ""
    return _SOURCE.format(
        name=name, signature=row.signature, plain=" and ".join(tests), keepdims=keep,
        correction=", correction=ddof" if "ddof" in names else "", result=RESULT.format(indent=" " * 12),
        passed=", ".join(f"{each}={each}" for each in names if each != "overwrite_input"),
        at_home=AT_HOME.format(indent=" " * 12, values=f"({', '.join(arrays)},)", function=name),
        fall_back=FALL_BACK.format(name=name),
    )  # fmt: skip


def reduce(
    name: str, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE, where: Any = NO_VALUE, ddof: float = 0, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """A reduction with any arguments of NumPy."""
    row = ROWS[name]
    x = tensor_or_numpy(a)
    keep = False if keepdims is NO_VALUE else bool(keepdims)
    if isinstance(axis, numpy.ndarray) or axis.__class__ is ndarray:
        axis = operator.index(axis)
    if name != "median":
        refuse_lists(axis)
    if dtype is None and out is not None and (name in ("sum", "prod") or (name == "mean" and x.dtype.is_inexact)):
        x = _common_with(out, x)
    if dtype is not None:
        x = cast(x, dtype_of(dtype))
    axis = axis if name in _OF_COUNTS else known_axis(x, axis)
    given = x.dtype
    if given not in row.straight:
        x = _castable(name, x, row)
    options: dict[str, Any] = {"axis": axis, "keepdims": keep}
    if name in ("var", "std"):
        options["correction"] = ddof if correction is NO_VALUE else correction
    if mean is not NO_VALUE or (where is not NO_VALUE and where is not True):
        total = _where(name, x, tensor(where is NO_VALUE or where), options, initial, mean)
    elif x.dtype.is_complex and name in ("var", "std"):
        total = _variance(name, x, options)
    elif initial is not NO_VALUE and not size(x, axis):
        sums = tb.sum(x, **options)
        total_dtype = sums.dtype if row.combines in ("add", "multiply") else x.dtype
        total = tb.full(sums.shape, tensor(initial), dtype=total_dtype, like=x)
        initial = NO_VALUE
    elif x.dtype.is_complex and name in _EXTREMES:
        total = extreme_of_complex(name, x, **options)
    else:
        total = row.op(x, **options)
    if initial is not NO_VALUE and row.combines and (where is NO_VALUE or where is True):
        start = tensor(initial) if initial.__class__ not in (int, float, complex) else initial
        total = tensor(functions[row.combines](box(total), box(start) if isinstance(start, Tensor) else start))
    if row.computes_in == "uint8" and given is bool_ and not name.startswith("arg"):
        total = cast(total, bool_)
    if dtype is not None:
        wanted = dtype_of(dtype)
        real = REAL_OF.get(wanted, wanted) if name in ("var", "std") else wanted
        total = cast(total, real)
    if out is None:
        return result(total)
    if name.startswith("arg") and hasattr(out, "dtype") and not numpy.can_cast(out.dtype, numpy.intp, "safe"):
        raise DTypeError(f"Cannot cast array data from {out.dtype!r} to dtype('int64') according to the rule 'safe'")
    # NumPy casts as it likes, but the root of a variance is a function of elements.
    return write_out(name, out, total, "same_kind" if name == "std" else "unsafe", broadcasts=False)


def _common_with(out: Any, x: Tensor) -> Tensor:
    """A tensor in the common dtype of it and `out`, in which NumPy adds and multiplies."""
    target = getattr(out[0] if isinstance(out, tuple) and out else out, "dtype", None)
    return x if target is None else cast(x, dtype_of(numpy.result_type(numpy_dtype(x.dtype), target)))


def no_order(name: str) -> DTypeError:
    """The error for complex numbers, of a function that compares."""
    return DTypeError(f"{name}: complex numbers have no order; take np.real(x) or np.abs(x) first")


def _castable(name: str, x: Tensor, row: Reduction) -> Tensor:
    if x.dtype.is_complex:
        if name in ("var", "std") or name in _EXTREMES:
            return x
        raise no_order(name)
    return cast(x, dtype_of(row.computes_in))


def _where(name: str, x: Tensor, mask: Tensor, options: dict[str, Any], initial: Any, mean: Any) -> Tensor:
    """A reduction of the elements where a mask is true."""
    mask = tb.broadcast_to(cast(mask, bool_), tb.broadcast_shapes(mask.shape, x.shape))
    x = tb.broadcast_to(x, mask.shape)
    row = ROWS[name]
    if row.combines:
        start = row.identity if initial is NO_VALUE else initial
        if start is None:
            text = "does not have an identity, so to use a where mask one has to specify 'initial'"
            raise ArgumentError(f"reduction operation '{row.combines}' {text}")
        filled = tb.where(mask, x, cast(tensor(start if row.identity is None else row.identity), x.dtype))
        if row.identity is None and not size(x, options["axis"]):
            shape = tb.sum(filled, axis=options["axis"], keepdims=options["keepdims"]).shape
            return tb.full(shape, start, dtype=x.dtype, like=x)
        total = row.op(filled, **options)
        if initial is not NO_VALUE:
            total = tensor(functions[row.combines](box(total), initial))
        return total
    axis = options["axis"]
    count = cast(tb.sum(mask, axis=axis, keepdims=True), REAL_OF.get(x.dtype, x.dtype))
    x = tb.where(mask, x, 0)  # so that a NaN that is masked has no part in the gradient
    center = tensor(mean) if mean is not NO_VALUE else tb.sum(x, axis=axis, keepdims=True) / count
    if name == "mean":
        total = center
    else:
        spread = tb.where(mask, tb.square(tb.abs(x - center)), 0)
        total = tb.sum(spread, axis=axis, keepdims=True) / tb.maximum(count - options["correction"], 0)
        if name == "std":
            alike = tb.equal(total, 0)  # where the gradient of the root is infinite
            total = tb.where(alike, 0, tb.sqrt(tb.where(alike, 1, total)))
    return total if options["keepdims"] else tb.squeeze(total, axis=axis_positions(axis, x.ndim))


def _variance(name: str, x: Tensor, options: dict[str, Any]) -> Tensor:
    """The variance of complex numbers, the mean of their squared distances from the mean."""
    total = tb.var(tb.real(x), **options) + tb.var(tb.imag(x), **options)
    return total if name == "var" else tb.sqrt(total)


_EXTREMES: Final = frozenset({"argmax", "argmin", "max", "min"})


def extreme_of_complex(name: str, x: Tensor, axis: Any, keepdims: bool) -> Tensor:
    """The first or last complex number by NumPy's order, or its index; the last one, with a NaN, if there is any."""
    axes = axis_positions(axis, x.ndim)
    if not size(x, axis):
        return ROWS[name].op(tb.real(x), axis=axis, keepdims=keepdims)
    rest = [place for place in range(x.ndim) if place not in axes]
    lines = tb.reshape(tb.permute_dims(x, (*rest, *axes)), (*(x.shape[place] for place in rest), size(x, axis)))
    order = functions["complex_order"](lines, -1)
    index = order[..., -1:]
    if name.endswith("min"):
        index = tb.where(tb.isnan(tb.take_along_axis(lines, index, axis=-1)), index, order[..., :1])
    found = tb.take_along_axis(lines, index, axis=-1)
    if name.startswith("arg"):  # the first of equal ones
        alike = tb.where(tb.isnan(found), tb.isnan(lines), lines == found)
        found = tb.argmax(alike, axis=-1, keepdims=True)
    shape = [1 if place in axes else x.shape[place] for place in range(x.ndim)]
    return tb.reshape(found, shape if keepdims else [x.shape[place] for place in rest])


for _name, _row in ROWS.items():
    functions[_name] = PUBLIC[_name] = _make_function(_name, _row)
for _other, _name in (("amax", "max"), ("amin", "min")):
    functions[_other] = PUBLIC[_other] = PUBLIC[_name]
functions["reduced"] = reduce
