"""The quickest way to a ready call of one or two tensors without options: one look-up after another.

`entries[template1][template2]` takes 40 ns less than building a tuple of these and looking that up. Each record here is
in the op's memo too. Only the memo is bounded, and only its kernels are replaced: whoever takes a record out of the
memo clears the entries here, and the next call of the kind enters its record again.

An entry belongs to one backend, the one that called last with these templates. A program that calls two backends in
turn with the same templates finds its calls in the memo.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, Final

from ..locks import free_in_child
from ..template import Template

# Held from the look-up in the memo until the record is entered here.
_lock = threading.RLock()
free_in_child(sys.modules[__name__], "_lock")


class Near:
    """The ready calls of an op, found without a tuple as their key."""

    def __init__(self, memo: dict[Any, Any], beside: dict[Any, Any]) -> None:
        self.memo: Final = memo
        """The op's memo: records of calls by tuples of the templates and, last, the backend."""
        self.beside: Final = beside
        """The op's memo of calls with Python numbers: by tuples of the precision, the template of each tensor and the
        class of each number, and the backend."""
        self.entries: Final[dict[Template, Any]] = {}
        """By the template of each tensor: output template, function, `run` of its context, and backend."""
        self.numbers: Final[tuple[dict[int, Any], dict[int, Any]]] = {}, {}
        """The same of a tensor and a number, and the function that makes the number's payload; by the precision, the
        template and the class of the number. The first member is for calls whose first operand is the number."""

    def enter(self, key: tuple[Any, ...], record: Any) -> None:
        """Enters a record, if the memo still holds it under the key."""
        *templates, backend = key
        out, function, run, *_ = record
        with _lock:
            if self.memo.get(key) is record:
                _enter(self.entries, templates, (out, function, run, backend))

    def enter_beside(self, key: tuple[Any, ...], known: Any) -> None:
        """Enters a call of a tensor and a number, if the memo still holds it under the key."""
        precision, *kinds, backend = key
        numbered = [kind.__class__ is not Template for kind in kinds]
        if len(kinds) != 2 or sum(numbered) != 1:
            return
        position = numbered.index(True)
        path = precision, kinds[1 - position], kinds[position]
        (out, function, run, *_), constants = known
        with _lock:
            if self.beside.get(key) is known:
                _enter(self.numbers[position], path, (out, function, run, backend, constants[position]))

    def clear(self) -> None:
        """Drops all entries, after something was taken out of a memo."""
        with _lock:
            for entries in (self.entries, *self.numbers):
                entries.clear()


def _enter(level: dict[Any, Any], path: Any, entry: Any) -> None:
    *leading, last = path
    for part in leading:
        level = level.setdefault(part, {})
    level[last] = entry
