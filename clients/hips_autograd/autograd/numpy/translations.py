"""NumPy's functions on tensors, where the name, the parameters or their order differ from tensorbackend's.

All other functions use `Tensor.__array_function__` and `__array_ufunc__`, as for any user of NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy

import tensorbackend as tb

from ..values import has_tensor, to_tensor

Function = Callable[..., Any]


def _stacked(value: Any) -> Any:
    """Return a tensor made of nested lists, which may hold tensors."""
    if isinstance(value, list | tuple) and has_tensor(value):
        return tb.stack(_alike([_stacked(each) for each in value]))
    return to_tensor(value)


def _alike(tensors: Sequence[Any]) -> list[Any]:
    """Convert tensors to their common dtype."""
    made = [_stacked(each) for each in tensors]
    dtype = tb.result_type(*made)
    return [tb.astype(each, dtype) for each in made]


def _dot(a: Any, b: Any) -> Any:
    a, b = to_tensor(a), to_tensor(b)
    if not a.ndim or not b.ndim:
        return a * b
    return tb.tensordot(a, b, axes=((a.ndim - 1,), (max(b.ndim - 2, 0),)))


def _inner(a: Any, b: Any) -> Any:
    a, b = to_tensor(a), to_tensor(b)
    return a * b if not a.ndim or not b.ndim else tb.tensordot(a, b, axes=((a.ndim - 1,), (b.ndim - 1,)))


def _array(value: Any, dtype: Any = None, **options: Any) -> Any:
    made = _stacked(value)
    return made if dtype is None else tb.astype(made, dtype)


def _joined(join: Function) -> Function:
    return lambda tensors, axis=0: join(_alike(tensors), axis=axis)


def _atleast(ndim: int) -> Function:
    def raised(x: Any) -> Any:
        x = to_tensor(x)
        shape = {0: (1,) * ndim, 1: (1, *x.shape, 1)[3 - ndim :], 2: (*x.shape, 1)[: max(ndim, 2)]}.get(x.ndim, x.shape)
        return tb.reshape(x, shape if x.ndim < ndim else x.shape)

    return raised


def _columns(tensors: Sequence[Any]) -> Any:
    made = [_atleast(1)(each) for each in tensors]
    return tb.concat(_alike([each[:, None] if each.ndim == 1 else each for each in made]), axis=1)


def _hstack(tensors: Sequence[Any]) -> Any:
    made = [_atleast(1)(each) for each in tensors]
    return tb.concat(_alike(made), axis=0 if made[0].ndim == 1 else 1)


def _pieces(axis: int | None = None) -> Function:
    def split(x: Any, sections: Any, axis: int = axis or 0) -> Any:
        if axis == 1 and x.ndim == 1:
            axis = 0
        indices = numpy.array_split(numpy.arange(x.shape[axis]), sections)
        bounds = numpy.cumsum([0, *map(len, indices)])
        keys = (slice(None),) * axis
        return [x[(*keys, slice(int(a), int(b)))] for a, b in pairwise(bounds)]

    return split


def _pad(x: Any, width: Any, mode: str = "constant", **options: Any) -> Any:
    return tb.pad(
        x, [tuple(each) for each in numpy.broadcast_to(numpy.asarray(width), (x.ndim, 2)).tolist()], mode=mode
    )


def _rollaxis(x: Any, axis: int, start: int = 0) -> Any:
    axis, start = axis % x.ndim, start + x.ndim if start < 0 else start
    return tb.moveaxis(x, axis, start - (axis < start))


def _by_positions(function: Function) -> Function:
    """Return a function for tensors that moves entries as NumPy's function does, by applying that one to positions."""

    def moved(x: Any, *arguments: Any, **options: Any) -> Any:
        order = function(numpy.arange(x.size).reshape(x.shape), *arguments, **options)
        return tb.reshape(tb.take(tb.reshape(x, (-1,)), tb.asarray(order.ravel())), order.shape)

    return moved


def _lower(uplo: str, x: Any) -> Any:
    """Return a symmetric or Hermitian matrix so that its lower triangle holds the given one."""
    return x if uplo == "L" else tb.conj(tb.matrix_transpose(x)) if x.dtype.is_complex else tb.matrix_transpose(x)


def _kron(a: Any, b: Any) -> Any:
    a, b = _alike([a, b])
    ndim = max(a.ndim, b.ndim)
    a, b = (tb.reshape(each, (1,) * (ndim - each.ndim) + each.shape) for each in (a, b))
    product = tb.tensordot(a, b, axes=0)
    order = [axis for pair in zip(range(ndim), range(ndim, 2 * ndim), strict=True) for axis in pair]
    return tb.reshape(tb.permute_dims(product, order), [m * n for m, n in zip(a.shape, b.shape, strict=True)])


def _finite(x: Any) -> Any:
    """Replace NaN by 0 and infinities by the largest finite numbers."""
    greatest = tb.full_like(x, tb.finfo(x.dtype).max)
    return tb.where(tb.isnan(x), tb.zeros_like(x), tb.where(tb.isinf(x), tb.where(x > 0, greatest, -greatest), x))


def _svd(x: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    return tb.linalg.svd(x, full_matrices=full_matrices) if compute_uv else tb.linalg.svdvals(x)


def _letters(axes: Sequence[Any]) -> str:
    """Convert axis numbers to letters of subscripts."""
    return "".join("..." if each is Ellipsis else chr(ord("a") + each) for each in axes)


def _einsum(*operands: Any, **options: Any) -> Any:
    """`einsum` with subscripts in a string, or with a list of axes after each operand."""
    if isinstance(operands[0], str):
        return tb.einsum(operands[0], *map(to_tensor, operands[1:]))
    pairs = list(zip(operands[::2], operands[1::2], strict=False))
    target = f"->{_letters(operands[-1])}" if len(operands) % 2 else ""
    return tb.einsum(",".join(_letters(axes) for _, axes in pairs) + target, *[to_tensor(x) for x, _ in pairs])


def _cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = _alike([tb.moveaxis(to_tensor(a), axisa, -1), tb.moveaxis(to_tensor(b), axisb, -1)])
    return tb.moveaxis(tb.linalg.cross(a, b), -1, axisc)


def _cumulative(x: Any, axis: int | None = None) -> Any:
    return tb.cumulative_sum(tb.reshape(x, (-1,)) if axis is None else x, axis=axis or 0)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = _stacked(x)
    if axis is None and ord is None:
        return tb.linalg.vector_norm(x, keepdims=keepdims)
    if isinstance(axis, int) or (axis is None and x.ndim == 1):
        return tb.linalg.vector_norm(x, axis=axis, ord=2 if ord is None else ord, keepdims=keepdims)
    if axis is not None:
        x = tb.moveaxis(x, axis, (-2, -1))
    return tb.linalg.matrix_norm(x, ord="fro" if ord is None else ord)


def _solve(a: Any, b: Any) -> Any:
    return tb.linalg.solve(to_tensor(a), to_tensor(b))


def _statistic(function: Function) -> Function:
    def along(x: Any, axis: Any = None, keepdims: bool = False, ddof: int | None = None) -> Any:
        x = _stacked(x)
        options = {} if ddof is None else {"correction": ddof}
        return function(x, axis=axis, keepdims=keepdims, **options)

    return along


def _fourier(name: str, shape_and_axes: bool = False) -> Function:
    function = getattr(tb.fft, name)

    def transform(x: Any, *arguments: Any, **options: Any) -> Any:
        named = dict(zip(("s", "axes") if shape_and_axes else ("n", "axis"), arguments, strict=False))
        return function(x, **{**named, **options})

    return transform


def _over_two(name: str) -> Function:
    function = getattr(tb.fft, name)
    return lambda x, s=None, axes=(-2, -1), norm="backward": function(x, s=s, axes=axes, norm=norm or "backward")


def _where(condition: Any, a: Any = None, b: Any = None) -> Any:
    return tb.where(tb.asarray(condition), *_alike([a, b]))


def _select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Any:
    chosen = to_tensor(default)
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        chosen = _where(condition, choice, chosen)
    return chosen


def _binary(function: Function) -> Function:
    return lambda a, b: function(to_tensor(a), to_tensor(b))


def _diag(x: Any, k: int = 0) -> Any:
    return tb.make_diagonal(x, offset=k) if x.ndim == 1 else tb.linalg.diagonal(x, offset=k)


def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    a, b = to_tensor(a), to_tensor(b)
    if isinstance(axes, int | numpy.integer):
        axes = int(axes)
        return a * b if axes == 0 and not (a.ndim and b.ndim) else tb.tensordot(a, b, axes=axes)
    first, second = ((each,) if isinstance(each, int) else tuple(map(int, each)) for each in axes)
    return tb.tensordot(a, b, axes=(first, second))


TRANSLATIONS: dict[str, Function] = {
    "abs": tb.abs,
    "absolute": tb.abs,
    "fabs": tb.abs,
    "angle": lambda x: tb.atan2(tb.imag(x), tb.real(x)) if x.dtype.is_complex else tb.atan2(x * 0, x),
    "append": lambda a, b, axis=None: tb.concat(
        _alike([a, b]) if axis is not None else [tb.reshape(x, (-1,)) for x in _alike([a, b])], axis=axis or 0
    ),
    "array": _array,
    "array_split": _pieces(),
    "asarray": _array,
    "atleast_1d": _atleast(1),
    "atleast_2d": _atleast(2),
    "atleast_3d": _atleast(3),
    "column_stack": _columns,
    "concatenate": _joined(tb.concat),
    "cross": _cross,
    "deg2rad": lambda x: x * (numpy.pi / 180),
    "degrees": lambda x: x * (180 / numpy.pi),
    "diag": _diag,
    "diagonal": lambda x, offset=0, axis1=0, axis2=1: tb.linalg.diagonal(
        tb.moveaxis(x, (axis1, axis2), (-2, -1)), offset=offset
    ),
    "dot": _dot,
    "dsplit": _pieces(2),
    "einsum": _einsum,
    "exp2": lambda x: 2.0**x,
    "clip": lambda x, a_min=None, a_max=None: tb.clip(x, a_min, a_max),
    "flipud": lambda x: tb.flip(x, axis=0),
    "fliplr": lambda x: tb.flip(x, axis=1),
    "cumsum": _cumulative,
    "imag": lambda x: tb.imag(x) if x.dtype.is_complex else x * 0,
    "fmax": _binary(tb.maximum),
    "fmin": _binary(tb.minimum),
    "hsplit": _pieces(1),
    "hstack": _hstack,
    "inner": _inner,
    "kron": _kron,
    "logaddexp2": lambda a, b: tb.logaddexp(to_tensor(a) * numpy.log(2), to_tensor(b) * numpy.log(2)) / numpy.log(2),
    "make_diagonal": lambda x, offset=0, axis1=-2, axis2=-1: tb.make_diagonal(to_tensor(x), offset=offset),
    "matmul": _binary(tb.matmul),
    "max": _statistic(tb.max),
    "amax": _statistic(tb.max),
    "mean": _statistic(tb.mean),
    "min": _statistic(tb.min),
    "amin": _statistic(tb.min),
    "nan_to_num": _finite,
    "ndim": lambda x: x.ndim,
    "outer": lambda a, b: tb.outer(tb.reshape(to_tensor(a), (-1,)), tb.reshape(to_tensor(b), (-1,))),
    "pad": _pad,
    "prod": _statistic(tb.prod),
    "rad2deg": lambda x: x * (180 / numpy.pi),
    "radians": lambda x: x * (numpy.pi / 180),
    "ravel": lambda x, order="C": tb.reshape(x if order == "C" else x.T, (-1,)),
    "real_if_close": lambda x: x,
    "reshape": lambda x, shape, order="C": tb.reshape(x, (shape,) if isinstance(shape, int) else tuple(shape)),
    "roll": lambda x, shift, axis=None: tb.roll(x, shift, axis=axis),
    "rollaxis": _rollaxis,
    "rot90": _by_positions(numpy.rot90),
    "row_stack": lambda tensors: tb.concat(_alike([_atleast(2)(each) for each in tensors])),
    "select": _select,
    "sinc": lambda x: tb.where(
        x == 0,
        tb.ones_like(x),
        tb.sin(numpy.pi * tb.where(x == 0, tb.ones_like(x), x)) / (numpy.pi * tb.where(x == 0, tb.ones_like(x), x)),
    ),
    "split": _pieces(),
    "stack": _joined(tb.stack),
    "std": _statistic(tb.std),
    "sum": _statistic(tb.sum),
    "swapaxes": lambda x, axis1, axis2: tb.moveaxis(x, (axis1, axis2), (axis2, axis1)) if axis1 != axis2 else x,
    "tensordot": _tensordot,
    "tile": lambda x, reps: tb.tile(to_tensor(x), (reps,) if isinstance(reps, int) else tuple(reps)),
    "trace": lambda x, offset=0, axis1=0, axis2=1: tb.linalg.trace(
        tb.moveaxis(x, (axis1, axis2), (-2, -1)), offset=offset
    ),
    "transpose": lambda x, axes=None: tb.permute_dims(x, axes or tuple(range(x.ndim))[::-1]),
    "var": _statistic(tb.var),
    "vsplit": _pieces(),
    "vstack": lambda tensors: tb.concat(_alike([_atleast(2)(each) for each in tensors])),
    "where": _where,
    "linalg.norm": _norm,
    "linalg.solve": _solve,
    "linalg.svd": _svd,
    "linalg.eigh": lambda x, UPLO="L": tb.linalg.eigh(_lower(UPLO, x)),
    "linalg.eigvalsh": lambda x, UPLO="L": tb.linalg.eigvalsh(_lower(UPLO, x)),
    **{f"fft.{name}": _fourier(name) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"fft.{name}": _fourier(name, True) for name in ("fftn", "ifftn", "rfftn", "irfftn")},
    **{f"fft.{name}2": _over_two(f"{name}n") for name in ("fft", "ifft", "rfft", "irfft")},
}
