"""The objects that a user's function refers to: tensors that it can reach, and variables that may change after a
call."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import cache, partial
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from ..protocol import Backend
from ..tensor import Tensor
from .graph import Graph
from .node import Node
from .trees import flatten

_DEPTH: Final = 6
"""The largest number of steps from a function to an object that is searched: from the function to an object in its
closure is one step, from there to an attribute another."""

_OPAQUE = (type, ModuleType, Backend, Graph, Node, str, bytes, int, float, complex)


def reachable_tensors(*functions: Callable[..., Any]) -> list[Tensor]:
    """The tensors that functions reach by closures, default arguments, bound objects and attributes, each once.

    >>> import tensorbackend as tb
    >>> def outer(x):
    ...     return lambda: {"twice": [x, x]}
    >>> x = tb.ones(3)
    >>> [tensor is x for tensor in reachable_tensors(outer(x))]
    [True]
    """
    tensors: list[Tensor] = []
    seen: set[int] = set()
    waiting: deque[tuple[Any, int]] = deque((function, 0) for function in functions)
    while waiting:
        value, depth = waiting.popleft()
        if id(value) in seen or isinstance(value, _OPAQUE):
            continue
        seen.add(id(value))
        if isinstance(value, Tensor):
            tensors.append(value)
        elif depth < _DEPTH:
            waiting.extend((child, depth + 1) for child in _children(value))
    return tensors


def _children(value: Any) -> Iterator[Any]:
    """The objects directly inside a function, a container or any other object."""
    if isinstance(value, FunctionType):
        yield from (cell.cell_contents for cell in value.__closure__ or () if _is_full(cell))
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
    elif isinstance(value, MethodType):
        yield from (value.__self__, value.__func__)
    elif isinstance(value, partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, set | frozenset):
        yield from value
    else:
        leaves, tree = flatten(value)
        yield from leaves if tree.kind is not None else getattr(value, "__dict__", {}).values()


def _is_full(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 # raises for an empty cell
    except ValueError:
        return False
    return True


def freeze_variables(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a function with the current values of its free variables, such as the variable of a loop.

    Variables to which the function itself assigns remain shared.

    >>> functions = [lambda: number for number in range(3)]
    >>> [function() for function in functions]
    [2, 2, 2]
    >>> [function() for function in [freeze_variables(lambda: number) for number in range(3)]]
    [0, 1, 2]
    """
    if not isinstance(function, FunctionType) or not function.__closure__:
        return function
    shared = _assigned_variables(function.__code__)
    cells = tuple(
        CellType(cell.cell_contents) if name not in shared and _is_full(cell) else cell
        for name, cell in zip(function.__code__.co_freevars, function.__closure__, strict=True)
    )
    copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


@cache
def _assigned_variables(code: CodeType) -> frozenset[str]:
    """The variables of enclosing functions to which code, or code inside it, assigns."""
    from dis import get_instructions  # slow to import, and only custom gradients need it

    names = {
        instruction.argval
        for instruction in get_instructions(code)
        if instruction.opname in ("STORE_DEREF", "DELETE_DEREF")
    }
    inner = [_assigned_variables(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return frozenset(names.union(*inner))
