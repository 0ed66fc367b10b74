"""The memory that a callback needs besides its inputs and its result: declared with the callback, read by dry runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from .callbacks import own_method
from .core import Core

Space: TypeAlias = Callable[..., int]
"""A function that returns the most bytes that a call of a callback takes at one time, besides its inputs and its
result. It is called as the callback is, with templates in place of tensors."""

Method = TypeVar("Method", bound=Callable[..., Any])


def takes(space: Space) -> Callable[[Method], Method]:
    """Declares the memory that a backend's callback needs besides its inputs and its result.

    Parameters
    ----------
    space : callable
        A function that returns the number of bytes, for typical data if it depends on data. It takes the output
        template, the templates of the inputs and the options by keyword.

    Returns
    -------
    callable
        A decorator, which returns the callback unchanged.

    Examples
    --------
    A callback that casts its result at the end temporarily holds the result in both dtypes:

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
    """The bytes that a backend's own callback declares: 0 if it declares nothing, `None` if the backend lacks it."""
    method = own_method(backend, callback)
    if method is None:
        return None
    space: Space | None = getattr(method, "__space__", None)
    return 0 if space is None else max(0, space(out, *inputs, **options))
