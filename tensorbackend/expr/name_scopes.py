"""`name_scope`: names for the parts of a program, which graphs, dry runs, profiles and errors show."""

from __future__ import annotations

from contextvars import Token
from sys import exception
from typing import Final

from ..declarations.argument_errors import check_arguments_early
from ..errors import ArgumentError, TensorBackendError, expected
from ..scopes import Block
from .node import current_scope


@check_arguments_early
def name_scope(name: str) -> Block[str]:
    """Name the ops of a `with` block, or of each call of a decorated function.

    The name stands behind the line of an op in graphs, dry runs, profiles and errors. Names of nested
    blocks are joined by slashes.

    Parameters
    ----------
    name : str
        A name, such as `"encoder"`.

    Returns
    -------
    Block
        A `with` block, which is also a decorator; `as` binds the whole name.

    Raises
    ------
    ArgumentError
        For an empty name.

    Examples
    --------
    >>> @tb.name_scope("attention")
    ... def weights(x):
    ...     return tb.softmax(x)
    >>> def model(x):
    ...     with tb.name_scope("encoder"):
    ...         return weights(x)
    >>> graph = tb.trace(model)("f32[feature=3]")
    >>> graph.nodes[-1].line.scope
    'encoder/attention'
    """
    if not name:
        raise ArgumentError(expected("a name", name=name))
    return NameScope(name)


class NameScope(Block[str]):
    """A block in which the names of those around it and its own are the scope."""

    def __init__(self, name: str) -> None:
        super().__init__(name, ())
        self._name = name

    def __enter__(self) -> str:
        around = current_scope.get()
        self._value = f"{around}/{self._name}" if around else self._name
        self._settings = {current_scope: self._value}
        self._handled = exception()
        return super().__enter__()

    def _ended(self, key: Token[None]) -> None:
        told = exception()  # the error that ends the block, or one that a handler around it handles
        if told is self._handled:
            told = None
        notes = getattr(told, "__notes__", ())
        if isinstance(told, TensorBackendError) and not any(note.startswith(_NOTE) for note in notes):
            told.add_note(f"{_NOTE}{self._value}")
        super()._ended(key)


_NOTE: Final = "in the scope "
