"""Universal functions: NumPy's names, dtypes and options, computed by the library's ops.

A universal function is generated from its row of `ufunc_table.py` by `ufunc_code.py`: a call of arrays of dtypes for
which the op agrees with NumPy is straight-line code, with one look-up by the dtypes, one op, one array. Everything else
(lists, other dtypes, `out=`, `where=`, `dtype=`) is handled by `call`. `promotion.py` finds the dtypes.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

import numpy

import tensorbackend as tb

from ..dtypes import DType, bool_
from ..errors import ArgumentError, DTypeError, OperandError, OutOfRangeError, TemplateDataError, expected
from ..select import call_with_default
from ..template import Template
from ..tensor import Tensor
from .arrays import ndarray, replace, result
from .conversion import NUMBERS, back, cast, host, operand, tensor
from .dtypes import HostOnlyError, dtype_of, is_host_only, numpy_dtype
from .homes import home_of
from .host_arrays import call_on_host
from .overrides import COMMON, call_override, overrides
from .promotion import Plan, Spec, infinite_beyond, kind_of, make_plan, plan_call
from .ufunc_table import COMPARISON_METHODS, COMPARISONS, OPERATORS


def call(spec: Spec, arguments: Sequence[Any], out: Any = None, **options: Any) -> Any:
    """A call of a universal function with any arguments of NumPy."""
    if out is None and not options and NUMBERS.issuperset([value.__class__ for value in arguments]):
        return spec.by_numpy(*arguments)
    home = home_of((*arguments, out, *options.values()) if options or out is not None else arguments)
    if home is not None:
        return call_with_default(home, partial(call, spec, arguments, out, **options))
    try:
        if not COMMON.issuperset(map(type, arguments)) and any(map(overrides, arguments)):
            made = call_override(spec.by_numpy, arguments, options if out is None else {"out": out, **options})
            if made is not NotImplemented:
                return made
        return _call(spec, arguments, out, **options)
    except HostOnlyError as error:
        only = error
    if len(arguments) > spec.nin:
        arguments, out = arguments[: spec.nin], arguments[spec.nin :]
    return call_on_host(spec.by_numpy, only, arguments, options if out is None else {"out": out, **options})


def _call(
    spec: Spec, arguments: Sequence[Any], out: Any = None, where: Any = True, dtype: Any = None, casting: Any = None,
    signature: Any = None, sig: Any = None, order: str = "K", subok: bool = True, **others: Any,
) -> Any:  # fmt: skip
    if others:
        if spec.by_numpy.signature and not others.keys() - {"axes", "axis", "keepdims"}:
            return _call_along_axes(spec, arguments, others, out=out, where=where, dtype=dtype, casting=casting)
        raise TypeError(f"{spec.name}() got an unexpected keyword argument {next(iter(others))!r}")
    signature = sig if signature is None else signature
    if signature is not None:
        dtype = _dtype_of_signature(signature)
    if len(arguments) > spec.nin:
        given = arguments[spec.nin :]
        arguments, out = arguments[: spec.nin], given if out is None else out
    if isinstance(out, tuple):
        out = out if any(each is not None for each in out) else None
    elif out is not None:
        out = (out,)
    if dtype is not None and out is None and where is True and NUMBERS.issuperset([x.__class__ for x in arguments]):
        return spec.by_numpy(*arguments, dtype=numpy_dtype(dtype_of(dtype)))
    operands = [operand(value) for value in arguments]
    if NUMBERS.issuperset([value.__class__ for value in operands]):
        operands = [tensor(operands[0]), *operands[1:]]
    kinds = tuple([kind_of(value) for value in operands])
    if dtype is None and casting is None:
        plan = plan_call(spec, kinds)
    else:
        plan = make_plan(spec, kinds, None if dtype is None else dtype_of(dtype), casting or "same_kind")
    try:
        results = compute(spec, plan, operands)
    except OutOfRangeError:
        if spec.name in COMPARISONS:
            results = (_compare_with_number_out_of_range(spec, operands),)
        else:
            dtypes = [next(x.dtype for x in operands if isinstance(x, Tensor))] * spec.nin
            operands = list(map(infinite_beyond, operands, dtypes if plan is None else plan.operands))
            results = compute(spec, plan, operands)
    if where is not True:
        results = _apply_mask(spec.name, results, where, out, casting or "same_kind")
    if out is None:
        boxed = tuple(map(result, results))
    else:
        targets = (*out, *(None,) * (len(results) - len(out)))
        if spec.nout > 1:  # all of them first, so that none is written to if another one does not fit
            results = tuple([
                _fitted(spec.name, target._template(), each, casting or "same_kind") if target.__class__ is ndarray
                else each for target, each in zip(targets, results, strict=True)
            ])  # fmt: skip
        boxed = tuple([
            result(each) if target is None else write_out(spec.name, target, each, casting or "same_kind")
            for target, each in zip(targets, results, strict=True)
        ])  # fmt: skip
    return boxed if spec.nout > 1 else boxed[0]


def _dtype_of_signature(signature: Any) -> Any:
    if isinstance(signature, str):
        return signature.partition("->")[2][:1] or signature
    return next((each for each in reversed(tuple(signature)) if each is not None), None)


def compute(spec: Spec, plan: Plan | None, operands: Sequence[Any]) -> tuple[Tensor, ...]:
    """The result of a function for tensors and numbers by a plan."""
    if plan is None:
        given = spec.op(*operands)
        return given if isinstance(given, tuple) else (given,)
    given = plan.op(*map(_cast_operand, operands, plan.operands))
    results = given if isinstance(given, tuple) else (given,)
    return tuple(map(cast, results, plan.results))


def _cast_operand(value: Any, dtype: DType) -> Any:
    if isinstance(value, Tensor):
        return value if value.dtype is dtype else cast(value, dtype)
    if isinstance(value, numpy.generic):
        return tensor(value.astype(numpy_dtype(dtype)))
    if value.__class__ is bool:
        return int(value) if dtype.is_numeric else value
    if value.__class__ in (float, complex) and (dtype.is_integer or (dtype.is_floating and value.__class__ is complex)):
        return cast(tensor(value), dtype)  # which `casting="unsafe"` asks for
    return float(value) if value.__class__ is int and dtype.is_floating else value


def _apply_mask(name: str, results: Sequence[Tensor], where: Any, out: Any, casting: Any) -> tuple[Tensor, ...]:
    """Results where a mask is true, elsewhere the elements of `out`, or 0."""
    mask = tensor(where)
    if mask.dtype is not bool_:
        mask = cast(mask, bool_)
    before = [None] * len(results) if out is None else [None if x is None else tensor(x) for x in out]
    return tuple([
        tb.where(mask, each, False if each.dtype is bool_ else 0) if old is None
        else tb.where(mask, _cast_to_out(name, each, old.dtype, casting), old)
        for each, old in zip(results, [*before, *[None] * (len(results) - len(before))], strict=True)
    ])  # fmt: skip


def write_out(name: str, out: Any, value: Tensor, casting: Any = "same_kind", *, broadcasts: bool = True) -> ndarray:
    """The array `out`, with the elements of a tensor, which must have its shape if nothing broadcasts."""
    if out.__class__ is not ndarray:
        if isinstance(out, tuple) and len(out) == 1:
            return write_out(name, out[0], value, casting, broadcasts=broadcasts)
        if isinstance(out, numpy.ndarray):
            _refuse_shape(name, out.shape, value, broadcasts)
            numpy.copyto(out, numpy.asarray(value), casting=casting)
            return out  # type: ignore[return-value] # NumPy's own array, as it was given
        raise OperandError(expected("an array for out", out=out))
    replace(out, _fitted(name, out._template(), value, casting, broadcasts))
    return out


def _fitted(name: str, template: Template, value: Tensor, casting: Any, broadcasts: bool = True) -> Tensor:
    """A result in the shape and dtype of `out`."""
    _refuse_shape(name, template.shape, value, broadcasts)
    value = _cast_to_out(name, value, template.dtype, casting)
    if value.template.shape != template.shape:
        try:
            fits = tb.broadcast_shapes(value.shape, template.shape) == template.shape
        except tb.errors.ShapeError:
            fits = False
        if not fits:
            text = f"non-broadcastable output operand with shape {template.shape} doesn't match the broadcast shape"
            raise tb.errors.ShapeError(f"{text} {value.shape}")
        value = tb.broadcast_to(value, template.shape)
    return value


def _refuse_shape(name: str, shape: tuple[int, ...], value: Tensor, broadcasts: bool) -> None:
    """Refuses an `out` of another shape where NumPy broadcasts nothing to it."""
    if not broadcasts and value.template.shape != shape:
        raise tb.errors.ShapeError(f"{name}: expected an out of shape {value.template.shape}, got shape {shape}")


def _cast_to_out(name: str, value: Tensor, dtype: DType, casting: Any) -> Tensor:
    """A result in the dtype of `out`, if NumPy's rule of casting allows it."""
    if value.template.dtype is dtype:
        return value
    if not numpy.can_cast(numpy_dtype(value.dtype), numpy_dtype(dtype), casting):
        from_, to = numpy_dtype(value.dtype), numpy_dtype(dtype)
        text = f"Cannot cast ufunc '{name}' output from {from_!r} to {to!r} with casting rule '{casting}'"
        raise DTypeError(text)
    return cast(value, dtype)


def _compare_with_number_out_of_range(spec: Spec, operands: Sequence[Any]) -> Tensor:
    """The comparison of integers with a Python integer that their dtype does not hold: the same for each element."""
    first, second = operands
    x, number = (first, second) if isinstance(first, Tensor) else (second, first)
    side = 1 if number > 0 else -1
    found = spec.by_numpy(0, side) if x is first else spec.by_numpy(side, 0)
    return tb.full_like(x, bool(found), dtype=bool_)


def _call_along_axes(spec: Spec, arguments: Sequence[Any], along: dict[str, Any], **options: Any) -> Any:
    """A function of vectors or matrices along given axes: the operands with these axes at the end."""
    counts = [
        len([each for each in part.split(",") if each]) for part in re.findall(r"\(([^)]*)\)", spec.by_numpy.signature)
    ]
    axes, axis, keeps = along.get("axes"), along.get("axis"), along.get("keepdims", False)
    if axes is not None and axis is not None:
        raise TypeError("cannot specify both 'axis' and 'axes'")
    if keeps and (counts[-1] or len({*counts[:-1]}) > 1):
        raise TypeError(f"{spec.name} does not support keepdims: its signature {spec.by_numpy.signature} does not")
    if axis is not None:
        if {*counts[:-1]} != {1} or counts[-1]:
            raise TypeError(f"{spec.name}: axis can only be used with a single shared core dimension")
        axes = [axis] * (len(counts) - 1)
    places = [
        [*range(-count, 0)] if axes is None or number >= len(axes)
        else [*axes[number]] if isinstance(axes[number], tuple | list) else [int(axes[number])]
        for number, count in enumerate(counts)
    ]  # fmt: skip
    for number, (given, count) in enumerate(zip(places, counts, strict=True)):
        if len(given) != count:
            raise ArgumentError(f"{spec.name}: operand {number} has {count} core dimensions, but axes has {len(given)}")
    moved = [
        tb.moveaxis(tensor(each), given, [*range(-len(given), 0)])
        for each, given in zip(arguments, places[:-1], strict=True)
    ]  # fmt: skip
    out = options.pop("out")
    made = tensor(call(spec, [result(each) for each in moved], **options))
    if counts[-1]:
        made = tb.moveaxis(made, [*range(-counts[-1], 0)], places[-1])
    elif keeps:
        made = tb.expand_dims(made, axis=places[0][0])
    return result(made) if out is None else write_out(spec.name, out, made, options["casting"] or "same_kind")


def change(spec: Spec, x: ndarray, other: Any) -> Any:
    """`x += other` and the like: a new number for one without axes, else `x`, written to."""
    if not x._template().shape and x._t is not None and getattr(x, "_how", None) is None:
        return call(spec, (x, other))
    return call(spec, (x, other), out=x)


_SYMBOLS: Final[dict[str, Callable[..., Any]]] = {
    name: divmod if method == "divmod" else getattr(operator, f"__{method}__")
    for method, name in {**OPERATORS, **COMPARISON_METHODS}.items()
}
"""The operator of a universal function."""


def operate(spec: Spec, x: Any, y: Any) -> Any:
    """`x + y` and the like, if it is not straight-line."""
    other = y if x.__class__ is ndarray else x
    kind = other.__class__
    if kind not in NUMBERS and kind is not ndarray:
        if isinstance(other, numpy.ndarray) and kind is not numpy.ndarray and is_host_only(other):
            return back(_SYMBOLS[spec.name](host(x), host(y)))  # a subclass such as np.matrix has operators of its own
        if _is_object(other):
            with suppress(TemplateDataError):
                return back(_SYMBOLS[spec.name](host(x), host(y)))
        if overrides(other) and hasattr(other, "__array_ufunc__"):
            return call(spec, (x, y))
        if getattr(other, "__array_ufunc__", 0) is None or _has_operators_of_its_own(other):
            return NotImplemented
        if other is None or isinstance(other, str):
            if spec.name in ("equal", "not_equal"):
                like = tensor(x if x.__class__ is ndarray else y)
                return result(tb.full_like(like, spec.name == "not_equal", dtype=bool_))
            return NotImplemented
    return call(spec, (x, y))


_OF_ARRAYS: Final = "__array__", "__array_ufunc__", "__array_function__", "__array_priority__", "__dlpack__", "__len__"
"""What arrays, their wrappers and sequences have, and numbers of other libraries have not."""


def _is_object(other: Any) -> bool:
    """Whether an operand is a number of another library, such as a `Fraction`: NumPy makes an array of objects."""
    kind = type(other)
    if kind.__module__.partition(".")[0] == __name__.partition(".")[0] or not hasattr(kind, "__radd__"):
        return False
    return not any(hasattr(kind, each) for each in _OF_ARRAYS)


def _has_operators_of_its_own(other: Any) -> bool:
    """Whether an operand is more than an array, such as a `pandas.Series` or a sparse matrix."""
    if isinstance(other, Tensor | numpy.ndarray | list | tuple | range):
        return False
    if getattr(other, "__array_priority__", 0) > 0 and not hasattr(other, "__array_ufunc__"):
        return True
    return hasattr(other, "__radd__") and not hasattr(other, "__array_interface__") and not hasattr(other, "__dlpack__")


class UfuncType(type):
    """Makes `isinstance(np.add, np.ufunc)` true: universal functions are functions with methods."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return hasattr(instance, "spec") and hasattr(instance, "nin")


class ufunc(metaclass=UfuncType):
    """The class of universal functions, for `isinstance`."""


ufunc.__module__ = __package__
