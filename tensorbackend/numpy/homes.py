"""On which backend a call of the namespace computes: that of the arrays among its arguments.

Functions make arrays of the lists, numbers and NumPy's arrays that they get, and others of their own. All of these
belong where the arrays of the call are. So where that is not the default backend, it is the default while the function
runs, from its first line to the last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from inspect import Parameter, Signature
from typing import Any, Final, TypeVar

from ..errors import BackendError
from ..protocol import Backend
from ..select import apart, call_with_default, common_backend
from ..select.default import process_default, scoped_default
from ..tensor import Tensor
from .arrays import ndarray
from .dtypes import NUMBERS

Method = TypeVar("Method", bound=Callable[..., Any])

_SEARCHED_ENTRIES: Final = 8
"""The entries of a list in which arrays are looked for, unless its first, middle and last ones are numbers."""

_DEPTH: Final = 4
"""How deep lists are looked into, as one may hold itself."""

scoped: Final = scoped_default.get


def home_of(values: Sequence[Any], depth: int = _DEPTH) -> Backend | None:
    """The backend on which a call with these arguments computes, if it is not the default one.

    It is that of the arrays among them, else that of the arrays in lists among them. `None` also in a trace, whose
    constants follow its values, and for arrays on two backends, which the first op refuses.
    """
    lists = None
    for value in values:
        kind = value.__class__
        if kind is list or kind is tuple:
            if not value:
                continue
            first = value[0]
            if first.__class__ is not ndarray or place_of(first) is not (scoped() or process_default[0]):
                if first.__class__ in NUMBERS and value[-1].__class__ in NUMBERS:
                    middle = value[len(value) // 2]
                    if middle.__class__ in NUMBERS:
                        continue
                    value = (middle,)
                lists = [value] if lists is None else [*lists, value]
                continue
        elif kind is ndarray or kind is Tensor:
            place = value.backend if kind is Tensor else place_of(value)
            if place is not (scoped() or process_default[0]):
                return _chosen(values)
        else:
            continue
        return None  # with one array on the default backend all are, or yield
    if lists is None or not depth:
        return None
    return home_of([part for each in lists for part in each[:_SEARCHED_ENTRIES]], depth - 1)


def place_of(array: ndarray) -> Backend:
    """The backend of an array."""
    t: Tensor | None = array._t
    return array._root._t.backend if t is None else t.backend


def _chosen(values: Sequence[Any]) -> Backend | None:
    arrays = [value for value in values if value.__class__ is ndarray]
    tensors = [value for value in values if value.__class__ is Tensor]
    try:
        return apart(common_backend([*tensors, *(each._root._t if each._t is None else each._t for each in arrays)]))
    except BackendError:
        return None


def call_at_home(home: Backend, function: Callable[..., Any], given: Signature, values: Mapping[str, Any]) -> Any:
    """Calls a function with its home as the default backend.

    Parameters
    ----------
    home : Backend
        The backend, as `home_of` found it.
    function : Callable
        The function.
    given : Signature
        Its parameters.
    values : Mapping
        Their values by name, among others.

    Returns
    -------
    Any
        Its result.
    """
    arguments, options = split_values(given, values)
    return call_with_default(home, lambda: function(*arguments, **options))


def split_values(
    given: Signature, values: Mapping[str, Any], changed: bool = False
) -> tuple[list[Any], dict[str, Any]]:
    """The values of parameters, passed by position where that is allowed and by name otherwise.

    With `changed` those at their defaults are left out, and `out` is passed by name.
    """
    arguments: list[Any] = []
    options: dict[str, Any] = {}
    skips = False
    for name, parameter in given.parameters.items():
        value = values[name]
        if parameter.kind is Parameter.VAR_POSITIONAL:
            arguments += value
        elif parameter.kind is Parameter.VAR_KEYWORD:
            options |= value
        elif changed and value is parameter.default:
            skips = True
        elif skips or parameter.kind is Parameter.KEYWORD_ONLY or (changed and name == "out"):
            options[name] = value
        else:
            arguments.append(value)
    return arguments, options


def at_home(method: Method, by_numpy: bool = False) -> Method:
    """Make a method whose default backend is that of the arrays among its arguments.

    With `by_numpy` it is NumPy's own method where the generator has one of NumPy's streams.
    """
    name = method.__name__

    @wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        if by_numpy and self._numpy is not None:
            return self._draw_by_numpy(name, *arguments, **options)
        if not options and (not arguments or NUMBERS.issuperset(map(type, arguments))):
            return method(self, *arguments)
        home = home_of([*arguments, *options.values()])
        if home is None:
            return method(self, *arguments, **options)
        return call_with_default(home, partial(method, self, *arguments, **options))

    return call  # type: ignore[return-value] # it takes what the method takes
