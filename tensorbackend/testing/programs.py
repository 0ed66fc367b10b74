"""Random programs of a few lines, as a hypothesis strategy: calls of ops on other calls' results, views, writes, loops.

A program is drawn as a list of steps that know nothing of one another, so that hypothesis can leave any of them out.
Each becomes a line for the values of the lines before it; a step that does not fit them is left out. The calls are
those of `calls`, with values of the program in place of their tensors. All values are computed on NumPy meanwhile.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from hypothesis import strategies as st

import tensorbackend

from ..declarations.op_specs import OPS
from ..dtypes import DType
from ..errors import TensorBackendError
from ..expr.trees import flatten
from ..select import default_backend
from ..tensor import Tensor, rename_like
from .calls import READS_DATA, Invocation, bound_of, calls, names
from .changing import resize
from .divergences import Divergence
from .program_source import CONSTANT, MOST_ELEMENTS, Name, Program, Scope, is_of_use, view_of
from .source import call_source, source
from .strategies import Draw

KINDS: Final = ("views", "writes", "chains", "reductions", "loops", "gradients")
"""What programs are made of, mostly."""

_CHAINS: Final = ("elementwise", "cumulative", "sorting", "shape", "indexing")
_SUMS: Final = ("reduction", "contraction", "contraction", "window", "convolution")

_PARTIAL: Final = frozenset({"bitwise_left_shift", "bitwise_right_shift", "digitize", "interp", "searchsorted"})
"""Ops of which an operand must be sorted, or not negative: for other values their result may be anything."""

_SIZES: Final = ((2, 3, 4), (5, 8, 16), (3, 17, 33), (64, 64, 64), (128, 16, 128), (8, 8, 512), (512, 8, 8))
"""The sizes that take the place of the sizes 2, 3 and 4 of drawn calls: compilers treat large arrays in other ways.
Empty axes, which calls of single ops have too, get the first one."""


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
        before = scope.state()
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
            found = scope.run(text)
            results = flatten(found)[0]
            if not any(row.concerns(held, results) for row in scope.rows) and scope.keep(text, found) is not None:
                return True
        except TensorBackendError:
            pass
        scope.restore(before)
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

_OWN_PRODUCT: Final = "{v} @ tb.matrix_transpose({v})"

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
    _OWN_PRODUCT,
)
"""Lines that most programs have, besides those that are drawn from all ops."""

_PRODUCTS: Final = tuple(
    form.format(product)
    for form in ("{}", "tb.sum({})", "tb.sum({}, axis=0)", "tb.mean({}, axis=-1)")
    for product in (
        _OWN_PRODUCT,
        "{v} @ {v}[..., :1]",
        "{v} @ tb.full(({v}.shape[-1], {v}.shape[0]), 2, dtype={v}.dtype)",
        "tb.full(({v}.shape[-1], {v}.shape[0]), 2, dtype={v}.dtype) @ {v}",
    )
)
"""Products of matrices and sums of them, which compilers compute without storing the product."""

_MOVED: Final = (
    "tb.take({v}, tb.iota({v}.shape[-1]) * 7 % {v}.shape[-1], axis=-1)",
    "tb.take({v}, tb.iota({v}.shape[0]) * 7 % {v}.shape[0], axis=0)",
    "tb.cumulative_sum({v}, axis=-1)",
    "tb.cumulative_prod({v}, axis=0)",
    "tb.window_sum({v}, (2, *({v}.ndim - 1) * (1,)), strides=1, padding='same')",
    "tb.sort({v}, axis=-1)",
)
"""What compilers compute in another shape than that in which it is written to afterwards."""

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
        other = scope.pick(self.other, lambda x: x.shape == shape) or name
        copies = self.copied or name not in scope.own
        written = scope.fresh("v") if copies else name
        value = tensorbackend.tensor(scope.values[name])
        line = self.form.format(v=written, w=other)
        exec(line, {"tb": tensorbackend, **scope.values, written: value})
        if not is_of_use(value):
            return
        scope.lines += [f"{written} = tb.tensor({name})", line] if copies else [line]
        scope.read |= {name, other if "{w}" in self.form else name} - {written}
        scope.values.pop(written, None)  # so that it comes last
        scope.values[written] = value
        if copies:
            scope.own.append(written)


_LOOPS: Final = {
    "scan": "tb.scan({f}, {v}[0], {v})[0]",
    "scan of rows": "tb.scan({f}, {v}[0], {v})[1]",
    "reversed scan": "tb.scan({f}, {v}[0], {v}, reverse=True)[0]",
    "reversed scan of rows": "tb.scan({f}, {v}[0], {v}, reverse=True)[1]",
    "fori_loop": "tb.fori_loop(0, 3, {f}, {v})",
    "while_loop": "tb.while_loop(lambda state: state[0] < 2, {f}, (tb.iota(()), {v}))[1]",
    "limited while_loop": "tb.while_loop(lambda state: state[0] < 2, {f}, (tb.iota(()), {v}), limit=3)[1]",
    "cond": "tb.cond(tb.any({v} > 0), {f}, lambda carry: carry, {v})",
    "checkpoint": "tb.checkpoint({f})({v})",
    "vmap": "tb.vmap({f})({v})",
}
_HEADS: Final = {
    **{form: ("carry, row", "next_carry, next_carry + row") for form in _LOOPS if "scan" in form},
    "fori_loop": ("i, carry", "next_carry"),
    "while_loop": ("state", "(state[0] + 1, next_carry)"),
    "limited while_loop": ("state", "(state[0] + 1, next_carry)"),
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
        carry = x[0] if "scan" in self.form or self.form == "vmap" else x
        inner = Scope(scope.dtype, scope.rows, scope)
        inner.values["carry"] = carry
        if "scan" in self.form:
            inner.values["row"] = carry
        for step in self.body:
            attempt(step, inner)
        last = inner.own[-1] if inner.own else "carry"
        view = view_of(last, inner.values[last], carry) or "carry"
        parameters, result = _HEADS.get(self.form, ("carry", "next_carry"))
        body = f"def body{scope.root.count}({parameters}):"
        first = ["carry = state[1]"] if "while_loop" in self.form else []
        half = " * 0.5" if scope.dtype.is_inexact else ""
        row = " + row" if "scan" in self.form else ""  # so that the order of the rows counts
        combined = [f"next_carry = carry{half} + {view}{row}"]
        lines = [f"    {line}" for line in (*first, *inner.lines, *combined, f"return {result}")]
        scope.add(_LOOPS[self.form].format(f=f"body{scope.root.count}", v=name), extra=[body, *lines])


class End(NamedTuple):
    """What is made of the last value, as compilers join sums with what is summed."""

    form: str

    def build(self, scope: Scope) -> None:
        if self.form and scope.values[scope.own[-1]].ndim:
            scope.add(self.form.format(v=scope.own[-1]))


_ENDS: Final = ("", "", "", "tb.sum({v})", "tb.sum({v})", "tb.sum({v}, axis=0)", "tb.mean({v}, axis=-1)", "tb.max({v})")

Step: TypeAlias = Call | View | Write | Loop


def attempt(step: Step | End, scope: Scope) -> None:
    """Adds a step to a function, unless it does not fit there."""
    with suppress(TensorBackendError):
        step.build(scope)


@cache
def _ops(families: tuple[str, ...]) -> list[list[str]]:
    """The ops of each family whose results are functions of their operands, to a stated accuracy."""
    known = [name for name in names() if name in OPS and name not in READS_DATA and name not in _PARTIAL]
    sure = [name for name in known if bound_of(name).scale != "result" and math.isfinite(bound_of(name).ulps)]
    return [[name for name in sure if OPS[name].family == family] for family in families]


@st.composite
def _calls(draw: Draw, families: tuple[str, ...], dtype: DType, sizes: tuple[int, ...]) -> Call:
    name = draw(st.sampled_from(draw(st.sampled_from(_ops(families)))))
    call = _unnamed(draw(calls(name, dtype)))
    wanted = {0: sizes[0], **dict(zip(_SIZES[0], sizes, strict=True))}
    if all(math.prod(wanted.get(size, size) for size in x.shape) <= MOST_ELEMENTS for x in call.tensors):
        call = resize(call, wanted, options=sizes != _SIZES[0])
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


def _one_of(*strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A value of one of some strategies; one that stands twice is drawn as often as that, unlike by `st.one_of`."""
    return st.sampled_from(strategies).flatmap(lambda strategy: strategy)


def _steps(kind: str, dtype: DType, sizes: tuple[int, ...], *, nested: bool = False) -> st.SearchStrategy[Step]:
    """The steps of a kind of programs, those of the kind twice as often."""
    numbers = st.sampled_from((0, 0, 0, 1, 2))
    chains, sums = _calls(_CHAINS, dtype, sizes), _calls(_SUMS, dtype, sizes)
    views = st.builds(View, st.sampled_from(_VIEWS), numbers)
    writes = st.builds(Write, st.sampled_from(_WRITES), numbers, numbers, st.booleans())
    usual = st.builds(View, st.sampled_from(_USUAL), numbers)
    products = st.builds(View, st.sampled_from(_PRODUCTS), numbers)
    moved = st.builds(View, st.sampled_from(_MOVED), numbers)
    if kind == "views":
        return _one_of(views, views, usual, usual, chains, sums)
    if kind == "writes":
        return _one_of(writes, writes, moved, moved, usual, chains, views)
    if kind == "chains":
        return _one_of(chains, chains, usual)
    if kind == "reductions":
        return _one_of(sums, sums, usual, products, products, chains)
    if nested:
        return _one_of(usual, chains, sums, views, writes)
    body = st.lists(_steps(kind, dtype, sizes, nested=True), max_size=3).map(tuple)
    forms = [form for form in _LOOPS if form != "while_loop" or kind != "gradients"]  # without a limit it has none
    loops = st.builds(Loop, st.sampled_from(forms), body, numbers)
    if kind == "loops":
        return _one_of(loops, loops, usual, chains, writes)
    return _one_of(loops, usual, chains, sums, products, views, writes)


@st.composite
def programs(draw: Draw, kind: str, dtype: DType, rows: Sequence[Divergence] = ()) -> Program:
    """Programs of a kind, whose values have a dtype; without the calls that rows of divergences concern."""
    from hypothesis import assume

    sizes = draw(st.sampled_from(_SIZES))
    steps = draw(st.lists(_steps(kind, dtype, sizes), min_size=1, max_size=7))
    squares, ends = draw(st.booleans()), draw(st.sampled_from(_ENDS))
    scope = Scope(dtype, rows)
    with default_backend("numpy"):
        start = tensorbackend.zeros(sizes[: draw(st.sampled_from((1, 2, 2)))], dtype=dtype)
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
