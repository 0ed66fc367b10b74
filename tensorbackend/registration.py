"""What higher layers supply to a layer: entries by name, each declared once, and functions that it calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

Entry = TypeVar("Entry")
Function = TypeVar("Function", bound=Callable[..., Any])


class Registry(dict[str, Entry], Generic[Entry]):
    """Entries by name; a second one of a name is an error.

    >>> rules: Registry[int] = Registry("the rule of")
    >>> rules.declare(1, "add")
    >>> rules.declare(2, "add")
    Traceback (most recent call last):
        ...
    TypeError: the rule of 'add' is declared twice
    """

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what: Final = what
        """What an entry is, in front of the name in the error."""

    def declare(self, entry: Entry, *names: str) -> None:
        """Adds an entry under some names; `TypeError` for a name that has one."""
        for name in names:
            if name in self:
                raise TypeError(f"{self.what} {name!r} is declared twice")
            self[name] = entry

    def of(self, *names: str) -> Callable[[Entry], Entry]:
        """The decorator of an entry that is declared under some names."""

        def declared(entry: Entry) -> Entry:
            self.declare(entry, *names)
            return entry

        return declared


class SuppliedFunction(Generic[Function]):
    """A function that a higher layer supplies to the one that calls it; `call` is the default until then.

    >>> load: SuppliedFunction[Callable[[], str]] = SuppliedFunction(lambda: "nothing")
    >>> _ = load.supply(lambda: "all ops")
    >>> load.call()
    'all ops'
    """

    def __init__(self, default: Function) -> None:
        self.call: Function = default

    def supply(self, function: Function) -> Function:
        """Sets the function, and returns it, so that this is a decorator."""
        self.call = function
        return function
