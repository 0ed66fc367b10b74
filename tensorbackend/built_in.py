"""The parts of the package that are loaded late: its backends, fall-backs of primitives, programs of composites.

Lower layers know none of these by name. They ask for them through the entries made here when `tensorbackend` is
imported, so a backend's module and its library are imported when the backend is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .dispatch import programs_by
from .dispatch.fallbacks import declared_by
from .protocol import Backend, Kernel
from .protocol.core import CompositeCall
from .select import build_in


def _binary() -> type[Backend]:
    from .backends.binary import BinaryBackend

    return BinaryBackend


def _cupy() -> type[Backend]:
    from .backends.cupy_backend import CupyBackend

    return CupyBackend


def _expr() -> type[Backend]:
    from .expr.record import ExprBackend

    return ExprBackend


def _jax() -> type[Backend]:
    from .backends.jax_backend import JaxBackend

    return JaxBackend


def _numpy() -> type[Backend]:
    from .backends.numpy_backend import NumpyBackend

    return NumpyBackend


def _template() -> type[Backend]:
    from .backends.template_backend import TemplateBackend

    return TemplateBackend


def _fallbacks() -> None:
    from .ops import fallbacks  # noqa: F401 # importing the package declares them


def _program(backend: Backend, default: Callable[..., Any], call: CompositeCall) -> Kernel | None:
    from .expr.composite_programs import program_of

    return program_of(backend, default, call)


build_in("binary", _binary)
build_in("cupy", _cupy)
build_in("expr", _expr)
build_in("jax", _jax)
build_in("numpy", _numpy)
build_in("template", _template)
declared_by(_fallbacks)
programs_by(_program)
