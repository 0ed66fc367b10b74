"""The memory that a callback takes beside its inputs and its result: declared with the callback, read by dry runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from .core import Core, own_method

Space: TypeAlias = Callable[..., int]
"""Bytes that a call of a callback takes at its most beside its inputs and its result. Called as the callback is, with
templates in place of tensors."""

Method = TypeVar("Method", bound=Callable[..., Any])


def takes(space: Space) -> Callable[[Method], Method]:
    """Declares the memory that a backend's callback takes beside its inputs and its result.

    Parameters
    ----------
    space : callable
        The output template, the templates of the inputs and the options by keyword give a number of bytes, for the
        usual data where the data decides.

    Returns
    -------
    callable
        A decorator, which leaves the callback as it is.

    Examples
    --------
    A callback that casts its result at the end holds both for a moment:

    >>> from tensorbackend.extending import takes
    >>> from tensorbackend.protocol import Backend
    >>> class Doubled(Backend):
    ...     @takes(lambda out, x: 2 * out.nbytes)
    ...     def negate(self, out, x, /):
    ...         return (-x.data.astype("float64")).astype("float32")
    """

    def declare(method: Method) -> Method:
        method.__space__ = space  # type: ignore[attr-defined] # read by `space_of`
        return method

    return declare


def space_of(backend: Core, callback: str, out: Any, inputs: Any, options: Any) -> int | None:
    """The bytes that a backend's own callback declares to take, 0 where it declares nothing; `None` for one that it
    lacks."""
    method = own_method(backend, callback)
    if method is None:
        return None
    space: Space | None = getattr(method, "__space__", None)
    return 0 if space is None else max(0, space(out, *inputs, **options))
