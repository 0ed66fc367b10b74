"""Tensors as text and as pictures, and namespaces as `dir()` shows them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

from .text import ends as ends
from .text import heading as heading
from .text import plain_table as plain_table
from .text import show as show
from .text import show_elements as show_elements
from .text import table as table
from .text import terminal_width as terminal_width


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
