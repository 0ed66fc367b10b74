"""Planned callbacks: a callback that decides everything from templates and returns a kernel.

A *plain* callback gets the output template and tensors, and returns a payload. A *planned* one gets the output
template and the templates of its inputs, and returns a *kernel*: a function of payloads alone. It runs once for each
combination of templates and options; the dispatcher keeps the kernel and calls it for every later call with them.
Both forms obey the same contract, and a backend may mix them:

    class ToyBackend(Backend):
        def negate(self, out: Template, x: Tensor, /) -> Payload:      # plain
            return [-value for value in x.data]

        @planned
        def add(self, out: Template, x1: Template, x2: Template, /) -> Kernel:  # planned
            if x1.shape == x2.shape:
                return lambda left, right: list(map(operator.add, left, right))
            ...

Callbacks do not depend on the names of axes, so a planned one gets templates without names. Names may decide how its
results are laid out, so `Backend.settled` gets the output template with its names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeAlias, TypeVar, cast, overload

from ..caching.option_keys import MOST_OPERANDS, option_key, remember
from ..dtypes.defaults import product_precision
from ..template import Template, intern_template
from ..tensor import Tensor

Payload: TypeAlias = Any
"""The data that a backend keeps for a tensor, such as bytes, an array or a handle. Only the backend knows its form."""

Kernel: TypeAlias = Callable[..., Payload]
"""The function that a planned callback returns: it takes the payloads of the inputs and returns the payload of the
result, or a tuple of them where there are several results. A sequence of tensors reaches it as one sequence of
payloads."""

B = TypeVar("B")
Out = TypeVar("Out", Template, tuple[Template, Template], tuple[Template, Template, Template], Any)
P = ParamSpec("P")


class QuickKernel:
    """A kernel with a quick form, which may be busy: it then raises `RuntimeError`, before it computes anything.

    NumPy's kernels are of this kind: they run in a context without floating-point warnings, which only one thread at
    a time can use. A warm call tries the quick form itself, as that saves a frame; all other callers call the kernel.
    """

    __slots__ = ("quick", "spare")

    def __init__(self, quick: Kernel, spare: Kernel) -> None:
        self.quick: Final = quick
        self.spare: Final = spare
        """Does the same while `quick` is busy."""

    def __call__(self, *payloads: Payload) -> Payload:
        try:
            return self.quick(*payloads)
        except RuntimeError as error:
            if not is_busy(error):
                raise
        return self.spare(*payloads)  # here, so that no error has the one above as its context


def quick_form(kernel: Kernel) -> Kernel:
    """The quick form of a kernel, or the kernel itself."""
    return kernel.quick if isinstance(kernel, QuickKernel) else kernel


def is_busy(error: BaseException) -> bool:
    """Whether an error may be that of a busy quick form: no Python code raised it."""
    trace = error.__traceback__
    return isinstance(error, RuntimeError) and trace is not None and trace.tb_next is None


@overload
def planned(
    method: Callable[Concatenate[B, Out, Template, Sequence[Template], P], Kernel], /
) -> Callable[Concatenate[B, Out, Tensor, Sequence[Tensor], P], Payload]: ...
@overload
def planned(
    method: Callable[Concatenate[B, Out, Template, Template, Template, Template, P], Kernel], /
) -> Callable[Concatenate[B, Out, Tensor, Tensor, Tensor, Tensor, P], Payload]: ...
@overload
def planned(
    method: Callable[Concatenate[B, Out, Template, Template, Template, P], Kernel], /
) -> Callable[Concatenate[B, Out, Tensor, Tensor, Tensor, P], Payload]: ...
@overload
def planned(
    method: Callable[Concatenate[B, Out, Template, Template, P], Kernel], /
) -> Callable[Concatenate[B, Out, Tensor, Tensor, P], Payload]: ...
@overload
def planned(
    method: Callable[Concatenate[B, Out, Template, P], Kernel], /
) -> Callable[Concatenate[B, Out, Tensor, P], Payload]: ...
@overload
def planned(
    method: Callable[Concatenate[B, Out, Sequence[Template], Sequence[Template], Sequence[Template], P], Kernel], /
) -> Callable[Concatenate[B, Out, Sequence[Tensor], Sequence[Tensor], Sequence[Tensor], P], Payload]: ...
@overload
def planned(
    method: Callable[Concatenate[B, Out, Sequence[Template], Sequence[Template], P], Kernel], /
) -> Callable[Concatenate[B, Out, Sequence[Tensor], Sequence[Tensor], P], Payload]: ...
@overload
def planned(
    method: Callable[Concatenate[B, Out, Sequence[Template], P], Kernel], /
) -> Callable[Concatenate[B, Out, Sequence[Tensor], P], Payload]: ...
@overload
def planned(method: Callable[Concatenate[B, Out, P], Kernel], /) -> Callable[Concatenate[B, Out, P], Payload]: ...


def planned(method: Callable[..., Kernel], /) -> Callable[..., Payload]:
    """Marks a callback that gets templates in place of tensors, and returns a kernel.

    Called with tensors, the callback plans, runs its kernel once and returns the payload, so `backend.add(out, x1, x2)`
    works for both forms. `kernel_of` returns the kernel.

    Parameters
    ----------
    method : callable
        A function that returns a kernel. It takes the output template, the templates of the inputs (a tuple of
        templates for a sequence of tensors, `None` for an omitted optional tensor), and the options by
        keyword.

    Returns
    -------
    callable
        The callback in its plain form.
    """

    @wraps(method)
    def callback(self: Any, out: Any, /, *inputs: Any, **options: object) -> Payload:
        return entered_kernel(self, method, out, templates_of(inputs), options)(*payloads_of(inputs))

    callback.__plan__ = method  # type: ignore[attr-defined] # read by `kernel_of`
    return callback


def is_planned(callback: Callable[..., Payload]) -> bool:
    """Whether a backend's method has the planned form."""
    return hasattr(callback, "__plan__")


def kernel_of(callback: Callable[..., Payload], out: Any, /, *inputs: Any, **options: object) -> Kernel:
    """The kernel of a backend's planned callback, for templates in place of tensors.

    A planned callback uses it to build on another one, such as the callback that it overrides:
    `kernel = kernel_of(super().sum, out, x, axes=axes, keepdims=keepdims)`.
    """
    plan, backend = callback.__plan__, callback.__self__  # type: ignore[attr-defined] # a bound planned callback
    return _plan_kernel(backend, plan, out, inputs, options)


def entered_kernel(backend: Any, plan: Callable[..., Kernel], out: Any, inputs: Sequence[Any], options: Any) -> Kernel:
    """The kernel of a planned callback as it is called from outside, made once and kept with the backend."""
    inputs = nameless(inputs)
    key: Any = None
    kernel: Kernel | None = None
    try:
        key = (
            plan,
            nameless(out),
            backend.placement(out),
            inputs,
            product_precision(),
            *[(name, option_key(option)) for name, option in options.items()],
        )
        kernel = backend.kernels.get(key)
    except (TypeError, KeyError):  # an option that does not hash, or does not equal itself
        key = None
    if kernel is None:
        kernel = cast(Kernel, backend.enter(_plan_kernel(backend, plan, out, inputs, options)))
        if key is not None and all(x.__class__ is not tuple or len(x) <= MOST_OPERANDS for x in inputs):
            remember(backend.kernels, key, kernel)
    return kernel


def _plan_kernel(backend: Any, plan: Callable[..., Kernel], out: Any, inputs: Sequence[Any], options: Any) -> Kernel:
    kernel: Kernel = backend.settled(plan(backend, nameless(out), *nameless(inputs), **options), out)
    return kernel


def nameless(templates: Any) -> Any:
    """A template, or a nested sequence of templates, without axis names; `None` for `None`."""
    if isinstance(templates, Template):
        return intern_template(templates.shape, templates.dtype, (None,) * len(templates.shape))
    if templates is None:
        return None
    if len(templates) <= MOST_OPERANDS:
        return tuple(map(nameless, templates))
    each = {template: nameless(template) for template in {*templates}}  # of many, most are alike
    return tuple([each[template] for template in templates])


def payloads_of(inputs: Sequence[Any]) -> tuple[Payload, ...]:
    """The payloads of tensors; for a sequence of tensors a tuple of payloads, for `None` `None`."""
    return tuple([x.data if isinstance(x, Tensor) else x and payloads_of(x) for x in inputs])


def templates_of(inputs: Sequence[Any]) -> tuple[Any, ...]:
    """The templates of tensors; for a sequence of tensors a tuple of templates, for `None` `None`."""
    return tuple([x.template if isinstance(x, Tensor) else x and templates_of(x) for x in inputs])
