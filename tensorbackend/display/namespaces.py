"""What `dir()` shows of a public namespace."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType


def directory(module: str) -> Callable[[], list[str]]:
    """The `__dir__` of a namespace: its public functions and classes in order, without the modules that define them.

    >>> import tensorbackend as tb
    >>> "adam" in dir(tb.optimize), "moments" in dir(tb.optimize)
    (True, False)
    """

    def names() -> list[str]:
        namespace = sys.modules[module]
        ours = module.partition(".")[0] if hasattr(namespace, "__path__") else module
        return sorted(
            name
            for name, value in vars(namespace).items()
            if not name.startswith("_")
            and not isinstance(value, ModuleType)
            and f"{getattr(value, '__module__', None) or module}.".startswith(f"{ours}.")
        )

    return names
