"""Every call of `numpy_programs`, of operands that no tensor can hold: what NumPy does with them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy
import pytest

import tensorbackend.numpy as ours

from ..numpy_programs.calls import CALLS
from .test_numpy_namespace import drawn


class _Subclass(numpy.ndarray[Any, Any]):
    """A subclass of NumPy's array."""


def _masked(x: Any) -> Any:
    return numpy.ma.masked_array(x, mask=numpy.random.default_rng(1).random(x.shape) < 0.3)


def _long(x: Any) -> Any:
    return x.astype({"f": "g", "c": "G"}.get(x.dtype.kind, x.dtype))


KINDS: Final[dict[str, Callable[[Any], Any]]] = {
    "objects": lambda x: x.astype(object),
    "long doubles": _long,
    "masked arrays": _masked,
    "a subclass": lambda x: x.view(_Subclass),
}
"""How numbers become operands that only NumPy holds."""

NOT_COMPARED: Final = {
    "np.empty_like(a) * 0": "what an empty array holds is arbitrary",
    "a.tobytes()": "of objects these are addresses",
    **dict.fromkeys(
        ["np.matmul(a, row)", "np.matvec(M, np.arange(M.shape[0]))", "np.vecmat(np.arange(M.shape[0]), M)",
         "np.vecdot(a, b)", "np.linalg.vecdot(a, b)"],
        "NumPy's masked array has a mask of another shape than its data",
    ),
}  # fmt: skip
"""The calls whose results cannot be compared, and why."""


def _outcome(call: str, np: Any, kind: str) -> Any:
    operands = {name: KINDS[kind](value) for name, value in drawn(3, 3, 3).items()}
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return eval(call, {"np": np, **operands})
        except Exception as error:  # whatever NumPy raises is compared with what is raised here
            return error


def _agree(result: Any, expected: Any) -> bool:
    """Whether two results have the same class of array, shape, dtype, mask and elements, or are both errors."""
    if isinstance(expected, Exception) or isinstance(result, Exception):
        return isinstance(expected, Exception) and isinstance(result, Exception)
    if isinstance(expected, tuple | list) and not numpy.isscalar(expected):
        return len(result) == len(expected) and all(map(_agree, result, expected))
    if isinstance(expected, numpy.ma.MaskedArray):
        masks = numpy.ma.getmaskarray(result), numpy.ma.getmaskarray(expected)
        same = isinstance(result, numpy.ma.MaskedArray) and numpy.array_equal(*masks)
        return same and _agree(result.filled(0), expected.filled(0))
    if isinstance(expected, numpy.ndarray | numpy.generic):
        array, wanted = numpy.asarray(result), numpy.asarray(expected)
        if isinstance(expected, _Subclass) is not isinstance(result, _Subclass):
            return False
        if array.shape != wanted.shape or array.dtype != wanted.dtype:
            return False
        if wanted.dtype.kind in "OUSVMm":
            return str(array) == str(wanted)
        digits = 1e-5 if wanted.dtype.itemsize == 4 else 1e-9
        return numpy.allclose(array, wanted, rtol=digits, atol=digits, equal_nan=True)
    if isinstance(expected, str | bytes | int | float):
        return bool(result == expected or result != result)
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_every_call_of_what_only_numpy_holds_is_numpys(kind: str) -> None:
    wrong = [
        call
        for call in CALLS
        if call not in NOT_COMPARED and not _agree(_outcome(call, ours, kind), _outcome(call, numpy, kind))
    ]
    assert not wrong


def test_a_result_that_differs_is_seen() -> None:
    assert not _agree(numpy.ma.masked_array([1.0, 2.0], mask=[True, False]), numpy.ma.masked_array([1.0, 2.0]))
    assert not _agree(ours.array([1.0]), numpy.array([1.0]).view(_Subclass))
    assert not _agree(numpy.array(["a"], object), numpy.array(["b"], object))
    assert not _agree(ValueError(), 1)
