"""Checks that a backend returns data unchanged: bytes, NumPy arrays, batches, copies, transfers and text."""

from __future__ import annotations

from ..errors import TensorBackendError
from ..interchange import numpy_from_binary
from ..ops.creation.filled import from_binary, tensor
from ..ops.inspection import to_batched
from ..protocol import Backend
from ..select import backend_copy, backend_transfer, check_dtype_support, get_backend
from ..tensor import Tensor
from .failures import Disagreement, Kind, raised
from .source import WRITES, script, source

TRANSPORT = "transport"
"""The name of these checks in reports, next to the names of ops."""


def check_transport(given: Tensor, backend: Backend) -> None:
    """Raises `Disagreement` if a backend does not return data unchanged, or shares memory that can be written to.

    Parameters
    ----------
    given : Tensor
        A tensor on BinaryBackend.
    backend : Backend
        The backend.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> check_transport(tb.tensor([1.0, 2.0], backend="binary"), tb.get_backend("numpy"))
    """
    check_dtype_support(given.dtype, backend)
    try:
        _check(given, backend)
    except (TensorBackendError, Disagreement):
        raise
    except Exception as error:  # whatever another library raises
        raise _failure("exception", raised(error), given, backend) from error


def _failure(kind: Kind, detail: str, original: Tensor, backend: Backend, program: str = "") -> Disagreement:
    subject = f"{TRANSPORT} of {original.dtype} on {backend.name}"
    return Disagreement(kind, detail, subject=subject, script=program or script(source(original), backend))


def _check(original: Tensor, backend: Backend) -> None:
    data = original.to_binary()

    def same(actual: bytes, reference: bytes, what: str, kind: Kind = "value", program: str = "") -> None:
        if actual != reference:
            detail = f"expected {what} {reference.hex(' ', 4)}, got {actual.hex(' ', 4)}"
            raise _failure(kind, detail, original, backend, program)

    x = from_binary(data, original.template, backend)
    wrong = backend.violation(x.template, x.data)
    if wrong is not None:
        raise _failure("payload", f"expected the payload of {x.template}, got {wrong}", original, backend)
    same(x.to_binary(), data, "the bytes of from_binary")
    for limit in range(x.size):
        same(x.to_binary(limit), data[: limit * x.dtype.itemsize], f"of the first {limit} elements")
    array = numpy_from_binary(original.template, data, None, True)
    shared = tensor(array, names=original.names, backend=backend)
    array[...] = 0 if array.any() else 1
    program = script("tb.tensor(array)", backend, WRITES, f"array = {source(original)}.__array__(copy=True)\n")
    same(shared.to_binary(), data, "after writing to the array that a tensor was made of,", "alias", program)
    same(x.__array__().tobytes(), data, "in a NumPy array")
    copied = x.__array__(copy=True)
    copied[...] = 0 if copied.any() else 1
    program = script(source(original), backend, f"array = x.__array__(copy=True); {WRITES}")
    same(x.to_binary(), data, "after writing to a copy,", "alias", program)
    if x.ndim and x.shape[0]:
        batches = list(to_batched(x, 2))
        same(b"".join(batch.to_binary() for batch in batches), data, "in batches")
    for other in (backend, get_backend("binary"), get_backend("numpy")):
        same(backend_copy(backend_copy(x, other), backend).to_binary(), data, f"copied to {other.name} and back")
    text = repr(x)
    if not text.startswith(f"{x.template!r} {backend.name}"):
        raise _failure(
            "value", f"expected text that begins with {x.template!r} {backend.name}, got {text}", original, backend
        )
    same(backend_transfer(x, "binary").to_binary(), data, "transferred")
    if x.backend is not get_backend("binary") and not x.deallocated:
        raise _failure("alias", "expected the source of a transfer to be deallocated", original, backend)
