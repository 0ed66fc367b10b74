"""What a comparison of results does not check of a callback's contract: which memory a call may write to or share.

A call must not change its inputs. Its results must not change when the op runs again on other data, when
the inputs are deallocated, and when a reader writes to the NumPy array of a result.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..errors import ContractError, TensorBackendError, UnsupportedOp
from ..expr.trees import flatten
from ..ops.creation.filled import from_binary
from ..ops.shape import concatenate
from ..protocol import Backend
from ..protocol.core import Core
from ..select import backend_deallocate, check_dtype_support, get_backend
from ..tensor import Tensor
from .calls import Invocation
from .divergences import Outcome
from .failures import Disagreement, raised
from .source import WRITES, script


def outcome(call: Invocation) -> Outcome:
    """The tensors that a call returns, or the error that it raises on purpose."""
    try:
        result = call.run()
    except TensorBackendError as error:
        return error
    return flatten(result)[0]


def outcome_text(answer: Outcome) -> str:
    """An outcome as text to compare: the class and text of an error, the templates of results."""
    if isinstance(answer, TensorBackendError):
        return f"{type(answer).__name__}: {answer}"
    return f"results of {', '.join(repr(x.template) for x in answer)}"


def observe(call: Invocation, backend: Backend) -> Outcome:
    """The outcome of a call on a backend, with checks that the backend keeps its contract.

    Raises `Disagreement` if the backend breaks its contract or raises an error that tensorbackend does not raise on
    purpose, and `UnsupportedOp` if the backend does not have the op or one of the dtypes.
    """
    for x in call.tensors:
        check_dtype_support(x.dtype, backend)
    with _no_other_errors(call, backend):
        return _observe_memory(call, backend)


def answer(call: Invocation, backend: Backend) -> Outcome:
    """The outcome of a call on a backend, without checks of its memory; raises as `observe` does."""
    with _no_other_errors(call, backend):
        return _answer(call, call.on(backend), backend)


@contextmanager
def _no_other_errors(call: Invocation, backend: Backend) -> Iterator[None]:
    """A block that no backend may leave by an error of another library."""
    try:
        yield
    except (TensorBackendError, Disagreement):
        raise
    except Exception as error:  # whatever another library raises
        raise call.disagreement("exception", raised(error), backend) from error


def _answer(call: Invocation, backend_call: Invocation, backend: Backend) -> Outcome:
    answer = outcome(backend_call)
    if isinstance(answer, ContractError):
        cause = answer.__cause__
        detail = str(answer) if cause is None else raised(cause)
        raise call.disagreement(answer.breach, detail, backend) from cause or answer
    if isinstance(answer, UnsupportedOp):
        raise answer
    return answer


def _observe_memory(call: Invocation, backend: Backend) -> Outcome:
    backend_call = call.on(backend).mapped(lambda x: from_binary(x.to_binary(), x.template, backend))
    answer = _answer(call, backend_call, backend)
    for number, (original, x) in enumerate(zip(call.tensors, backend_call.tensors, strict=True)):
        if x.to_binary() != original.to_binary():
            raise call.disagreement("mutation", f"the call changes its input {number}, of {x.template}", backend)
    if isinstance(answer, list):
        _check_payloads(call, backend, answer)
        if type(backend).violation is Core.violation:  # nothing else has looked at the shapes of the payloads
            _check_use(call, backend, answer)
        _check_memory(call, backend_call, backend, answer)
    return answer


def _check_payloads(call: Invocation, backend: Backend, results: list[Tensor]) -> None:
    for x in results:
        if x.backend is not backend:
            raise call.disagreement("payload", f"expected a result on {backend}, got one on {x.backend}", backend)
        wrong = backend.violation(x.template, x.data)
        if wrong is None and len(data := x.to_binary()) != x.template.payload_nbytes:
            wrong = f"{len(data)} bytes"
        if wrong is not None:
            raise call.disagreement("payload", f"expected the payload of {x.template}, got {wrong}", backend)


def _check_use(call: Invocation, backend: Backend, results: list[Tensor]) -> None:
    """Checks that a result is the operand of another op that it should be, joined to a new tensor of its template.

    Bytes do not show the shape of a payload: a reshape that does nothing gives the right ones.
    """
    for x in results:
        if not x.ndim:
            continue
        data = x.to_binary()
        try:
            joined = concatenate([x, from_binary(data, x.template, backend)], axis=0).to_binary()
        except UnsupportedOp:
            continue
        except Exception as error:  # whatever a library raises for a payload of another shape
            detail = f"expected a result that concatenate() takes as {x.template}, got {type(error).__name__}: {error}"
            raise call.disagreement("payload", detail, backend) from error
        if joined != data + data:
            detail = f"expected a result that concatenate() takes as {x.template}, got other elements from it"
            raise call.disagreement("payload", detail, backend)


def _check_memory(call: Invocation, backend_call: Invocation, backend: Backend, results: list[Tensor]) -> None:
    """Checks that results keep their bytes after writes to their arrays, another run and the inputs' deallocation."""
    before = [x.to_binary() for x in results]

    def check_unchanged(after: str, then: str = "") -> None:
        for x, data in zip(results, before, strict=True):
            if x.to_binary() != data:
                detail = f"a result of {x.template} changes after {after}"
                failure = call.disagreement("alias", detail, backend)
                failure.script = script(call.source, backend, then)
                raise failure

    for x in results:
        _scribble(x)
    check_unchanged("a reader wrote to its NumPy array", f"array = x.__array__(); {WRITES}" * (len(results) == 1))
    with suppress(Exception):  # a crash on zeros is a failure of another call, as zeros are drawn too
        backend_call.mapped(lambda x: _zeros(x, backend)).run()
    check_unchanged("the op ran for other data", call.mapped(lambda x: _zeros(x, get_backend("binary"))).source)
    for x in backend_call.tensors:
        backend_deallocate(x)
    check_unchanged("the inputs were deallocated")


def _zeros(x: Tensor, backend: Backend) -> Tensor:
    return from_binary(bytes(x.template.payload_nbytes), x.template, backend)


def _scribble(x: Tensor) -> None:
    """Writes to the NumPy array of a tensor, if it is writable."""
    view = x.__array__()
    if view.flags.writeable:
        view[...] = 1 if not view.any() else 0
