"""Kernels: functions of payloads that compute an op on a backend, for given templates and options.

A planned callback returns its kernel itself. A plain callback, a fall-back and a composite's default work on tensors:
their kernel wraps the payloads in tensors of the given templates. All kernels from here but those of `raw_kernel` can
be called from outside: the backend has *entered* the planned ones (`Backend.enter`). In checked mode their calls are
verified (`checking_kernel`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ..caching.option_keys import remember
from ..dtypes import ALL_DTYPES
from ..protocol import Backend, Kernel, Payload, kernel_of
from ..protocol.callbacks import CompositeCall
from ..protocol.planned import entered_kernel, is_planned
from ..rules.plan import Out
from ..select import call_with_default
from ..template import Shape, Template, kind_of_parts, template_of_kind
from ..tensor import Tensor, blank_tensor
from .checked import CHECKED, checking_kernel, explain_errors, verify_default
from .narrow import by_codes, composite_method, flat, is_narrow
from .operands import LEFT_OUT

_COMPUTING_DTYPES: Final = frozenset(ALL_DTYPES)
"""The dtypes that ops compute with; a backend that lacks one needs a look at each call's."""

Templates: TypeAlias = Sequence[Any]
"""For each tensor parameter its template, a tuple of templates for a sequence, or `None` if it was left out."""


def kernel(
    backend: Backend,
    name: str,
    callback: Callable[..., Payload],
    out: Out,
    inputs: Templates,
    options: Mapping[str, Any],
) -> Kernel:
    """The kernel of a backend's callback, planned or plain, ready to be called from outside."""
    if is_planned(callback):
        plan: Any = callback
        with explain_errors(name, backend):
            ready_kernel = entered_kernel(plan.__self__, plan.__plan__, out, inputs, options)
    elif hasattr(callback, "__kernel__"):  # of a backend that records: it makes a kernel for these templates itself
        ready_kernel = callback.__kernel__(backend, out, inputs, options)
    else:
        plain = ready_kernel = plain_kernel(backend, callback, out, inputs, options)
        if backend.lays_by_name:  # the results are laid out by the names of their axes
            ready_kernel = lambda *payloads: backend.laid(plain(*payloads), out)  # noqa: E731 # next to its condition
    return checking_kernel(name, backend, out, inputs, ready_kernel) if CHECKED else ready_kernel


def raw_kernel(
    backend: Backend,
    name: str,
    callback: Callable[..., Payload],
    out: Out,
    inputs: Templates,
    options: Mapping[str, Any],
) -> Kernel:
    """The kernel of a planned callback, not entered yet, for a program that the backend enters as a whole."""
    with explain_errors(name, backend):
        planned_kernel = kernel_of(callback, out, *inputs, **options)
    return checking_kernel(name, backend, out, inputs, planned_kernel) if CHECKED else planned_kernel


def composite_kernel(
    backend: Backend, name: str, out: Out, inputs: Templates, options: Mapping[str, Any], default: Callable[..., Any]
) -> Kernel:
    """The kernel of a composite: by the backend's own method if it has one, else by `default_kernel`."""
    method = composite_method(backend, name, out, inputs, options)
    if method is not None:
        return kernel(backend, name, method, out, inputs, options)
    return default_kernel(backend, name, out, inputs, options, default)


def plain_kernel(
    backend: Backend, callback: Callable[..., Payload], out: Out, inputs: Templates, options: Mapping[str, Any]
) -> Kernel:
    """The kernel of a plain callback: payloads become tensors of the known templates."""
    if len(inputs) == 1 and isinstance(inputs[0], Template):
        (template,) = inputs
        return lambda x: callback(out, Tensor(template, backend, x), **options)
    if len(inputs) == 2 and isinstance(inputs[0], Template) and isinstance(inputs[1], Template):
        first, second = inputs
        return lambda x1, x2: callback(out, Tensor(first, backend, x1), Tensor(second, backend, x2), **options)

    def wrap_call(*payloads: Payload) -> Payload:
        return callback(out, *as_tensors(backend, inputs, payloads), **options)

    return wrap_call


def default_kernel(
    backend: Backend, name: str, out: Out, inputs: Templates, options: Mapping[str, Any], default: Callable[..., Any]
) -> Kernel:
    """The kernel of a composite for which the backend has no method.

    It is what the backend's `compile_composite` makes, if anything. Else it calls the backend's hook `optional`, which
    runs the default op by op unless overridden.
    """

    def composite(*payloads: Payload) -> Payload:
        call = CompositeCall(out, as_tensors(backend, inputs, payloads), options)
        result = call_with_default(backend, backend.optional, name, call, default)
        if CHECKED:
            verify_default(name, backend, out, result)
        return result.data if isinstance(result, Tensor) else tuple([x.data for x in result])

    whole = backend.compile_composite(CompositeCall(out, tuple(inputs), options), default, composite)
    if whole is None:
        return composite
    return checking_kernel(name, backend, out, inputs, whole) if CHECKED else whole


def template_kernel(out: Out) -> Kernel:
    """The kernel of any op on a backend that carries templates only: all payloads are `None`."""
    nothing = None if isinstance(out, Template) else (None,) * len(out)

    def kernel(x1: None = None, x2: None = None, *others: None) -> Any:  # quicker than to collect all in a tuple
        return nothing

    return kernel


def as_tensors(backend: Backend, templates: Templates, payloads: Sequence[Payload]) -> tuple[Any, ...]:
    """Payloads as tensors; a sequence of payloads becomes a tuple of tensors."""
    return tuple([
        Tensor(template, backend, payload) if isinstance(template, Template)
        else template and as_tensors(backend, template, payload)
        for template, payload in zip(templates, payloads, strict=True)
    ])  # fmt: skip


def casting_kernel(kernel: Kernel, casts: Sequence[Kernel | None], groups: Sequence[int | None]) -> Kernel:
    """A kernel that first casts its inputs.

    `casts` has for each tensor, with sequences laid out flat, the kernel that casts it, or `None`. `groups` says which
    inputs are sequences, and how long they are (`Call.groups`).
    """
    if not any(casts):
        return kernel
    if groups == [None]:
        (only,) = casts
        assert only is not None  # as some input is cast
        return lambda x: kernel(only(x))
    if groups == [None, None]:
        first, second = casts
        if second is None:
            return lambda x1, x2: kernel(first(x1), x2)  # type: ignore[misc] # as some input is cast
        if first is None:
            return lambda x1, x2: kernel(x1, second(x2))
        return lambda x1, x2: kernel(first(x1), second(x2))

    def cast_all(*payloads: Payload) -> Payload:
        rest = iter(casts)
        cast_payloads: list[Any] = []
        for payload, size in zip(payloads, groups, strict=True):
            if size == LEFT_OUT:
                cast_payloads.append(None)
            elif size is None:
                cast = next(rest)
                cast_payloads.append(payload if cast is None else cast(payload))
            else:
                pairs = zip(payload, [next(rest) for _ in range(size)], strict=True)
                cast_payloads.append([x if cast is None else cast(x) for x, cast in pairs])
        return kernel(*cast_payloads)

    return cast_all


# The choice of a callback


def implementation(backend: Backend, name: str, out: Out, inputs: Templates) -> Callable[..., Payload]:
    """The function that computes a primitive: the backend's callback, or a fall-back where that is missing or does not
    take the dtypes."""
    method: Callable[..., Payload] = getattr(backend, name)
    if is_narrow((out, inputs)):
        if all(x.dtype in backend.dtypes for x in flat((out, inputs))):
            return method if hasattr(method, "__kernel__") else by_codes.call(backend, name)
    elif backend.dtypes >= _COMPUTING_DTYPES and not (hasattr(method, "__declared__") or hasattr(method, "__dtypes__")):
        return method
    from .fallbacks import implementation as by_fallback  # few programs need it

    return by_fallback(backend, name, out, flat(inputs))


def primitive_kernel(
    backend: Backend, name: str, out: Out, inputs: Templates, options: Mapping[str, Any] = {}
) -> Kernel:
    """The kernel of a primitive on a backend, by its own callback or a fall-back."""
    if backend.template_only:
        return template_kernel(out)
    return kernel(backend, name, implementation(backend, name, out, inputs), out, inputs, options)


def symbolic_kernel(backend: Backend, name: str, out: Out, inputs: Templates, options: Mapping[str, Any]) -> Kernel:
    """The kernel of a primitive for symbolic sizes, which no memo holds; an error of any class for a plain callback."""
    return backend.enter(kernel_of(implementation(backend, name, out, inputs), out, *inputs, **options))


# Results


class Shaped(dict[Shape, Template]):
    """Templates that differ only in shape, by shape, for results whose sizes depend on data: they are the payload's."""

    def __init__(self, like: Template) -> None:
        self.kind: Final = kind_of_parts(like.dtype, like.names)

    def __missing__(self, shape: Shape) -> Template:
        template = template_of_kind(self.kind, tuple(shape))
        remember(self, template.shape, template)
        return template


def wrap(out: Any, backend: Backend, data: Any, result: Callable[..., Any] | None = None) -> Any:
    """A kernel's payload as a tensor; several payloads as what `result` makes of their tensors, by default a tuple."""
    if isinstance(out, Template):
        tensor = blank_tensor()
        tensor.template = out
        tensor.backend = backend
        tensor.data = data
        return tensor
    tensors = []  # filled as above, since `Tensor(...)` takes twice as long
    for template, part in zip(out, data, strict=True):
        tensor = blank_tensor()
        tensor.template = template[part.shape] if template.__class__ is Shaped else template
        tensor.backend = backend
        tensor.data = part
        tensors.append(tensor)
    return tuple(tensors) if result is None else result(*tensors)
