"""Calls and values as Python source, with the same bits after `import tensorbackend as tb`."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import tensorbackend

from ..dtypes import DType
from ..dtypes.packing import unpack
from ..protocol import Backend
from ..select.registry import origin
from ..template import Template
from ..tensor import Tensor
from ..tensor.methods import ops

NAMESPACES = ("", "linalg", "fft", "random", "nn")
"""Where public ops are: at the top level, or in a namespace of the Array API's extensions or our own."""


def public(name: str) -> Callable[..., Any]:
    """The public function of a name, from the first namespace that has it, or from the one in the name.

    >>> public("add").__name__, public("random.split").__module__
    ('add', 'tensorbackend.ops.composite.random.threefry')
    """
    return _find(name)[1]


def qualified(name: str) -> str:
    """A public name with its namespace.

    >>> qualified("add"), qualified("qr")
    ('add', 'linalg.qr')
    """
    return _find(name)[0]


def _find(name: str) -> tuple[str, Callable[..., Any]]:
    namespace, _, bare_name = name.rpartition(".")
    for space in [namespace] if namespace else NAMESPACES:
        if bare_name not in _names(space):
            continue
        function = getattr(getattr(tensorbackend, space) if space else tensorbackend, bare_name)
        # tensorbackend.fft is a namespace, tensorbackend.fft.fft a function; tensorbackend.trace records a graph.
        if callable(function) and ".expr." not in getattr(function, "__module__", ""):
            return f"{space}.{bare_name}" if space else bare_name, function
    if name in ops:  # of another package
        return name, ops[name]
    raise LookupError(f"no public function is called {name!r}")


@cache
def _names(space: str) -> frozenset[str]:
    """The names in a namespace: the error for one that it lacks takes a millisecond, as it looks for what is meant."""
    return frozenset(dir(getattr(tensorbackend, space, None) if space else tensorbackend))


def call_source(name: str, arguments: Sequence[object], options: Mapping[str, object]) -> str:
    """The source of a call of a public op.

    >>> import tensorbackend as tb
    >>> call_source("sum", [tb.tensor([1, 2], names=("n",))], {"axis": "n"})
    "tb.sum(tb.tensor([1, 2], dtype=tb.int64, names=('n',)), axis='n')"
    """
    parts = [*map(source, arguments), *(f"{key}={source(value)}" for key, value in options.items())]
    known, function = _find(name)
    ours = function.__module__.startswith(f"{tensorbackend.__name__}.")
    return f"{f'tb.{known}' if ours else _import_expression(function)}({', '.join(parts)})"


def source(value: Any) -> str:
    """The source of a value in a call, exact to the bit except for the payload of a NaN.

    >>> import tensorbackend as tb
    >>> print(source(tb.tensor([-0.0, float("-inf"), float("nan")], dtype="bf16")))
    tb.tensor([-0.0, -tb.inf, tb.nan], dtype=tb.bfloat16)
    """
    if isinstance(value, Tensor):
        return _tensor(value)
    if isinstance(value, DType):
        return f"tb.{value.name}"
    if isinstance(value, float | complex):
        return _number(value)
    if isinstance(value, list | tuple):
        return _sequence(value)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{source(key)}: {source(entry)}' for key, entry in value.items())}}}"
    if isinstance(value, Template):
        return f"tb.Template({_parts(value)})"
    if isinstance(value, Backend):
        return _backend(value)
    if callable(value):
        return _function(value)
    return repr(value)


def _tensor(x: Tensor) -> str:
    if x.backend.name == "template":
        return f"tb.template({_parts(x.template)})"
    named = f", names={x.names!r}" if any(x.names) else ""
    if not x.size:  # nested lists cannot show the sizes after a 0
        return f"tb.zeros({x.shape}, dtype=tb.{x.dtype.name}{named})"
    elements = unpack(x.to_binary(), x.dtype)
    nested = source(list(elements)) if x.ndim == 1 else source(x.tolist())
    return f"tb.tensor({nested}, dtype=tb.{x.dtype.name}{named})"


def _parts(template: Template) -> str:
    named = f", names={template.names!r}" if any(template.names) else ""
    return f"{template.shape}, tb.{template.dtype.name}{named}"


def _number(value: float | complex) -> str:
    if isinstance(value, complex):  # the sum of two parts may lose the sign of a zero
        return f"complex({_number(value.real)}, {_number(value.imag)})"
    if math.isfinite(value):
        return repr(value)
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    return f"{sign}tb.{'nan' if value != value else 'inf'}"


def _sequence(values: Sequence[Any]) -> str:
    inner = ", ".join(map(source, values))
    if isinstance(values, list):
        return f"[{inner}]"
    return f"({inner},)" if len(values) == 1 else f"({inner})"


def _backend(backend: Backend) -> str:
    if backend.lays_by_name:
        return f"tb.{backend!r}".replace("mesh=Mesh", "mesh=tb.Mesh")
    kind = type(backend)
    declared = origin(backend.name) not in (None, "registered")  # else a new process does not know the name
    importable = (
        kind.__module__ != "__main__" and getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind
    )
    name = _import_expression(kind) if importable and not declared else repr(backend.name)
    device = "" if kind().device == backend.device else f", device={backend.device!r}"
    return f"tb.get_backend({name}{device})" if device else name


def _function(function: Callable[..., Any]) -> str:
    name = function.__name__
    try:
        known, public_function = _find(name)
    except LookupError:
        public_function = None
    if public_function is function:
        return f"tb.{known}"
    return _import_expression(function)


def _import_expression(imported: Any) -> str:
    """A function or a class of a module."""
    return f"__import__('importlib').import_module({imported.__module__!r}).{imported.__name__}"


WRITES = "array[...] = not array.any()"
"""A line that changes an array."""


def script(call: str, backend: Backend, then: str = "", before: str = "") -> str:
    """A program that makes a call on a backend; one that shows the result again after the line `then`, if there is one.

    >>> import tensorbackend as tb
    >>> print(script("tb.tensor([1, 2]) + 1", tb.get_backend("numpy")))
    import tensorbackend as tb
    with tb.default_backend('numpy'):
        print(tb.tensor([1, 2]) + 1)
    """
    lines = ["x = " + call, "print(x)", then, "print(x)"] if then else [f"print({call})"]
    head = f"import tensorbackend as tb\n{before}with tb.default_backend({_backend(backend)}):"
    return "\n    ".join([head, *lines])
