"""The duties of a backend: errors for a plugin that fails them, and checked mode, which verifies each call of a
callback."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from ..declarations.op_specs import CALLBACKS, misfit, wanted_signature
from ..errors import ContractError, TensorBackendError, expected
from ..protocol import Backend, Kernel, Payload, own_method
from ..protocol.exhaustion import out_of_memory
from ..rules.plan import Out
from ..template import Template
from ..tensor import Tensor

CHECKED: Final = os.environ.get("TENSORBACKEND_CHECK", "0") not in ("", "0")
"""Whether each call of a callback is verified; set by the environment at import."""

_OURS: Final = f"{__name__.partition('.')[0]}."

WATCHED: Final = 4096
"""The number of elements of each input that are compared before and after a callback."""


# Errors of a plugin's callback


def explain(error: Exception, name: str, backend: Backend) -> None:
    """Raises `ContractError` in place of an error that a plugin's callback raised by accident; returns for any other.

    In place of a library's error about memory it raises `OutOfMemoryError`, which is the same on every backend. An
    error of this library already says what is wrong. The plugin is not to blame for an error in a user's function that
    the callback runs, or in a default or a fall-back, which the plugin did not write.
    """
    if isinstance(error, TensorBackendError):
        return
    if backend.exhausted(error):
        raise out_of_memory(error).named(name) from error
    if type(backend).__module__.startswith(_OURS):
        return
    callback = CALLBACKS.get(name)
    if callback is None or "function" in callback.options or own_method(backend, name) is None:
        return
    duty = f"{name} of the backend {backend.name!r} to return a result, or to raise an error of tensorbackend.extending"
    remedy = f"write {name}{wanted_signature(name)}" if misfit(type(backend), name) else "fix the backend"
    raise ContractError(expected(duty, remedy, error=error), breach="exception").named(name) from error


@contextmanager
def explain_errors(name: str, backend: Backend) -> Iterator[None]:
    """A block that plans with a backend's callback; an error inside is passed to `explain`."""
    try:
        yield
    except Exception as error:  # whatever a backend's code raises
        explain(error, name, backend)
        raise


# Checked mode


def checking_kernel(name: str, backend: Backend, out: Out, inputs: Sequence[Any], kernel: Kernel) -> Kernel:
    """A kernel that runs `kernel`, and verifies its results and that its inputs are unchanged."""
    watching = backend.writable_payloads and bool(inputs)
    violation = backend.violation

    def verify_call(*payloads: Payload) -> Payload:
        before = _first_bytes(backend, inputs, payloads) if watching else []
        data = kernel(*payloads)
        if not isinstance(out, Template) or violation(out, data) is not None:
            verify(name, backend, out, data)
        if before and (changed := _find_changed(backend, inputs, payloads, iter(before))) is not None:
            duty = f"{name} of the backend {backend.name!r} to leave its inputs unchanged"
            raise ContractError(expected(duty, "fix the backend", changed=changed), breach="mutation")
        return data

    return verify_call


def _first_bytes(backend: Backend, templates: Sequence[Any], payloads: Sequence[Any]) -> list[bytes]:
    """The first elements, as bytes, of each payload; sequences of payloads are laid out flat."""
    parts: list[bytes] = []
    for template, payload in zip(templates, payloads, strict=True):
        if isinstance(template, Template):
            parts.append(backend.to_binary(Tensor(template, backend, payload), min(template.size, WATCHED)))
        elif template is not None:
            parts += _first_bytes(backend, template, payload)
    return parts


def _find_changed(
    backend: Backend, templates: Sequence[Any], payloads: Sequence[Any], before: Iterator[bytes]
) -> Template | None:
    """The template of the first payload whose first elements differ from those before, one payload at a time."""
    for template, payload in zip(templates, payloads, strict=True):
        if isinstance(template, Template):
            now = backend.to_binary(Tensor(template, backend, payload), min(template.size, WATCHED))
            if now != next(before):
                return template
        elif template is not None and (changed := _find_changed(backend, template, payload, before)) is not None:
            return changed
    return None


def verify_first(name: str, backend: Backend, out: Out, data: Any) -> None:
    """Verifies what a plugin's method returned in a call that is not known yet, in any mode."""
    outs = (out,) if isinstance(out, Template) else out
    ours = type(backend).__module__.startswith(_OURS)
    if not (ours or own_method(backend, name) is None) and all(isinstance(template, Template) for template in outs):
        verify(name, backend, out, data)


def verify(name: str, backend: Backend, out: Out, data: Any) -> None:
    """Raises `ContractError` unless `data` has one payload for each template, and each is as its template says."""
    outs = (out,) if isinstance(out, Template) else out
    payloads = (data,) if isinstance(out, Template) else data
    if not isinstance(payloads, tuple | list) or len(payloads) != len(outs):
        raise wrong_count_error(name, backend, len(outs), payloads)
    for template, payload in zip(outs, payloads, strict=True):
        if (payload is None and not backend.template_only) or payload is NotImplemented or isinstance(payload, Tensor):
            duty = f"{name} of the backend {backend.name!r} to return a payload"
            remedy = "mark the dtypes that it takes by limited_to()" if payload is NotImplemented else "fix the backend"
            raise ContractError(expected(duty, remedy, returned=payload))
        wrong = backend.violation(template, payload)
        if wrong is not None:
            duty = f"{name} of the backend {backend.name!r} to return the payload of {template!r}"
            raise ContractError(expected(duty, "fix the backend", payload=wrong))


def wrong_count_error(name: str, backend: Backend, count: int, data: object) -> ContractError:
    """The error for a callback that does not return a tuple of `count` payloads."""
    returned = len(data) if isinstance(data, tuple | list) else type(data).__name__
    duty = f"{name} of the backend {backend.name!r} to return {count} payloads in a tuple"
    return ContractError(expected(duty, "fix the backend", returned=returned))


def verify_default(name: str, backend: Backend, out: Out, returned: Any) -> None:
    """Raises `ContractError` unless `optional` returned tensors on the backend, with the shapes and dtypes of `out`."""
    outs = (out,) if isinstance(out, Template) else out
    tensors = (returned,) if isinstance(out, Template) else returned
    alike = (
        isinstance(tensors, tuple | list)
        and len(tensors) == len(outs)
        and all(
            isinstance(x, Tensor) and x.backend is backend and (x.shape, x.dtype) == (template.shape, template.dtype)
            for x, template in zip(tensors, outs, strict=True)
        )
    )
    if not alike:
        duty = (
            f"optional of the backend {backend.name!r} to return for {name} "
            f"{'a tensor' if isinstance(out, Template) else f'a tuple of {len(outs)} tensors'} "
            f"of {', '.join(map(repr, outs))} on the backend"
        )
        remedy = "return the result of default_impl(*args), or tensors like it"
        raise ContractError(expected(duty, remedy, returned=_describe(returned)))


def _describe(returned: Any) -> Any:
    if isinstance(returned, Tensor):
        return f"{returned.template!r} on {returned.backend.name!r}"
    return [_describe(member) for member in returned] if isinstance(returned, tuple | list) else returned
