"""Kernels that run in a context, and how a caller enters the context without a frame for the kernel itself.

NumPy's kernels run in a `contextvars.Context` without floating-point reports. Such a kernel is a function that calls
`run(function, *payloads)`, where `run` is the method of the context; while another thread is in the context, it calls
`elsewhere` instead. A warm call does both itself, without calling the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .planned import Kernel


class _Within(NamedTuple):
    kernel: Kernel
    """The kernel that the note is about. A wrapper that copies the kernel's attributes is not that kernel, so `within`
    ignores the note on it."""
    function: Kernel
    run: Callable[..., Any]


def runs_within(kernel: Kernel, function: Kernel, run: Callable[..., Any]) -> Kernel:
    """Notes that a kernel does what `run(function, *payloads)` does, or `elsewhere` where the context is entered
    already, as `is_entered` finds."""
    kernel.__within__ = _Within(kernel, function, run)  # type: ignore[attr-defined] # read below
    return kernel


def within(kernel: Kernel) -> tuple[Kernel, Callable[..., Any] | None]:
    """The function that a kernel runs in a context, and the context's `run`; else the kernel itself and `None`."""
    note: _Within | None = getattr(kernel, "__within__", None)
    return (kernel, None) if note is None or note.kernel is not kernel else note[1:]


def is_entered(error: BaseException) -> bool:
    """Whether an error says that a context is entered already, and was not raised by the function that it runs."""
    if not isinstance(error, RuntimeError):
        return False
    inside = error.__traceback__ is not None and error.__traceback__.tb_next is not None
    return not inside and str(error).startswith("cannot enter context")


def elsewhere(run: Callable[..., Any], function: Kernel, *payloads: Any) -> Any:
    """Does what `run(function, *payloads)` does in a copy of the context, since a context cannot be entered twice."""
    context: Any = run.__self__  # type: ignore[attr-defined] # `run` is a method of a context
    return context.copy().run(function, *payloads)
