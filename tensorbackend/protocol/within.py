"""Kernels that run in a context, and how a caller enters it without the kernel's own frame.

NumPy's kernels run in a `contextvars.Context` without floating-point reports. Such a kernel is a function that calls
`run(function, *payloads)`, the method `run` of the context, and goes elsewhere while another thread is in it. A warm
call does so itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .planned import Kernel


class _Within(NamedTuple):
    kernel: Kernel
    """The kernel that has this note: a wrapper with its attributes is another one."""
    function: Kernel
    run: Callable[..., Any]


def runs_within(kernel: Kernel, function: Kernel, run: Callable[..., Any]) -> Kernel:
    """Notes that a kernel does what `run(function, *payloads)` does, and `elsewhere` where `is_entered` says so."""
    kernel.__within__ = _Within(kernel, function, run)  # type: ignore[attr-defined] # read below
    return kernel


def within(kernel: Kernel) -> tuple[Kernel, Callable[..., Any] | None]:
    """The function inside of a kernel's context and what runs it there; the kernel itself and `None` without one."""
    note: _Within | None = getattr(kernel, "__within__", None)
    return (kernel, None) if note is None or note.kernel is not kernel else note[1:]


def is_entered(error: BaseException) -> bool:
    """Whether an error is that of a context which another thread is in: it comes from no function inside."""
    if not isinstance(error, RuntimeError):
        return False
    inside = error.__traceback__ is not None and error.__traceback__.tb_next is not None
    return not inside and str(error).startswith("cannot enter context")


def elsewhere(run: Callable[..., Any], function: Kernel, *payloads: Any) -> Any:
    """What `run(function, *payloads)` does, in a copy of the context: a context is entered once at a time."""
    context: Any = run.__self__  # type: ignore[attr-defined] # `run` is a method of a context
    return context.copy().run(function, *payloads)
