"""What the source says where a frame is, for errors that name what the user wrote."""

from __future__ import annotations

import ast
import linecache
from itertools import islice
from types import FrameType


def expression_at(frame: FrameType) -> ast.expr | None:
    """The expression or the target of an assignment that a frame evaluates.

    `None` if its source is not known, or if a whole statement runs.

    >>> import sys
    >>> names = {"at": lambda: expression_at(sys._getframe(1))}
    >>> exec("answer = at()", names)
    >>> names["answer"] is None  # code without a source
    True
    """
    code = frame.f_code
    # One place for each two bytes of the instructions, as the standard library's `traceback` takes it.
    place = next(islice(code.co_positions(), frame.f_lasti // 2, None), None)
    if place is None or None in place:
        return None
    first, last, start, end = (part or 0 for part in place)
    lines = [linecache.getline(code.co_filename, line, frame.f_globals).encode() for line in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    text = b"".join(lines)
    try:
        return ast.parse(b"(" + text + b"\n)", mode="eval").body if text.strip() else None
    except (SyntaxError, ValueError):
        return None
