"""What higher layers supply to a layer: entries by name, each declared once, and functions that it calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

Entry = TypeVar("Entry")
Function = TypeVar("Function", bound=Callable[..., Any])


class Registry(dict[str, Entry], Generic[Entry]):
    """Entries by name; a second one of a name is an error, unless the same module declares it.

    An import that fails, by an interrupt for instance, leaves the entries of a module that the next try runs again.

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
        self._modules: Final[dict[str, str | None]] = {}

    def declare(self, entry: Entry, *names: str, module: str | None = None) -> None:
        """Adds an entry under some names; `TypeError` for a name that has another one, not of the same module."""
        for name in names:
            if name in self and self[name] != entry and (module is None or self._modules[name] != module):
                raise TypeError(f"{self.what} {name!r} is declared twice")
        for name in names:
            self._modules[name], self[name] = module, entry

    def of(self, *names: str) -> Callable[[Entry], Entry]:
        """The decorator of a function that is declared under some names."""

        def declared(entry: Entry) -> Entry:
            self.declare(entry, *names, module=getattr(entry, "__module__", None))
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
