"""What a later release removes: functions, options, classes and constants; the warning, and the note in a docstring."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, NamedTuple, TypeVar, cast

from ..errors import ArgumentError, expected
from ..errors.tracebacks import is_ours

T = TypeVar("T", bound=Callable[..., Any])


class Deprecation(NamedTuple):
    """What is deprecated, of a function, a class or a constant."""

    since: str
    """The first version that warns."""
    removal: str
    """The first version without it."""
    remedy: str
    option: str | None
    """The parameter that is deprecated; `None` if the function, the class or the constant is."""

    def __str__(self) -> str:
        what = "deprecated" if self.option is None else f"{self.option} is deprecated"
        return f"{what} since {self.since} and removed in {self.removal}; {self.remedy}"


class Constant(NamedTuple):
    """A constant that is deprecated: its value, and what the warning says."""

    value: Any
    notice: Deprecation


CONSTANTS: dict[str, Mapping[str, Constant]] = {}
"""The deprecated constants of each module, which the list of the public interface reads."""


def deprecated(remedy: str, *, since: str, removal: str, option: str | None = None) -> Callable[[T], T]:
    """Marks a public function, method or class, or an option of it, that a later release removes.

    Each call, or each that passes the option, issues a `DeprecationWarning` at the user's line. So does each instance
    of a class and each class that is derived from it. The docstring gets a note, and the list of the public interface
    and the page of deprecations read `deprecations`.

    Parameters
    ----------
    remedy : str
        What to write instead, such as "write tb.new(x)".
    since : str
        The first version that warns.
    removal : str
        The first version without it.
    option : str, optional
        The parameter of a function; by default what is decorated is deprecated itself.

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

    def decorate(marked: T) -> T:
        if isinstance(marked, type):
            if option is not None:
                raise ArgumentError(expected("no option for a class", option=option))
            _warn_of_class(marked, notice)
            result: Any = marked
        else:
            result = _warning(marked, notice)
        result.__deprecations__ = (*deprecations(marked), notice)
        result.__doc__ = _noted(marked.__doc__ or "", notice)
        if option is None:
            result.__deprecated__ = str(notice)  # where tools look (PEP 702)
        return cast(T, result)

    return decorate


def _warning(function: Callable[..., Any], notice: Deprecation) -> Callable[..., Any]:
    """A function that warns, each time or where the option is passed, and does what the function does."""
    name, option, parameters = function.__name__, notice.option, signature(function)
    if option is not None and option not in parameters.parameters:
        raise ArgumentError(expected(f"a parameter of {name}", option=option))

    @wraps(function)
    def warning(*args: Any, **kwargs: Any) -> Any:
        if option is None or option in parameters.bind_partial(*args, **kwargs).arguments:
            _warn(name, notice)
        return function(*args, **kwargs)

    return warning


def _warn_of_class(marked: type, notice: Deprecation) -> None:
    """Lets a class warn where an instance of it is made, and where a class is derived from it."""
    changed: Any = marked
    shown = signature(marked)
    new, derived = vars(marked).get("__new__"), vars(marked).get("__init_subclass__")

    def make(kind: Any, /, *args: Any, **kwargs: Any) -> Any:
        if kind is marked:
            _warn(marked.__name__, notice)
        if new is not None:
            return new.__func__(kind, *args, **kwargs)
        inherited = super(changed, kind).__new__
        if inherited is not object.__new__:
            return inherited(kind, *args, **kwargs)
        if (args or kwargs) and kind.__init__ is object.__init__:  # which `object.__new__` alone would refuse
            raise TypeError(f"{kind.__name__}() takes no arguments")
        return inherited(kind)

    def derive(kind: Any, /, **options: Any) -> None:
        if marked in kind.__bases__:
            _warn(marked.__name__, notice)
        if derived is not None:
            derived.__func__(kind, **options)
        else:
            super(changed, kind).__init_subclass__(**options)

    changed.__new__ = staticmethod(make)
    changed.__init_subclass__ = classmethod(derive)
    changed.__signature__ = shown  # not that of `make`


def deprecated_constants(
    module: str, constants: Mapping[str, Constant], otherwise: Callable[[str], Any] | None = None
) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a module some of whose constants a later release removes.

    A constant moves from an assignment to `constants`; each use issues a `DeprecationWarning` at the user's line.

    Parameters
    ----------
    module : str
        The name of the module, `__name__`.
    constants : Mapping
        The values, each with what the warning says.
    otherwise : Callable, optional
        The `__getattr__` that the module has for other names.

    Returns
    -------
    Callable
        The function to assign to `__getattr__`.

    Examples
    --------
    >>> half = Constant(0.5, Deprecation("0.2", "0.3", "write 1 / 2", None))
    >>> __getattr__ = deprecated_constants("geometry", {"HALF": half})
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as issued:
    ...     warnings.simplefilter("always")
    ...     __getattr__("HALF")
    0.5
    >>> print(issued[0].message)
    HALF: deprecated since 0.2 and removed in 0.3; write 1 / 2
    >>> del CONSTANTS["geometry"]
    """
    CONSTANTS[module] = constants

    def read(name: str) -> Any:
        if name in constants:
            _warn(name, constants[name].notice)
            return constants[name].value
        if otherwise is not None:
            return otherwise(name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return read


def deprecations(value: object) -> tuple[Deprecation, ...]:
    """What is deprecated of a public object; of a class, nothing that only its bases are."""
    return tuple(getattr(value, "__dict__", {}).get("__deprecations__", ()))


def _warn(name: str, notice: Deprecation) -> None:
    warnings.warn(f"{name}: {notice}", DeprecationWarning, stacklevel=_level())


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
