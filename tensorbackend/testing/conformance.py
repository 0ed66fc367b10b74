"""One call on a backend against BinaryBackend: values in ulps, templates, names, and errors to the letter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dtypes import COMPLEX_OF, DType, finfo, float64
from ..elements import pack, unpack
from ..errors import DataError, TemplateDataError, TensorBackendError
from ..ops.creation import from_binary
from ..protocol import Backend
from ..tensor import Tensor
from .bounds import READS_DATA, Bound, bound_of
from .calls import Invocation
from .compare import assert_equal


def outcome(call: Invocation) -> list[Tensor] | TensorBackendError:
    """The tensors that a call gives, or the error that it raises on purpose."""
    try:
        result = call.run()
    except TensorBackendError as error:
        return error
    return [result] if isinstance(result, Tensor) else list(result)


def check(call: Invocation, backend: Backend | str) -> float:
    """The greatest distance in ulps of a call on a backend from the same call on BinaryBackend.

    Raises `AssertionError` where the distance is beyond the op's bound, a template or name differs, the dry run
    on templates says something else, or the errors are not the same.
    """
    wanted = outcome(call.on("binary"))
    _check_dry_run(call, wanted)
    actual = outcome(call.on(backend))
    if isinstance(wanted, TensorBackendError):
        _same_error(call, actual, wanted)
        return 0
    assert not isinstance(actual, TensorBackendError), f"{call!r} raises {actual!r} where the reference gives a result"
    assert len(actual) == len(wanted), f"{call!r} gives {len(actual)} tensors, not {len(wanted)}"
    bound = bound_of(call.name)
    allowed = _allowances(call, bound, wanted)
    pairs = zip(actual, wanted, allowed, strict=True)
    return max((assert_equal(a, b, ulps=bound.ulps, absolute=each, call=repr(call)) for a, b, each in pairs), default=0)


def _check_dry_run(call: Invocation, wanted: Sequence[Tensor] | TensorBackendError) -> None:
    """A dry run gives the templates of the results, and every error that does not depend on data."""
    dry = outcome(call.on("template"))
    if call.name in READS_DATA and isinstance(dry, TemplateDataError):
        return
    if isinstance(wanted, TensorBackendError):
        if not isinstance(wanted, DataError):
            _same_error(call, dry, wanted)
        return
    assert not isinstance(dry, TensorBackendError), f"the dry run of {call!r} raises {dry!r}"
    for shape_only, real in zip(dry, wanted, strict=True):
        assert shape_only.template is real.template, (
            f"the dry run of {call!r} gives {shape_only.template}, {real.template} comes"
        )


def _same_error(call: Invocation, actual: object, wanted: TensorBackendError) -> None:
    same = type(actual) is type(wanted) and str(actual) == str(wanted)
    assert same, f"{call!r} raises {wanted!r}, but here comes {actual!r}"


def _allowances(call: Invocation, bound: Bound, wanted: Sequence[Tensor]) -> Sequence[float | list[float]]:
    """For each result the absolute error that its bound allows, for all elements or each."""
    if bound.normwise:
        return [_scaled_by_largest(result, bound.ulps) for result in wanted]
    if bound.power:
        size = _largest(call) ** bound.power
        return [bound.ulps * finfo(each.dtype).eps * size if each.dtype.is_inexact else 0.0 for each in wanted]
    if not bound.additive:
        return [0.0] * len(wanted)
    if not any(each.dtype.is_inexact for each in wanted):
        return [0.0] * len(wanted)
    # Integers beside floats are indices.
    mixed = any(x.dtype.is_inexact for x in call.tensors)
    sizes = outcome(call.on("binary").mapped(lambda x: x if mixed and x.dtype.is_integer else _magnitudes(x)))
    if isinstance(sizes, TensorBackendError):
        return [0.0] * len(wanted)
    return [_scaled(each, bound.ulps, result.dtype) for each, result in zip(sizes, wanted, strict=True)]


def _scaled(sizes: Tensor, ulps: float, dtype: DType) -> list[float]:
    if not dtype.is_inexact:
        return [0.0] * sizes.size
    return [ulps * finfo(dtype).eps * abs(size) for size in unpack(sizes.to_binary(), sizes.dtype)]


def _largest(call: Invocation) -> float:
    """The magnitude of the largest finite element among the operands, 1 if that is larger."""
    largest = 1.0
    for x in call.on("binary").tensors:
        if x.dtype.is_numeric:
            sizes = [abs(value) for value in unpack(x.to_binary(), x.dtype)]
            largest = max([largest, *(size for size in sizes if size < float("inf"))])
    return largest


def _scaled_by_largest(result: Tensor, ulps: float) -> float:
    """So many roundings of the largest finite element of a result."""
    if not result.dtype.is_inexact:
        return 0.0
    sizes = (abs(value) for value in unpack(result.to_binary(), result.dtype))
    return ulps * finfo(result.dtype).eps * max((size for size in sizes if size < float("inf")), default=0.0)


def _magnitudes(x: Tensor) -> Tensor:
    """The absolute values of a tensor in 64 bits, of what is not finite 0."""
    sizes: list[Any] = [abs(value) for value in unpack(x.to_binary(), x.dtype)]
    wide = COMPLEX_OF[float64] if x.dtype.is_complex else float64
    finite = [size if size < float("inf") else 0.0 for size in sizes]
    return from_binary(pack(finite, wide), x.template.replace(dtype=wide), "binary")
