"""The source of what a frame evaluates, on every Python."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import Any

from tensorbackend.tensor.missing_names import expression_at


class Reads(tuple[int, ...]):
    """Notes what iterates over it."""

    seen: list[ast.expr | None]

    def __iter__(self) -> Iterator[int]:
        self.seen.append(expression_at(sys._getframe(1)))
        return tuple.__iter__(self)


def reads() -> Reads:
    made = Reads((1, 2))
    made.seen = []
    return made


def unparsed(made: Reads) -> list[str]:
    return [ast.unparse(node) if node is not None else "" for node in made.seen]


def test_targets_and_expressions() -> None:
    r = reads()
    a, b = r
    (a, b) = r
    [a, b] = r
    for a, b in [r]:
        assert (a, b) == (1, 2)
    é, (b) = r
    assert list(r) == [*r] == [é, b]
    assert unparsed(r) == ["(a, b)", "(a, b)", "[a, b]", "(a, b)", "(é, b)", "list(r)", "[*r]"]


def test_code_without_source_has_none() -> None:
    names: dict[str, Any] = {"r": reads()}
    exec("a, b = r", names)
    assert names["r"].seen == [None]
