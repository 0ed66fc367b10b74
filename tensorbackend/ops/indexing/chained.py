"""Whether an assignment is lost, as in `x[0][1] = 5`: `x[0]` is a new tensor, and nothing refers to it afterwards.

The caller's source says so, in the same way on every Python. It is read once for each function that assigns. A function
whose targets are all variables is *plain*, and the next assignment in it is not looked at. Otherwise a function of the
frame is made for each target whose last brackets follow brackets, an attribute or a call: an element, an attribute, a
method or an op of a tensor is a new tensor. Variables and parts of containers are looked up; no code of the user runs.

Where the source is not known (`exec`, the prompt of Python 3.11 and 3.12), nothing is refused.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Callable, Mapping
from types import CodeType, FrameType, MemberDescriptorType, ModuleType
from typing import Any, Final
from weakref import ReferenceType, ref

from ...caching.memos import BoundedMemo
from ...tensor import Tensor
from ...tensor.methods import ops

_Place = tuple[int | None, int | None, int | None, int | None]
"""The first and the last line of an expression, and its first and last column."""
_Test = Callable[[FrameType], bool]
_Reader = Callable[[FrameType], Any]

plain: Final[list[CodeType | None]] = [None]
"""The code that assigned last, if all of its assignments are to variables."""

_targets: Final[BoundedMemo[tuple[CodeType, Mapping[int, _Target]]]] = BoundedMemo("sources of assignments", 4096)
"""The targets in a code that may be lost, by the code's `id`, next to the code itself, and by their place in the
instructions."""

_UNKNOWN: Final = object()

_SUSPECT: Final = re.compile(r"[\])]\s*\[|\.\s*\w+\s*\[")
"""What the source of such a target has; most functions that assign have none, and are not parsed."""


class _Target:
    """A target that may be lost: the test of its source, and the tensor that was assigned to at last and is not new."""

    __slots__ = ("held", "test")

    def __init__(self, test: _Test) -> None:
        self.test = test
        self.held: ReferenceType[Tensor] | None = None


def is_lost(x: Tensor, caller: FrameType) -> bool:
    """Whether nothing will refer to the tensor that a statement of the calling frame assigns to."""
    code = caller.f_code
    known = _targets.get(id(code))
    if known is None:
        known = _targets.keep(id(code), (code, _find_targets(code, caller.f_globals)))
    if not known[1]:
        plain[0] = code
        return False
    target = known[1].get(caller.f_lasti)
    if target is None or ((held := target.held) is not None and held() is x):
        return False
    if target.test(caller):
        return True
    target.held = ref(x)  # so that the next assignment to it looks nothing up
    return False


def _find_targets(code: CodeType, names: dict[str, Any]) -> dict[int, _Target]:
    """The targets in a code that may be lost."""
    lines = linecache.getlines(code.co_filename, names)
    first, last = code.co_firstlineno, max((line for *_, line in code.co_lines() if line is not None), default=0)
    if code.co_name.startswith("<"):  # a module, or a cell of a notebook
        first, last = 1, len(lines)
    if not _SUSPECT.search("".join(lines[first - 1 : last])):
        return {}
    try:
        tree, skipped = _parsed(lines, first, code)
    except Exception:  # the source of something else, as of a file that was changed
        return {}
    found: dict[_Place, _Target] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            test = _makes_tensor(node.value)
            if test is not None:
                line, end = node.lineno + skipped, (node.end_lineno or node.lineno) + skipped
                found[line, end, node.col_offset, node.end_col_offset] = _Target(test)
    if not found:
        return {}
    return {2 * number: found[place] for number, place in enumerate(code.co_positions()) if place in found}


def _parsed(lines: list[str], first: int, code: CodeType) -> tuple[ast.AST, int]:
    """The source of a code as a tree, and how many lines are in front of it."""
    if code.co_name.startswith("<"):
        return ast.parse("".join(lines)), 0
    from inspect import getblock  # slow to import

    block = getblock(lines[first - 1 :])
    if block[0][:1].isspace():
        return ast.parse("if 1:\n" + "".join(block)), first - 2
    return ast.parse("".join(block)), first - 1


def _makes_tensor(node: ast.expr) -> _Test | None:
    """A test whether an expression makes a new tensor at each evaluation; `None` if it never does."""
    if isinstance(node, ast.Subscript):
        return _is_tensor(node.value)
    if isinstance(node, ast.Attribute) and node.attr == "T":  # a tensor of one axis itself
        made, read = _makes_tensor(node.value), _reader(node.value)
        return lambda frame: (made is not None and made(frame)) or getattr(_tensor(read, frame), "ndim", 0) > 1
    if isinstance(node, ast.Attribute):
        return _is_tensor(node.value) if hasattr(Tensor, node.attr) else None
    if not isinstance(node, ast.Call):
        return None
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in _SAME:
        return None
    method = _is_tensor(function.value) if isinstance(function, ast.Attribute) and hasattr(Tensor, name) else None
    read = _reader(function) if name in ops else None
    if read is None:
        return method
    return lambda frame: (method is not None and method(frame)) or read(frame) is ops[name]


_SAME: Final = frozenset({"asarray", "backend_transfer", "block_until_ready", "to_device"})
"""What may return the tensor that it takes."""


def _is_tensor(node: ast.expr) -> _Test | None:
    """A test whether the value of an expression is a tensor; `None` if that cannot be found out."""
    made, read = _makes_tensor(node), _reader(node)
    if made is None:
        return read and (lambda frame: isinstance(read(frame), Tensor))
    return lambda frame: _tensor(read, frame) is not None or made(frame)


def _tensor(read: _Reader | None, frame: FrameType) -> Tensor | None:
    value = read and read(frame)
    return value if isinstance(value, Tensor) else None


def _reader(node: ast.expr) -> _Reader | None:
    """A function that finds the value of an expression in a frame without running code of the user, or `_UNKNOWN`;
    `None` if there is no way."""
    if isinstance(node, ast.Name):
        name = node.id

        def read_name(frame: FrameType) -> Any:
            names = frame.f_locals
            return names[name] if name in names else frame.f_globals.get(name, _UNKNOWN)

        return read_name
    try:
        constant = ast.literal_eval(node)
    except ValueError:
        pass
    else:
        return lambda frame: constant
    if isinstance(node, ast.Attribute):
        owner, attribute = _reader(node.value), node.attr
        return owner and (lambda frame: _attribute(owner(frame), attribute))
    if isinstance(node, ast.Subscript):
        container, key = _reader(node.value), _reader(node.slice)
        return container and key and (lambda frame: _part(container(frame), key, frame))
    return None


def _attribute(owner: Any, name: str) -> Any:
    """An attribute that an object has of its own, a module or an instance."""
    if isinstance(owner, ModuleType):
        return vars(owner).get(name, _UNKNOWN)
    for kind in type(owner).__mro__:
        if name in vars(kind):
            of_class = vars(kind)[name]
            return getattr(owner, name, _UNKNOWN) if isinstance(of_class, MemberDescriptorType) else _UNKNOWN
    own = getattr(owner, "__dict__", None)
    return own.get(name, _UNKNOWN) if own.__class__ is dict else _UNKNOWN


def _part(container: Any, key: _Reader, frame: FrameType) -> Any:
    """A part of a container of Python's own."""
    part = key(frame)
    if container.__class__ in (dict, list, tuple) and part.__class__ in (int, str):
        try:
            of_any: Any = container
            return of_any[part]
        except (LookupError, TypeError):  # the assignment itself raises it
            pass
    return _UNKNOWN
