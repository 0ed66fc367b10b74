"""An interrupt at the end of an iteration neither leaves a lock held nor ends a command in a traceback.

From Python 3.13 on, the jump back of an iteration that ends by a condition has no handler of its function. An interrupt
that comes there passes over `finally`, `except` and the end of a `with` block. So what has to be ended is in another
function than such a loop.
"""

from __future__ import annotations

import ast
import dis
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

PACKAGE = Path(__file__).parents[2] / "tensorbackend"


def codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and those of the functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def must_end(node: ast.With) -> bool:
    """Whether a block holds a lock or handles signals."""
    return any(ast.unparse(item.context_expr).endswith(("lock", "_stop_on_signals()")) for item in node.items)


def uncovered(source: str) -> list[int]:
    """The lines in such blocks after which an interrupt would pass over the end of the block."""
    nodes = ast.walk(ast.parse(source))
    blocks = [(node.lineno, node.end_lineno or 0) for node in nodes if isinstance(node, ast.With) and must_end(node)]
    found = []
    for code in codes(compile(source, "<source>", "exec")) if blocks else ():
        handled = {offset for start, end, *_ in handlers(code) for offset in range(start, end)}
        for step in dis.get_instructions(code):
            line = step.positions.lineno if step.positions else None
            if step.opname == "JUMP_BACKWARD" and step.offset not in handled and line is not None:
                found += [line for first, last in blocks if first < line <= last and code.co_firstlineno < first]
    return found


def handlers(code: CodeType) -> Iterator[tuple[int, ...]]:
    """The ranges of instructions that have a handler: the varints of CPython's table of exceptions."""
    numbers, number = [], 0
    for byte in code.co_exceptiontable:
        number = (number << 6) | (byte & 63)
        if not byte & 64:
            numbers.append(number)
            number = 0
    for place in range(0, len(numbers), 4):
        start, length, *rest = numbers[place : place + 4]
        yield 2 * start, 2 * (start + length), *rest


def test_a_block_ends_wherever_an_interrupt_comes() -> None:
    found = {path.relative_to(PACKAGE).as_posix(): uncovered(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_a_loop_without_a_handler_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "def f(x):\n    with lock:\n        for y in x:\n            g(y)\n"
    assert uncovered(source) == []
    monkeypatch.setattr(f"{__name__}.handlers", lambda code: iter(()))
    assert uncovered(source) != []
