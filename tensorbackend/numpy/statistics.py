"""Statistics: ranges, averages, quantiles, covariances and correlations, and those of the elements that are not NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy

import tensorbackend as tb

from ..dtypes import bool_
from ..errors import ArgumentError, DTypeError
from ..tensor import Tensor
from .arrays import box, functions, ndarray, result, tensor_of
from .conversion import asarray, back, cast, host, tensor
from .dtypes import dtype_of, numpy_dtype
from .functions import Array, Out, function, public
from .reductions import NO_VALUE, extreme_of_complex, no_order
from .shapes import axis_position, axis_positions, known_axis, refuse_lists
from .ufuncs import write_out


@function
def ptp(a: Array, axis: Any = None, out: Out = None, keepdims: Any = False) -> Array:
    """The range: the maximum minus the minimum along axes."""
    refuse_lists(axis)
    axis = known_axis(a, axis)
    if a.dtype.is_complex:
        return extreme_of_complex("max", a, axis, keepdims) - extreme_of_complex("min", a, axis, keepdims)
    return tb.max(a, axis=axis, keepdims=keepdims) - tb.min(a, axis=axis, keepdims=keepdims)


@public
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    """The mean along axes, weighted if weights are given."""
    x = asarray(a)
    if weights is None:
        made = functions["mean"](x, axis, keepdims=keepdims)
        count = x.size / max(functions["size"](made), 1)
        return (made, functions["full"](numpy.shape(made), count, dtype=made.dtype)[()]) if returned else made
    w = asarray(weights)
    least = () if x._template().dtype.is_inexact else (float,)
    x = x.astype(functions["result_type"](x.dtype, w.dtype, *least))
    if w.shape != x.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        axes = axis_positions(axis, x.ndim)
        if w.shape != tuple([x.shape[each] for each in axes]):
            raise ArgumentError("Shape of weights must be consistent with shape of a along specified axis.")
        order = sorted(range(len(axes)), key=axes.__getitem__)
        w = w.transpose(order) if w.ndim else w
        w = w.reshape([size if place in axes else 1 for place, size in enumerate(x.shape)])
        w = functions["broadcast_to"](w, x.shape)
    total = functions["sum"](w, axis, x.dtype, keepdims=keepdims)
    if bool(functions["any"](total == 0)):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    made = functions["sum"](functions["multiply"](x, w), axis, keepdims=keepdims) / total
    return (made, functions["broadcast_to"](total, numpy.shape(made))[()]) if returned else made


_METHODS: Final = frozenset({"linear", "lower", "higher", "midpoint", "nearest"})
"""The methods of quantiles that `tb.quantile` has; NumPy computes the others."""


_DISCRETE: Final = frozenset({"lower", "higher", "nearest", "inverted_cdf", "closest_observation"})
"""The methods whose results are elements, in their dtype."""


def _make_quantile(name: str, scale: int, compute: Callable[..., Any], what: str) -> Callable[..., Any]:
    """NumPy's function of quantiles at fractions of a scale."""

    def quantile(
        a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
        keepdims: bool = False, *, weights: Any = None,
    ) -> Any:  # fmt: skip
        x, given = tensor(a), host(q)
        share = numpy.true_divide(given, scale, dtype=None if numpy.iscomplexobj(given) else float)
        if x.dtype.is_complex:
            raise TypeError("a must be an array of real numbers")
        if share.ndim > 2:
            raise ArgumentError("q must be a scalar or 1d")
        # At 0 and 1, as integers, there is nothing to interpolate: NumPy returns elements, in their dtype.
        ends = scale == 1 and method == "linear" and numpy.asarray(given).dtype.kind in "biu"
        elements = ends or method in _DISCRETE
        source = x.dtype
        if x.dtype is bool_ and not elements and weights is None:
            raise TypeError(f"{name}: bools cannot be subtracted; write x.astype(float)")
        if numpy.iscomplexobj(share) or ((share < 0) | (share > 1)).any():
            raise ArgumentError(f"{'Quantiles' if scale == 1 else 'Percentiles'} must be in the range [0, {scale}]")
        if x.dtype.is_floating:  # a number yields to the dtype of the elements, an array does not
            weak = elements or given.__class__ in (int, float)
            dtype = numpy_dtype(x.dtype)
            x = cast(x, dtype_of(dtype if weak else numpy.result_type(dtype, numpy.true_divide(given, dtype.type(1)))))
        made = compute(x, share, axis, method, bool(keepdims), host(weights))
        made = result(cast(tensor(made), source)) if elements and (x.size or source.is_floating) else made
        if x.dtype.is_integer and weights is None and not elements and given.__class__ not in (int, float):
            kind = getattr(numpy, name)(numpy.zeros(1, numpy_dtype(x.dtype)), given, method=method).dtype
            made = result(cast(tensor(made), dtype_of(kind)))
        casting = "unsafe" if name.startswith("nan") else "same_kind"  # which NumPy assigns
        return made if out is None else write_out(name, out, tensor(made), casting)

    quantile.__name__, quantile.__doc__ = name, f"The {name.removeprefix('nan')}s {what}."
    return public(quantile)


def _quantile(x: Tensor, share: Any, axis: Any, method: Any, keepdims: bool, weights: Any) -> Any:
    if method not in _METHODS or weights is not None:
        found = numpy.quantile(host(x), share, axis, method=method, keepdims=keepdims, weights=weights)
        return back(found.astype(numpy_dtype(x.dtype)) if x.dtype.is_floating else found)
    given = x.dtype
    x = x if given.is_floating else cast(x, tb.float64)
    q = _listed(share) if share.ndim else float(share)
    made = tb.quantile(x, q, axis=axis, keepdims=keepdims, method=method)
    made = made if given.is_floating or method not in _DISCRETE else cast(made, given)
    return result(_in_shape(made, share) if share.ndim else made)


def _listed(share: Any) -> list[float]:
    """Fractions as a list, with one where there is none: its quantile shows the shape of the others."""
    return share.ravel().tolist() or [0.0]


def _in_shape(made: Tensor, share: Any) -> Tensor:
    """The quantiles of listed fractions in the shape of these."""
    return tb.reshape(made[: share.size], share.shape + made.shape[1:])


quantile = _make_quantile("quantile", 1, _quantile, "along axes")
percentile = _make_quantile("percentile", 100, _quantile, "along axes")


@public
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    """The covariances of variables, a row for each."""
    x = _variables(m, rowvar)
    if y is not None:
        x = functions["concatenate"]((x, _variables(y, rowvar)))
    x = x.astype(dtype if dtype is not None else complex if x._template().dtype.is_complex else float)
    ddof = (0 if bias else 1) if ddof is None else ddof
    if ddof != int(ddof):
        raise ArgumentError("ddof must be integer")
    w: Any = None
    for weights, name in ((fweights, "fweights"), (aweights, "aweights")):
        if weights is not None:
            each = asarray(weights)
            if each.ndim > 1:
                raise RuntimeError(f"cannot handle multidimensional {name}")
            if each.shape[0] != x.shape[1]:
                raise RuntimeError(f"incompatible numbers of samples and {name}")
            if bool(functions["any"](functions["less"](each, 0))):
                raise ArgumentError(f"{name} cannot be negative")
            w = functions["multiply"](each, 1.0 if w is None else w)
    if not x.size:
        return functions["squeeze"](functions["full"]((x.shape[0],) * 2, numpy.nan, dtype=x.dtype))
    center, total = average(x, 1, w, returned=True)
    total = total[0] if numpy.ndim(total) else total
    if w is None:
        factor = x.shape[1] - ddof
    elif ddof == 0:
        factor = total
    elif aweights is None:
        factor = total - ddof
    else:
        factor = total - ddof * functions["sum"](w * asarray(aweights)) / total
    x = x - functions["reshape"](center, (-1, 1))
    other = x.T if w is None else (x * w).T
    made = functions["dot"](x, functions["conjugate"](other) if x._template().dtype.is_complex else other)
    factor = float(numpy.real(factor))  # weights of complex numbers are complex numbers
    made = made / factor if factor > 0 else made * numpy.inf
    return functions["squeeze"](made)


def _variables(m: Any, rowvar: bool) -> ndarray:
    x = asarray(m)
    if x.ndim > 2:
        raise ArgumentError("m has more than 2 dimensions")
    x = x.reshape(1, -1) if x.ndim < 2 else x
    return x.T if not rowvar and numpy.ndim(m) > 1 else x


@public
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """The correlations of variables, a row for each."""
    c = cov(x, y, rowvar, dtype=dtype)
    if not numpy.ndim(c):
        return c / c
    if not c.size:
        return c
    deviation = functions["sqrt"](functions["real"](functions["diagonal"](c)))
    c = c / deviation[:, None] / deviation[None, :]
    if c._template().dtype.is_complex:
        t = tensor_of(c)
        return box(tb.complex(tb.clip(tb.real(t), -1, 1), tb.clip(tb.imag(t), -1, 1)))
    return functions["clip"](c, -1, 1)


# Of the elements that are not NaN


def _replace_nan(a: Any, value: Any) -> tuple[Any, Tensor]:
    """An array with a value in place of NaN, and where it was NaN."""
    x = tensor(a)
    if not x.dtype.is_inexact:
        return box(x), tb.zeros(x.shape, dtype=bool_)
    missing = tb.isnan(x)
    return box(tb.where(missing, value, x)), missing


def _entered(function: Callable[..., Any], name: str, text: str) -> Callable[..., Any]:
    function.__name__, function.__doc__ = f"nan{name}", f"`{name}` {text}."
    return public(function)


def _filled(name: str, value: float, text: str) -> Callable[..., Any]:
    def filled(a: Any, *arguments: Any, **options: Any) -> Any:
        return functions[name](_replace_nan(a, value)[0], *arguments, **options)

    return _entered(filled, name, text)


nansum = _filled("sum", 0.0, "of the elements that are not NaN")
nanprod = _filled("prod", 1.0, "of the elements that are not NaN")
nancumsum = _filled("cumsum", 0.0, "with 0 in place of NaN")
nancumprod = _filled("cumprod", 1.0, "with 1 in place of NaN")


def _keeps(keepdims: Any) -> bool:
    return keepdims is not NO_VALUE and bool(keepdims)


def _extreme(name: str, value: float) -> Callable[..., Any]:
    def extreme(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
                where: Any = NO_VALUE) -> Any:  # fmt: skip
        x, missing = _replace_nan(a, value)
        axis = known_axis(missing, axis)
        made = tensor(functions[name](x, axis, None, keepdims, initial, where))
        if initial is NO_VALUE and made.dtype.is_floating:
            made = tb.where(tb.all(missing, axis=axis, keepdims=_keeps(keepdims)), numpy.nan, made)
        return result(made) if out is None else write_out(name, out, made, "unsafe", broadcasts=False)

    return _entered(extreme, name, "of the elements that are not NaN; NaN where all are")


nanmax, nanmin = _extreme("max", -numpy.inf), _extreme("min", numpy.inf)


def _place(name: str, value: float) -> Callable[..., Any]:
    def place(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
        x, missing = _replace_nan(a, value)
        axis = known_axis(missing, axis)
        every = tb.all(missing, axis=axis)
        if every.backend.is_concrete(every) and bool(tb.any(every)):
            raise ArgumentError("All-NaN slice encountered")
        return functions[name](x, axis, out, keepdims=keepdims)

    return _entered(place, name, "of the elements that are not NaN")


nanargmax, nanargmin = _place("argmax", -numpy.inf), _place("argmin", numpy.inf)


@public
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Any:
    """The mean of the elements that are not NaN."""
    if not tensor(a).dtype.is_inexact:
        return functions["mean"](a, axis, dtype, out, keepdims, where=where)
    _check_inexact(out, dtype)
    x, present = _present(a, dtype, where)
    x = x if where is NO_VALUE else tb.where(present, x, numpy.nan)
    refuse_lists(axis)
    made = tb.nanmean(x, axis=known_axis(x, axis), keepdims=_keeps(keepdims))
    return result(made) if out is None else write_out("nanmean", out, made, "unsafe", broadcasts=False)


def _check_inexact(out: Any, dtype: Any) -> None:
    """Raises NumPy's errors for integers and bools as the result of elements that are not."""
    if dtype is not None and not dtype_of(dtype).is_inexact:
        raise DTypeError("If a is inexact, then dtype must be inexact")
    if out is not None and not dtype_of(out.dtype).is_inexact:
        raise DTypeError("If a is inexact, then out must be inexact")


def _present(a: Any, dtype: Any, where: Any) -> tuple[Tensor, Tensor]:
    """The elements in a dtype, and which of them count."""
    x = tensor(a)
    x = x if x.dtype.is_inexact else cast(x, tb.float64)
    present = tb.logical_not(tb.isnan(x))
    present = present if where is NO_VALUE else tb.logical_and(present, cast(tensor(where), bool_))
    return x if dtype is None else cast(x, dtype_of(dtype)), present


def _spread(name: str) -> Callable[..., Any]:
    def spread(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = NO_VALUE, *,
               where: Any = NO_VALUE, mean: Any = NO_VALUE, correction: Any = NO_VALUE) -> Any:  # fmt: skip
        if not tensor(a).dtype.is_inexact:
            options = {"where": where, "mean": mean, "correction": correction}
            return functions[name](a, axis, dtype, out, ddof, keepdims, **options)
        _check_inexact(out, dtype)
        x, present = _present(a, dtype, where)
        axis = known_axis(x, axis)
        keep = _keeps(keepdims)
        ddof = ddof if correction is NO_VALUE else correction
        options = {"ddof": ddof, "keepdims": keep, "where": box(present), "mean": mean}
        made = tensor(functions[name](box(x), axis, **options))
        made = made if made.dtype.is_floating else tb.real(made)
        made = tb.where(tb.sum(present, axis=axis, keepdims=keep) > ddof, made, numpy.nan)
        return result(made) if out is None else write_out(name, out, made, broadcasts=False)

    return _entered(spread, name, "of the elements that are not NaN")


nanvar, nanstd = _spread("var"), _spread("std")


def _nan_quantile(x: Tensor, share: Any, axis: Any, method: Any, keepdims: bool, weights: Any) -> Any:
    """Quantiles of the elements that are not NaN."""
    if not x.dtype.is_floating and weights is None and x.size:
        return _quantile(x, share, axis, method, keepdims, None)
    x = x if x.dtype.is_floating or x.size else cast(x, tb.float64)  # the NaNs of no element
    if method != "linear" or weights is not None:
        if weights is not None and numpy.ndim(weights) == 1 and x.ndim > 1 and axis.__class__ is int:
            place = axis_position(axis, x.ndim)  # NumPy drops the NaNs of each line, and needs as many weights
            weights = numpy.reshape(weights, [-1 if each == place else 1 for each in range(x.ndim)])
            weights = numpy.broadcast_to(weights, x.shape)
        found = numpy.nanquantile(host(x), share, axis, method=method, keepdims=keepdims, weights=weights)
        return back(found.astype(numpy_dtype(x.dtype)) if x.dtype.is_floating else found)
    return result(_in_shape(tb.nanquantile(x, _listed(share), axis=axis, keepdims=keepdims), share))


nanquantile = _make_quantile("nanquantile", 1, _nan_quantile, "of the elements that are not NaN")
nanpercentile = _make_quantile("nanpercentile", 100, _nan_quantile, "of the elements that are not NaN")


@public
def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    """The median of the elements that are not NaN."""
    x = tensor(a)
    if x.dtype.is_complex:
        raise no_order("nanmedian")
    x = x if x.dtype.is_floating else cast(x, tb.float64)
    made = tb.nanmedian(x, axis=axis, keepdims=bool(keepdims))
    return result(made) if out is None else write_out("nanmedian", out, made, "unsafe")
