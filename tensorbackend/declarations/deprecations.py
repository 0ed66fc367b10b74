"""Public functions and options that a later release removes: the warning, and the note in the docstring."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, NamedTuple, ParamSpec, TypeVar

from ..errors import ArgumentError, expected
from ..errors.tracebacks import is_ours

P = ParamSpec("P")
R = TypeVar("R")


class Deprecation(NamedTuple):
    """What is deprecated of a function."""

    since: str
    """The first version that warns."""
    removal: str
    """The first version without it."""
    remedy: str
    option: str | None
    """The parameter that is deprecated; `None` if the function is."""

    def __str__(self) -> str:
        what = "deprecated" if self.option is None else f"{self.option} is deprecated"
        return f"{what} since {self.since} and removed in {self.removal}; {self.remedy}"


def deprecated(
    remedy: str, *, since: str, removal: str, option: str | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Marks a public function or method, or one of its options, that a later release removes.

    Each call, or each that passes the option, issues a `DeprecationWarning` at the user's line. The docstring gets a
    note, and the list of the public interface and the page of deprecations read `deprecations`.

    Parameters
    ----------
    remedy : str
        What to write instead, such as "write tb.new(x)".
    since : str
        The first version that warns.
    removal : str
        The first version without it.
    option : str, optional
        The parameter; by default the function itself is deprecated.

    Returns
    -------
    Callable
        The decorator.

    Examples
    --------
    >>> import warnings
    >>> @deprecated("write x * 2", since="0.2", removal="0.3")
    ... def double(x):
    ...     return x + x
    >>> with warnings.catch_warnings(record=True) as issued:
    ...     warnings.simplefilter("always")
    ...     double(3)
    6
    >>> print(issued[0].message)
    double: deprecated since 0.2 and removed in 0.3; write x * 2
    """
    notice = Deprecation(since, removal, remedy, option)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = function.__name__
        parameters = signature(function)
        if option is not None and option not in parameters.parameters:
            raise ArgumentError(expected(f"a parameter of {name}", option=option))

        @wraps(function)
        def warning(*args: P.args, **kwargs: P.kwargs) -> R:
            if option is None or option in parameters.bind_partial(*args, **kwargs).arguments:
                warnings.warn(f"{name}: {notice}", DeprecationWarning, stacklevel=_level())
            return function(*args, **kwargs)

        marked: Any = warning
        marked.deprecations = (*deprecations(function), notice)
        marked.__doc__ = _noted(function.__doc__ or "", notice)
        if option is None:
            marked.__deprecated__ = str(notice)  # where tools look (PEP 702)
        return warning

    return decorate


def deprecations(value: object) -> tuple[Deprecation, ...]:
    """What is deprecated of a public object."""
    found: tuple[Deprecation, ...] = getattr(value, "deprecations", ())
    return found if isinstance(found, tuple) else ()


def _level() -> int:
    """How many frames above `warnings.warn` the user's line is."""
    level, frame = 1, sys._getframe(1)
    while is_ours(frame.f_code.co_filename) and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    return level


def _noted(docstring: str, notice: Deprecation) -> str:
    """A docstring with a note below its first paragraph."""
    head, gap, rest = docstring.partition("\n\n")
    indent = rest[: len(rest) - len(rest.lstrip(" "))]
    text = f"*{str(notice)[0].upper()}{str(notice)[1:]}.*"
    return f"{head.rstrip()}\n\n{indent}{text}{gap}{rest}"
