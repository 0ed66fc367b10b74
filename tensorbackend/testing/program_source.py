"""A program that is drawn, as source: its inputs, its lines, and the values that they have on NumPy."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import tensorbackend

from ..costs.dry_run import dry_run
from ..dtypes import DType
from ..errors import ArgumentError
from ..protocol import Backend
from ..tensor import Tensor
from .divergences import Divergence
from .source import source

MOST_ELEMENTS: Final = 2**14
"""The largest size of a value."""

MOST_BYTES: Final = 2**24
"""The most memory that a line may take, with all values before it."""

MOST_FLOPS: Final = 2**22
"""The most FLOPs of a line, which BinaryBackend computes in a few seconds."""

CONSTANT: Final = 9
"""The number of an operand that is a constant."""

FILE: Final = "program.py"
"""The name of the file that lines of a program are said to be in."""


class Program(NamedTuple):
    """A program and its inputs."""

    inputs: tuple[tuple[str, str, Tensor], ...]
    """The name, the source and the value of each."""
    lines: tuple[str, ...]
    result: str
    slopes: tuple[int, ...] = ()
    """The positions of the inputs by which the gradient is taken; empty for the value alone."""

    @property
    def source(self) -> str:
        """The program as a function of Python."""
        parameters = ", ".join(name for name, _, _ in self.inputs)
        return "\n".join(
            [f"def program({parameters}):", *(f"    {line}" for line in (*self.lines, f"return {self.result}"))]
        )

    @property
    def caller(self) -> str:
        """What is called: the program, or its gradient."""
        return f"tb.value_and_grad(program, {source(self.slopes)})" if self.slopes else "program"

    def function(self) -> Callable[..., Any]:
        """What is called, as a function."""
        text = self.source
        linecache.cache[FILE] = len(text), None, text.splitlines(keepends=True), FILE
        scope: dict[str, Any] = {"tb": tensorbackend}
        exec(compile(text, FILE, "exec"), scope)
        function: Callable[..., Any] = eval(self.caller, scope)
        return function

    def script(self, backend: Backend, *, compiled: bool) -> str:
        """A program to paste, which prints what the reference and a backend compute."""
        called = f"tb.jit({self.caller})" if compiled else self.caller
        arguments = [f"    {name} = {text}" for name, text, _ in self.inputs]
        parameters = ", ".join(name for name, _, _ in self.inputs)
        return "\n".join(
            [
                "import tensorbackend as tb\n",
                f"{self.source}\n",
                f'for backend, function in (("binary", {self.caller}), ({source(backend)}, {called})):',
                "    tb.set_default_backend(backend)",
                *arguments,
                f"    print(function({parameters}))",
            ]
        )

    def __repr__(self) -> str:
        return self.source


class Name:
    """The name of a value, where `source` shows a tensor."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


class Scope:
    """The lines of a function so far, and its values."""

    def __init__(self, dtype: DType, rows: Sequence[Divergence], outer: Scope | None = None) -> None:
        self.dtype, self.rows, self.outer = dtype, rows, outer
        self.root: Scope = self if outer is None else outer.root
        self.lines: list[str] = []
        self.values: dict[str, Tensor] = {} if outer is None else dict(outer.values)
        self.own: list[str] = []
        """The names of values that no other function has, which may be written to."""
        self.read: set[str] = set()
        self.inputs: dict[str, tuple[str, Tensor]] = {}
        self.count = 0

    def fresh(self, letter: str) -> str:
        """A name that no value has."""
        self.root.count += 1
        return f"{letter}{self.root.count - 1}"

    def evaluate(self, text: str) -> Any:
        """The value of an expression."""
        return eval(text, {"tb": tensorbackend, **self.values})

    def run(self, text: str, extra: Sequence[str] = ()) -> Any:
        """The value of an expression after some more lines.

        Raises `ArgumentError` before it runs if it costs too much.
        """

        def line(values: dict[str, Tensor]) -> Any:
            scope = {"tb": tensorbackend, **values}
            exec("\n".join(extra), scope)
            return eval(text, scope)

        cost = dry_run(line, self.values)
        if cost.flops > MOST_FLOPS or cost.peak.memory > MOST_BYTES:
            raise ArgumentError(f"{text} costs too much: {cost.flops} FLOPs, {cost.peak.memory} bytes")
        return line(self.values)

    def add(self, text: str, *, extra: Sequence[str] = ()) -> str | None:
        """Adds a line that gives the value of an expression a name; `None` for a value that is of no use."""
        return self.keep(text, self.run(text, extra), extra)

    def keep(self, text: str, found: Any, extra: Sequence[str] = ()) -> str | None:
        """Adds the line of an expression whose value was found; returns its name, or `None` if it is of no use."""
        while isinstance(found, list | tuple) and found:
            text, found = f"{text}[0]", found[0]
        if not isinstance(found, Tensor) or not is_of_use(found):
            return None
        name = self.fresh("v")
        self.lines += [*extra, f"{name} = {text}"]
        self.values[name] = found
        self.own.append(name)
        self.read |= set(re.findall(r"\b[a-z]\d+\b", "\n".join([*extra, text])))
        return name

    def add_input(self, text: str, value: Tensor) -> str:
        """A new input of the program."""
        name = self.fresh("x")
        scope: Scope | None = self
        while scope is not None:
            scope.values[name] = value
            scope = scope.outer
        self.root.inputs[name] = text, value
        return name

    def state(self) -> tuple[int, dict[str, tuple[str, Tensor]]]:
        """The inputs so far, for `restore`."""
        return self.root.count, dict(self.root.inputs)

    def restore(self, state: tuple[int, dict[str, tuple[str, Tensor]]]) -> None:
        """Removes the inputs that were added after a state, from the functions around this one too."""
        late = self.root.inputs.keys() - state[1].keys()
        self.root.count, self.root.inputs = state
        scope: Scope | None = self
        while scope is not None:
            scope.values = {name: value for name, value in scope.values.items() if name not in late}
            scope = scope.outer

    def pick(self, number: int, fits: Callable[[Tensor], bool] = lambda x: True) -> str | None:
        """The name of one of the values of the program's dtype, of which 0 is the last; `None` if none fits."""
        found = [name for name, x in self.values.items() if x.dtype is self.dtype and x.ndim and fits(x)]
        return found[-1 - number % len(found)] if found else None

    def operand(self, wanted: Tensor, number: int) -> str:
        """The source of an operand in place of a drawn one: a view of a value, a new input, or a constant."""
        if wanted.dtype is not self.dtype and not wanted.dtype.is_inexact:
            return self.add_input(source(wanted), wanted)
        views = [view for name, x in self.values.items() if (view := view_of(name, x, wanted)) is not None]
        if number < len(views):
            return views[-1 - number]
        if number == CONSTANT and wanted.dtype is self.dtype:
            return f"tb.full({wanted.shape}, {0.5 if self.dtype.is_inexact else 2}, dtype=tb.{self.dtype.name})"
        text = _pattern(wanted, number)
        value: Tensor = self.evaluate(text)
        return self.add_input(source(value) if value.size <= 8 else text, value)


def is_of_use(x: Tensor) -> bool:
    """Whether a value is neither empty nor too large, and has finite elements."""
    if not 0 < x.size <= MOST_ELEMENTS or x.dtype.is_narrow:
        return False
    if not x.dtype.is_inexact:
        return True
    return bool(tensorbackend.any(tensorbackend.isfinite(x)))


def _pattern(like: Tensor, number: int) -> str:
    """Halves from -4 to 4, or whole numbers, in a pattern."""
    values = f"(tb.iota({like.size}) * {2 * number + 1} + {number}) % 17 - 8"
    values = f"tb.astype({values}, tb.{like.dtype.name})" + (" / 2" if like.dtype.is_inexact else "")
    return f"tb.reshape({values}, {like.shape})"


def view_of(name: str, x: Tensor, wanted: Tensor) -> str | None:
    """The source of a view of a value that has the shape of another one; `None` if there is none."""
    if x.dtype is not wanted.dtype:
        return None
    if x.shape == wanted.shape:
        return name
    if x.size == wanted.size:
        return f"tb.reshape({name}, {wanted.shape})"
    if x.ndim == wanted.ndim + 1 and x.shape[1:] == wanted.shape and x.shape[0]:
        return f"{name}[-1]"
    if x.ndim == wanted.ndim and all(a >= b for a, b in zip(x.shape, wanted.shape, strict=True)):
        return f"{name}[{', '.join(f':{size}' for size in wanted.shape)}]"
    if not set(x.shape) - {1, *wanted.shape} and _broadcasts(x.shape, wanted.shape):
        return f"tb.broadcast_to({name}, {wanted.shape})"
    if x.size > wanted.size:
        return f"tb.reshape(tb.reshape({name}, (-1,))[:{wanted.size}], {wanted.shape})"
    return None


def _broadcasts(shape: Sequence[int], wanted: Sequence[int]) -> bool:
    pairs = zip(shape[::-1], wanted[::-1], strict=False)
    return len(shape) <= len(wanted) and all(size in (1, other) for size, other in pairs)
