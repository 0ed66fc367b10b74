"""Evenly spaced numbers."""

from __future__ import annotations

import cmath
import math
from typing import Any

from ...caching.option_keys import NUMBERS
from ...declarations.argument_errors import check_arguments
from ...dispatch import primitive
from ...dtypes import DType, DTypeLike, Scalar, as_dtype, check_scalar, complex128, default_dtype, float64, scalar_kind
from ...errors import ArgumentError, DTypeError, OperandError, ShapeError, expected
from ...protocol import BackendLike
from ...rules.broadcasting import broadcast, check_dtype, result_type, to_floating
from ...rules.plan import Plan, flag, integer
from ...select import creation_backend, get_backend, home_of
from ...sizes import apply, index, is_size, maximum
from ...template import Template, weak_template
from ...tensor import Like, Tensor, TensorLike
from ..composite.shape.arranging import moveaxis
from ..elementwise.basic import astype, where
from ..elementwise.binary import pow
from ..shape import reshape
from .filled import asarray, iota, tensor
from .foreign_arrays import is_array
from .values import beside


def _known_number(value: Any) -> tuple[Scalar, Template]:
    """The Python number in a number, an array or a tensor without axes, and its template."""
    kind = scalar_kind(value)
    if kind is not None:
        return value, weak_template(kind)
    if not isinstance(value, Tensor) and not is_array(value):
        raise OperandError(expected("numbers, or tensors without axes", value=value))
    tensor = asarray(value)
    if tensor.ndim:
        raise ShapeError(expected("a tensor without axes", tensor=tensor.template))
    return tensor.item(), tensor.template


@primitive.calls("spaced")
def _arange(
    start: int | float,
    stop: int | float,
    step: int | float,
    *,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    backend: BackendLike = None,
    device: str | None = None,
    like: Like = None,
) -> Plan:
    for number in (start, stop, step):
        if is_size(number):
            continue
        if scalar_kind(number) not in ("int", "float", "bool") or number != number or abs(number) == math.inf:
            raise OperandError(expected("finite numbers for start, stop and step", number=number))
    if step == 0:
        raise ArgumentError(expected("a step other than 0", start=start, stop=stop, step=step))
    whole = all(scalar_kind(number) != "float" for number in (start, stop, step))
    target_dtype = default_dtype("int" if whole else "float") if dtype is None else as_dtype(dtype)
    length = maximum(0, -((start - stop) // step) if whole else math.ceil((stop - start) / step))
    if target_dtype.kind == "bool":
        raise DTypeError(expected("a numeric dtype", "compare a range of numbers instead", dtype=target_dtype))
    for number in (start, start + (length - 1) * step) if length else ():
        if not is_size(number):
            check_scalar(int(number) if target_dtype.is_integer else number, target_dtype)
    # The step of a range of at most one element is not used, and may be beyond the dtype.
    step = step if length > 1 else 1
    exact = whole and target_dtype.is_integer
    if not exact:
        for number in (start, step):
            if not is_size(number):
                check_scalar(number, float64)
    out = Template((length if is_size(length) else int(length),), target_dtype, (name,))
    start, step = (
        (number if exact and is_size(number) else apply(int if exact else float, number)) for number in (start, step)
    )
    return Plan(out, (), {"start": start, "step": step, "last": None})


@check_arguments
def arange(
    start: TensorLike,
    /,
    stop: TensorLike | None = None,
    step: TensorLike = 1,
    dtype: DTypeLike | None = None,
    *,
    name: str | None = None,
    backend: BackendLike = None,
    device: str | None = None,
    like: Like = None,
) -> Tensor:
    """Numbers from `start` (0 if only one bound is given) up to but not `stop`, `step` apart.

    The result has ceil((stop - start) / step) elements `start + i * step`, computed in 64 bits and then rounded. The
    dtype is the default one of the widest kind among the three numbers, or the common dtype of tensors and arrays among
    them. These must have no axes, and must have data. Raises `ArgumentError` for a step of 0.

    >>> tb.arange(5, 0, -2).tolist(), tb.arange(1.0, name="n").template
    ([5, 3, 1], f32[n: 1])
    """
    if stop is None:
        start, stop = 0, start
    numbers: Any = start, stop, step
    if not (start.__class__ in NUMBERS and stop.__class__ in NUMBERS and step.__class__ in NUMBERS):
        known = [_known_number(number) for number in numbers]
        numbers, dtype = [number for number, _ in known], dtype or _common([template for _, template in known])
    first, last, pace = numbers
    return _arange(first, last, pace, dtype=dtype, name=name, backend=backend, device=device, like=like)


def _common(templates: list[Template]) -> DType | None:
    """The dtype to which templates promote, the default integer dtype in place of bool; `None` if all are of Python
    numbers."""
    if all(template.weak for template in templates):
        return None
    dtype = result_type(templates)
    return dtype if dtype.is_numeric else default_dtype("int")


@primitive.calls("spaced")
def _linspace(
    start: Scalar,
    stop: Scalar,
    num: int,
    *,
    dtype: DTypeLike | None = None,
    endpoint: bool = True,
    name: str | None = None,
    backend: BackendLike = None,
    device: str | None = None,
    like: Like = None,
) -> Plan:
    if index(num) < 0:
        raise ArgumentError(expected("at least 0 elements", num=num))
    gaps = num - 1 if flag(endpoint=endpoint) else num
    kinds = {scalar_kind(start), scalar_kind(stop)}
    target_dtype = default_dtype("complex" if "complex" in kinds else "float") if dtype is None else as_dtype(dtype)
    for number in (start, stop):
        check_scalar(number, target_dtype if target_dtype.is_inexact else float64)
    step = (stop - start) / maximum(gaps, 1) if is_size(gaps) or gaps > 0 else 0.0
    if not is_size(step) and not cmath.isfinite(step):  # the difference overflows, its parts do not
        step = stop / gaps - start / gaps
    kind: type[Any] = complex if target_dtype.is_complex else float
    last = kind(stop) if endpoint and num > 1 else None  # rounding must not miss `stop`
    return Plan(
        Template((num,), target_dtype, (name,)), (), {"start": kind(start), "step": apply(kind, step), "last": last}
    )


_WHOLE = 2**53
"""Beyond it float64 does not hold all integers."""


def _linspace_of_integers(start: int, stop: int, num: int, dtype: DType, endpoint: bool) -> list[int] | None:
    """Evenly spaced integers, rounded towards 0 as a cast does; `None` for another dtype."""
    gaps = num - 1 if endpoint else num
    if not dtype.is_integer or num < 0:
        return None
    numbers = ((start * gaps + place * (stop - start), gaps) if gaps else (start, 1) for place in range(num))
    return [abs(number) // divisor * (1 if number >= 0 else -1) for number, divisor in numbers]


@check_arguments
def linspace(
    start: TensorLike,
    stop: TensorLike,
    /,
    num: int,
    *,
    dtype: DTypeLike | None = None,
    endpoint: bool = True,
    name: str | None = None,
    axis: int = 0,
    backend: BackendLike = None,
    device: str | None = None,
    like: Like = None,
) -> Tensor:
    """`num` evenly spaced numbers from `start` to `stop`, which is included if `endpoint`.

    If `start` or `stop` is a tensor, the two broadcast, and the numbers run along a new axis of the result at the
    position `axis`. The numbers are computed in 64 bits and rounded. The dtype is the default floating or complex one,
    or the floating or complex dtype to which the tensors promote.

    >>> tb.linspace(0, 1, 5).tolist(), tb.linspace(0, 1, 4, endpoint=False).tolist()
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 0.25, 0.5, 0.75])
    >>> tb.linspace(tb.zeros(2), tb.asarray([1.0, 2.0]), 3).tolist()
    [[0.0, 0.0], [0.5, 1.0], [1.0, 2.0]]
    """
    if None not in (scalar_kind(start), scalar_kind(stop)):
        low: Any = start
        high: Any = stop
        if scalar_kind(low) == scalar_kind(high) == "int" and max(abs(low), abs(high)) > _WHOLE and dtype is not None:
            exact = _linspace_of_integers(index(low), index(high), index(num), as_dtype(dtype), flag(endpoint=endpoint))
            if exact is not None:
                return tensor(exact, dtype=dtype, names=(name,), backend=backend, device=device, like=like)
        return _linspace(
            low, high, num, dtype=dtype, endpoint=endpoint, name=name, backend=backend, device=device, like=like
        )
    num = integer(0, num=num)
    gaps = num - 1 if flag(endpoint=endpoint) else num
    ends = [start, stop]
    if like is not None:
        backend, device = creation_backend(backend, device, like), None
    placed = backend is not None or device is not None
    home = get_backend(backend, device=device) if placed else home_of(ends)
    kinds = [scalar_kind(end) for end in ends]
    low, high = tensors = [end if isinstance(end, Tensor) and not placed else beside(end, home) for end in ends]
    templates = [x.template if kind is None else weak_template(kind) for x, kind in zip(tensors, kinds, strict=True)]
    target_dtype = to_floating(check_dtype(result_type(templates), "numeric")) if dtype is None else as_dtype(dtype)
    rank = len(broadcast(templates)[0])
    work = complex128 if target_dtype.is_complex or low.dtype.is_complex or high.dtype.is_complex else float64
    ends = [astype(low, target_dtype), astype(high, target_dtype)]  # in 64 bits integers are exact
    low, high = astype(low, work), astype(high, work)
    place = reshape(iota(num, dtype=work, backend=low.backend), (num, *(1,) * rank), names=(name, *(None,) * rank))
    spaced = place * ((high - low) / max(gaps, 1)) + low
    spaced = where(place == 0, ends[0], astype(spaced, target_dtype))
    if gaps == num - 1 and num > 1:
        spaced = where(place == num - 1, ends[1], spaced)
    return moveaxis(spaced, 0, axis)


@check_arguments
def logspace(
    start: TensorLike,
    stop: TensorLike,
    /,
    num: int,
    *,
    base: float = 10.0,
    dtype: DTypeLike | None = None,
    endpoint: bool = True,
    name: str | None = None,
    axis: int = 0,
    backend: BackendLike = None,
    device: str | None = None,
    like: Like = None,
) -> Tensor:
    """`num` numbers whose logarithms are evenly spaced: `base` to the powers of `linspace(start, stop, num)`.

    Raises `ArgumentError` for a base that is not positive.

    >>> tb.logspace(0, 3, 4).tolist(), tb.logspace(1, 3, 2, base=2.0, endpoint=False).tolist()
    ([1.0, 10.0, 100.0, 1000.0], [2.0, 4.0])
    """
    power = _as_float(base=base)
    if not power > 0:
        raise ArgumentError(expected("a positive base", base=base))
    place = {"endpoint": endpoint, "name": name, "axis": axis, "backend": backend, "device": device, "like": like}
    target = linspace(start, stop, 0, dtype=dtype).dtype
    work = complex128 if target.is_complex else float64
    return astype(power ** linspace(start, stop, num, dtype=work, **place), target)  # type: ignore[arg-type]


def _as_float(**named: Any) -> float:
    """A number as a float; `ArgumentError` with its name for anything else."""
    (value,) = named.values()
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ArgumentError(expected("a number", **named)) from None


@check_arguments
def geomspace(
    start: float,
    stop: float,
    /,
    num: int,
    *,
    dtype: DTypeLike | None = None,
    endpoint: bool = True,
    name: str | None = None,
    backend: BackendLike = None,
    device: str | None = None,
    like: Like = None,
) -> Tensor:
    """`num` numbers from `start` to `stop`, each the same multiple of the one before; `stop` is included if `endpoint`.

    Both numbers are positive or both are negative. Raises `ArgumentError` for others.

    >>> tb.geomspace(1, 8, 4).tolist(), tb.geomspace(-1, -100, 2, endpoint=False).tolist()
    ([1.0, 2.0, 4.0, 8.0], [-1.0, -10.0])
    """
    first, last = _as_float(start=start), _as_float(stop=stop)
    if not ((0 < first < math.inf and 0 < last < math.inf) or (-math.inf < first < 0 and -math.inf < last < 0)):
        raise ArgumentError(expected("two finite numbers of one sign other than 0", start=start, stop=stop))
    num = integer(0, num=num)
    target = default_dtype("float") if dtype is None else as_dtype(dtype)
    place = {"name": name, "backend": backend, "device": device, "like": like}
    gaps = max(num - 1 if flag(endpoint=endpoint) else num, 1)
    share = linspace(0.0, num - 1.0, num, dtype=float64, **place)  # type: ignore[arg-type] # the counts 0, 1, ...
    part, ratio = share / gaps, last / first
    if 1e-300 < ratio < 1e300:
        numbers = first * ratio**part
    else:  # the ratio may be out of range, its root is not
        root = pow(abs(last) ** 0.25 / abs(first) ** 0.25, part)
        numbers = first * root * root * root * root
    if endpoint and num > 1:
        numbers = where(share == num - 1, last, numbers)
    return astype(numbers, target)
