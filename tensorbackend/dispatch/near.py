"""The quickest way to a ready call of one or two tensors without options: one look-up after another.

`entries[backend][template1][template2]` takes 40 ns less than building a tuple of these and looking that up. Each
record here is in the op's memo too. Only the memo is bounded, and only its kernels are replaced: whoever takes a record
out of the memo clears the entries here, and the next call of the kind enters its record again.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, Final

from ..locks import free_in_child
from ..protocol import Backend
from ..template import Template

# Held from the look-up in the memo until the record is entered here.
_lock = threading.RLock()
free_in_child(sys.modules[__name__], "_lock")


class Near:
    """The ready calls of an op, found without a tuple as their key."""

    def __init__(self, memo: dict[Any, Any]) -> None:
        self.memo: Final = memo
        """The op's memo: records of calls by tuples of the templates and, last, the backend."""
        self.entries: Final[dict[Backend, dict[Template, Any]]] = {}
        """Records by the backend and the template of each tensor."""

    def enter(self, key: tuple[Any, ...], record: Any) -> None:
        """Enters a record, if the memo still holds it under the key."""
        *templates, backend = key
        with _lock:
            if self.memo.get(key) is not record:
                return
            level: dict[Any, Any] = self.entries.setdefault(backend, {})
            for template in templates[:-1]:
                level = level.setdefault(template, {})
            level[templates[-1]] = record

    def clear(self) -> None:
        """Drops all entries, after something was taken out of the memo."""
        with _lock:
            self.entries.clear()
