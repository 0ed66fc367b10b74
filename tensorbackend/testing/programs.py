"""Random programs of a few lines, as a hypothesis strategy: calls of ops on other calls' results, views, writes, loops.

A program is drawn as a list of steps that know nothing of one another, so that hypothesis can leave any of them out.
Each becomes a line for the values of the lines before it; a step that does not fit them is left out. The calls are
those of `calls`, with values of the program in place of their tensors. All values are computed on NumPy meanwhile.
"""

from __future__ import annotations

import linecache
import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from hypothesis import strategies as st

import tensorbackend

from ..declarations.op_specs import OPS
from ..dtypes import DType
from ..errors import TensorBackendError
from ..expr.trees import flatten
from ..protocol import Backend
from ..select import default_backend
from ..tensor import Tensor, rename_like
from .bounds import READS_DATA, bound_of
from .calls import Invocation, calls, names
from .changing import resize
from .divergences import Divergence
from .source import call_source, source
from .strategies import Draw

KINDS: Final = ("views", "writes", "chains", "reductions", "loops", "gradients")
"""What programs are made of, mostly."""

MOST_ELEMENTS: Final = 4096
"""The largest size of a value."""

_CHAINS: Final = ("elementwise", "cumulative", "sorting", "shape", "indexing")
_SUMS: Final = ("reduction", "contraction", "contraction", "window", "convolution")

_SORTED: Final = frozenset({"digitize", "interp", "searchsorted"})
"""Ops of which an operand must be sorted: for other values their result may be anything."""

_SIZES: Final = ((2, 3, 4), (5, 8, 16), (3, 17, 33), (64, 64, 64), (8, 8, 512), (512, 8, 8))
"""The sizes that take the place of the sizes 2, 3 and 4 of drawn calls: compilers treat large arrays in other ways.
Empty axes, which calls of single ops have too, get the first one."""

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

    def add(self, text: str, *, extra: Sequence[str] = ()) -> str | None:
        """A line that gives the value of an expression a name; `None` for one that is of no use."""
        scope = {"tb": tensorbackend, **self.values}
        if extra:
            exec("\n".join(extra), scope)
        found = eval(text, scope)
        while isinstance(found, list | tuple) and found:
            text, found = f"{text}[0]", found[0]
        if not isinstance(found, Tensor) or not _is_of_use(found):
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

    def pick(self, number: int, fits: Callable[[Tensor], bool] = lambda x: True) -> str | None:
        """The name of one of the values of the program's dtype, of which 0 is the last; `None` if none fits."""
        found = [name for name, x in self.values.items() if x.dtype is self.dtype and x.ndim and fits(x)]
        return found[-1 - number % len(found)] if found else None

    def operand(self, wanted: Tensor, number: int) -> str:
        """The source of an operand in place of a drawn one: a view of a value, a new input, or a constant."""
        if wanted.dtype is not self.dtype and not wanted.dtype.is_inexact:
            return self.add_input(source(wanted), wanted)
        views = [view for name, x in self.values.items() if (view := _view_of(name, x, wanted)) is not None]
        if number < len(views):
            return views[-1 - number]
        if number == CONSTANT and wanted.dtype is self.dtype:
            return f"tb.full({wanted.shape}, {0.5 if self.dtype.is_inexact else 2}, dtype=tb.{self.dtype.name})"
        text = _pattern(wanted, number)
        value: Tensor = self.evaluate(text)
        return self.add_input(source(value) if value.size <= 8 else text, value)


def _is_of_use(x: Tensor) -> bool:
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


def _view_of(name: str, x: Tensor, wanted: Tensor) -> str | None:
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


class Call(NamedTuple):
    """A call of an op, and which values it takes."""

    call: Invocation
    numbers: tuple[int, ...]

    def build(self, scope: Scope) -> None:
        if not all(x.size for x in self.call.tensors):
            return
        for taken in (len(self.numbers), 1):  # indices among the operands are those that were drawn
            if self._try(scope, taken):
                return

    def _try(self, scope: Scope, taken: int) -> bool:
        count, inputs, values = scope.root.count, dict(scope.root.inputs), dict(scope.values)
        texts: list[str] = []

        def exchange(x: Tensor) -> Any:
            number = self.numbers[len(texts) % len(self.numbers)]
            own = len(texts) >= taken
            texts.append(scope.add_input(source(x), x) if own else scope.operand(x, number))
            return Name(texts[-1])

        known = self.call.mapped(exchange)
        text = call_source(known.name, known.arguments, known.options)
        try:
            held = self.call.with_tensors([scope.evaluate(text) for text in texts])
            results = flatten(held.run())[0]
            if not any(row.concerns(held, results) for row in scope.rows) and scope.add(text) is not None:
                return True
        except TensorBackendError:
            pass
        scope.root.count, scope.root.inputs, scope.values = count, inputs, values
        return False


_VIEWS: Final = (
    "{v}[1:]",
    "{v}[:-1]",
    "{v}[::-1]",
    "{v}[::2]",
    "{v}[..., 1:]",
    "{v}[..., ::-1]",
    "{v}[..., ::2]",
    "{v}[-1]",
    "{v}[None]",
    "tb.moveaxis({v}, 0, -1)",
    "tb.matrix_transpose({v})",
    "tb.reshape({v}, (-1,))",
    "tb.broadcast_to({v}, (3, *{v}.shape))",
    "tb.flip({v})",
    "tb.roll({v}, 1, axis=0)",
)

_USUAL: Final = (
    "{v} + 1",
    "{v} * {v}",
    "{v} - {v}[..., ::-1]",
    "tb.where({v} > 0, {v}, 0)",
    "tb.sum({v})",
    "tb.sum({v}, axis=0)",
    "tb.max({v}, axis=-1)",
    "tb.cumulative_sum({v}, axis=-1)",
    "tb.sort({v}, axis=-1)",
    "tb.take({v}, tb.iota({v}.shape[-1]) * 7 % {v}.shape[-1], axis=-1)",
    "{v} @ tb.matrix_transpose({v})",
    "{v} @ tb.full(({v}.shape[-1], {v}.shape[0]), 2, dtype={v}.dtype)",
)
"""Lines that most programs have, besides those that are drawn from all ops."""

_WRITES: Final = (
    "{v}[1:] = {v}[:-1] + 1",
    "{v}[:-1] = {v}[1:] * 2",
    "{v}[..., 1:] = {v}[..., :-1] + 1",
    "{v}[..., :-1] = {v}[..., 1:] - 1",
    "{v}[..., 1:] += {v}[..., :-1]",
    "{v}[::-1] = {v} + 1",
    "{v}[1:] = {v}[:-1][::-1]",
    "{v}[::2] *= 2",
    "{v}[..., 1::2] = {v}[..., :{v}.shape[-1] // 2] + 1",
    "{v}[0] = {v}[-1]",
    "{v}[-1] += {w}[0]",
    "{v}[{v} < 0] = 0",
    "{v}[...] = tb.flip({w}) + {v}",
)


class View(NamedTuple):
    """A view of a value, or a usual line."""

    form: str
    number: int

    def build(self, scope: Scope) -> None:
        if (name := scope.pick(self.number)) is not None:
            scope.add(self.form.format(v=name))


class Write(NamedTuple):
    """A write to a value, which reads itself or another one."""

    form: str
    number: int
    other: int
    copied: bool

    def build(self, scope: Scope) -> None:
        name = scope.pick(self.number)
        if name is None:
            return
        shape = scope.values[name].shape
        other = scope.pick(self.other, lambda x: x.shape == shape)
        copies = self.copied or name not in scope.own
        written = scope.fresh("v") if copies else name
        value = tensorbackend.tensor(scope.values[name])
        line = self.form.format(v=written, w=other)
        exec(line, {"tb": tensorbackend, **scope.values, written: value})
        if not _is_of_use(value):
            return
        scope.lines += [f"{written} = tb.tensor({name})", line] if copies else [line]
        scope.read |= {name} - {written} | ({str(other)} if f"{other}" in line else set()) - {written}
        scope.values.pop(written, None)  # so that it comes last
        scope.values[written] = value
        if copies:
            scope.own.append(written)


_LOOPS: Final = {
    "scan": "tb.scan({f}, {v}[0], {v})",
    "reversed scan": "tb.scan({f}, {v}[0], {v}, reverse=True)",
    "fori_loop": "tb.fori_loop(0, 3, {f}, {v})",
    "while_loop": "tb.while_loop(lambda state: state[0] < 2, {f}, (tb.iota(()), {v}))[1]",
    "cond": "tb.cond(tb.any({v} > 0), {f}, lambda carry: carry, {v})",
    "checkpoint": "tb.checkpoint({f})({v})",
    "vmap": "tb.vmap({f})({v})",
}
_HEADS: Final = {
    "scan": ("carry, row", "next_carry, next_carry + row"),
    "reversed scan": ("carry, row", "next_carry, next_carry + row"),
    "fori_loop": ("i, carry", "next_carry"),
    "while_loop": ("state", "(state[0] + 1, next_carry)"),
}


class Loop(NamedTuple):
    """A loop, a branch or a mapped function, whose body is a few lines."""

    form: str
    body: tuple[Step, ...]
    number: int

    def build(self, scope: Scope) -> None:
        name = scope.pick(self.number, lambda x: x.shape[0] > 0)
        if name is None:
            return
        x = scope.values[name]
        carry = x[0] if self.form in ("scan", "reversed scan", "vmap") else x
        inner = Scope(scope.dtype, scope.rows, scope)
        inner.values["carry"] = carry
        if "scan" in self.form:
            inner.values["row"] = carry
        for step in self.body:
            attempt(step, inner)
        last = inner.own[-1] if inner.own else "carry"
        view = _view_of(last, inner.values[last], carry) or "carry"
        parameters, result = _HEADS.get(self.form, ("carry", "next_carry"))
        body = f"def body{scope.root.count}({parameters}):"
        first = ["carry = state[1]"] if self.form == "while_loop" else []
        half = " * 0.5" if scope.dtype.is_inexact else ""
        combined = [f"next_carry = carry{half} + {view}"]
        lines = [f"    {line}" for line in (*first, *inner.lines, *combined, f"return {result}")]
        scope.add(_LOOPS[self.form].format(f=f"body{scope.root.count}", v=name), extra=[body, *lines])


class End(NamedTuple):
    """What is made of the last value, as compilers join sums with what is summed."""

    form: str

    def build(self, scope: Scope) -> None:
        if self.form and scope.values[scope.own[-1]].ndim:
            scope.add(self.form.format(v=scope.own[-1]))


_ENDS: Final = ("", "", "", "tb.sum({v})", "tb.sum({v}, axis=0)", "tb.mean({v}, axis=-1)")

Step: TypeAlias = Call | View | Write | Loop


def attempt(step: Step | End, scope: Scope) -> None:
    """Adds a step to a function, unless it does not fit there."""
    with suppress(TensorBackendError):
        step.build(scope)


@cache
def _ops(families: tuple[str, ...]) -> list[list[str]]:
    """The ops of each family whose results are functions of their operands, to a stated accuracy."""
    known = [name for name in names() if name in OPS and name not in READS_DATA and name not in _SORTED]
    sure = [name for name in known if bound_of(name).scale != "result" and math.isfinite(bound_of(name).ulps)]
    return [[name for name in sure if OPS[name].family == family] for family in families]


@st.composite
def _calls(draw: Draw, families: tuple[str, ...], dtype: DType, sizes: tuple[int, ...]) -> Call:
    name = draw(st.sampled_from(draw(st.sampled_from(_ops(families)))))
    call = _unnamed(draw(calls(name, dtype)))
    call = resize(call, {0: sizes[0], **dict(zip(_SIZES[0], sizes, strict=True))}, options=sizes != _SIZES[0])
    numbers = st.sampled_from((0, 0, 0, 1, 2, 3, CONSTANT, CONSTANT))
    return Call(call.on("numpy"), tuple(draw(st.lists(numbers, min_size=3, max_size=3))))


def _unnamed(call: Invocation) -> Invocation:
    """A call whose axes have no names: a program's values have none."""

    def places(value: Any) -> Any:
        if isinstance(value, str) and (found := re.fullmatch(r"axis(\d)", value)):
            return int(found[1])
        return type(value)(map(places, value)) if type(value) in (list, tuple) else value

    bare = call.mapped(lambda x: rename_like(x, x.template.replace(names=(None,) * x.ndim)))
    options = {name: places(value) for name, value in bare.options.items()}
    return bare._replace(arguments=tuple(map(places, bare.arguments)), options=options)


def _steps(kind: str, dtype: DType, sizes: tuple[int, ...], *, nested: bool = False) -> st.SearchStrategy[Step]:
    """The steps of a kind of programs, those of the kind twice as often."""
    numbers = st.sampled_from((0, 0, 0, 1, 2))
    chains, sums = _calls(_CHAINS, dtype, sizes), _calls(_SUMS, dtype, sizes)
    views = st.builds(View, st.sampled_from(_VIEWS), numbers)
    writes = st.builds(Write, st.sampled_from(_WRITES), numbers, numbers, st.booleans())
    usual = st.builds(View, st.sampled_from(_USUAL), numbers)
    if kind == "views":
        return st.one_of(views, views, usual, usual, chains, sums)
    if kind == "writes":
        return st.one_of(writes, writes, usual, chains, views)
    if kind == "chains":
        return st.one_of(chains, chains, usual)
    if kind == "reductions":
        return st.one_of(sums, sums, usual, usual, chains)
    if nested:
        return st.one_of(usual, chains, sums, views, writes)
    body = st.lists(_steps(kind, dtype, sizes, nested=True), max_size=3).map(tuple)
    loops = st.builds(Loop, st.sampled_from([*_LOOPS]), body, numbers)
    if kind == "loops":
        return st.one_of(loops, loops, usual, chains, writes)
    return st.one_of(loops, usual, chains, sums, views, writes)


@st.composite
def programs(draw: Draw, kind: str, dtype: DType, rows: Sequence[Divergence] = ()) -> Program:
    """Programs of a kind, whose values have a dtype; without the calls that rows of divergences concern."""
    from hypothesis import assume

    sizes = draw(st.sampled_from(_SIZES))
    steps = draw(st.lists(_steps(kind, dtype, sizes), min_size=1, max_size=7))
    squares, ends = draw(st.booleans()), draw(st.sampled_from(_ENDS))
    scope = Scope(dtype, rows)
    with default_backend("numpy"):
        start = tensorbackend.zeros(sizes[: draw(st.integers(1, 2))], dtype=dtype)
        scope.operand(start, draw(st.integers(0, 9)))
        for step in steps:
            attempt(step, scope)
        if scope.own and kind != "gradients":
            attempt(End(ends), scope)
    assume(scope.lines)
    results = [name for name in scope.own if name not in scope.read] or scope.own[-1:]
    used = set(re.findall(r"\bx\d+\b", "\n".join(scope.lines)))
    inputs = tuple((name, *given) for name, given in scope.inputs.items() if name in used)
    if kind != "gradients":
        return Program(inputs, tuple(scope.lines), ", ".join(results))
    slopes = tuple(place for place, (_, _, x) in enumerate(inputs) if x.dtype is dtype)
    summed = [name for name in results if scope.values[name].dtype is dtype]
    assume(slopes and summed)
    terms = [f"tb.sum({name} * {name})" if squares else f"tb.sum({name})" for name in summed]
    return Program(inputs, tuple(scope.lines), " + ".join(terms), slopes)
