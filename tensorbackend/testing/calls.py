"""Valid calls of every public op, as hypothesis strategies.

Most are derived from the op's declaration: its tensors broadcast, and an option is drawn by its annotation
(`Axis`, `Axes`, `bool`, `DTypeLike`, a `Literal`). An op with its own shape rule has a generator in
`generators`, under `@generates`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from functools import cache, partial
from typing import Any, NamedTuple, TypeAlias

from hypothesis import strategies as st

import tensorbackend

from ..declarations.op_specs import OPS, Parameter
from ..dispatch.narrow import moves
from ..dtypes import ALL_DTYPES, DType
from ..errors import ArgumentError, expected
from ..expr.arguments import split
from ..expr.graph import Graph
from ..expr.trace import trace_leaves
from ..expr.trees import flatten, unflatten
from ..protocol import Backend
from ..protocol.reduction import TieBreak
from ..registration import Registry
from ..rules.accuracy import TO_THE_BIT, Bound, Bounds
from ..select import get_backend
from ..tensor import Tensor
from .failures import Disagreement, Kind
from .magnitudes import columns, is_elementwise
from .source import call_source, public, qualified, script
from .strategies import Draw, axes_of, broadcastable, tensors

Generator: TypeAlias = Callable[[Draw, DType], "Invocation"]

GENERATORS: Registry[Generator] = Registry("the generator of")
"""The generators of calls that cannot be derived, by public name."""

generates = GENERATORS.of
"""Declares a generator of calls, which leaves the name of the op empty: `calls` fills it in."""


class Invocation(NamedTuple):
    """One call of a public op."""

    name: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    creates: bool = False
    """Whether the op takes the option `backend`, as it has no tensors that choose the backend."""

    def on(self, backend: Backend | str) -> Invocation:
        """The same call with its tensors copied to a backend."""
        target = get_backend(backend)
        moved = self.mapped(lambda x: x if x.backend is target else tensorbackend.backend_copy(x, target))
        return moved._replace(options={**moved.options, "backend": target}) if self.creates else moved

    def run(self) -> Any:
        """Calls the op."""
        return public(self.name)(*self.arguments, **self.options)

    def mapped(self, function: Callable[[Tensor], Tensor]) -> Invocation:
        """The same call with a function applied to every tensor."""
        leaves, tree = flatten((self.arguments, self.options))
        tensors, fill = split(leaves)
        arguments, options = unflatten(tree, fill(map(function, tensors)))
        return self._replace(arguments=arguments, options=options)

    def with_tensors(self, tensors: Iterable[Tensor]) -> Invocation:
        """The same call on other tensors, in the order of `tensors`."""
        rest = iter(tensors)
        return self.mapped(lambda x: next(rest))

    def graph(self) -> Graph:
        """The graph of the call, with a parameter for each of its tensors; raises what the call raises in a trace."""
        operands = self.tensors
        names = [f"x{number}" for number in range(len(operands))]
        return trace_leaves(lambda traced: self.with_tensors(traced).run(), operands, names)

    @property
    def tensors(self) -> list[Tensor]:
        """The tensors among its arguments and options."""
        return split(flatten((self.arguments, self.options))[0])[0]

    @property
    def source(self) -> str:
        """The call as Python, after `import tensorbackend as tb`; its tensors are made on the default backend."""
        return call_source(self.name, self.arguments, self.options)

    def __repr__(self) -> str:
        return self.source

    def disagreement(self, kind: Kind, detail: str, backend: Backend) -> Disagreement:
        """The error to raise for a backend that is wrong on this call."""
        dtypes = dict.fromkeys(str(x.dtype) for x in self.tensors)
        subject = f"{qualified(self.name)}{' of ' if dtypes else ''}{', '.join(dtypes)} on {backend.name}"
        return Disagreement(kind, detail, subject=subject, script=script(self.source, backend))


def names() -> list[str]:
    """The public names whose calls can be drawn: the ops of this distribution and functions around them, sorted.

    Returns
    -------
    list of str
        The names.

    Examples
    --------
    >>> {"add", "einsum", "sum"} <= {*names()}
    True
    """
    ours = {name for name, spec in OPS.items() if spec.function.__module__.startswith("tensorbackend.")}
    return sorted(ours | set(GENERATORS))


def find(name: str) -> str:
    """The name under which `calls` knows a public name, given with or without its namespace.

    A function of a namespace may be made of an op of the same name, whose calls are then drawn: `nn.conv` of `conv`.
    Raises `ArgumentError` for an unknown op.

    >>> find("linalg.qr"), find("add"), find("nn.conv")
    ('qr', 'add', 'conv')
    """
    bare_name = name.rpartition(".")[2]
    for candidate in (name, bare_name):
        if (candidate in OPS or candidate in GENERATORS) and (name == candidate or _is_public(name)):
            return candidate
    near = get_close_matches(name, [qualified(public_name) for public_name in names()])
    raise ArgumentError(
        expected("the public name of an op", f"did you mean {', '.join(near)}?" if near else "", op=name)
    )


def _is_public(name: str) -> bool:
    try:
        public(name)
    except LookupError:
        return False
    return True


def has_generator(name: str) -> bool:
    """Whether calls of an op can be drawn.

    Parameters
    ----------
    name : str
        The name of a declared op.

    Returns
    -------
    bool
        Whether they can.

    Examples
    --------
    >>> has_generator("exp"), has_generator("add")
    (True, True)
    """
    return name in GENERATORS or all(_derivable(parameter) for parameter in OPS[name].parameters)


def takes_narrow(name: str) -> bool:
    """Whether an op takes tensors of narrow dtypes, as it moves their elements.

    Parameters
    ----------
    name : str
        The name of a declared op, with or without its namespace.

    Returns
    -------
    bool
        Whether it takes them.

    Examples
    --------
    >>> takes_narrow("reshape"), takes_narrow("add")
    (True, False)
    """
    spec = OPS.get(find(name))
    return spec is not None and moves(spec)


def dtypes_to_draw(name: str, dtypes: Sequence[DType]) -> list[DType]:
    """The dtypes with which an op is checked: all that are asked for, but narrow ones only where the op takes them.

    If only narrow ones are asked for, the op refuses them.

    Parameters
    ----------
    name : str
        The name of a declared op, or of something else that moves elements.
    dtypes : sequence of DType
        The dtypes that are asked for.

    Returns
    -------
    list of DType
        Those to draw.

    Examples
    --------
    >>> from tensorbackend.dtypes import float32, int4
    >>> dtypes_to_draw("reshape", [float32, int4]), dtypes_to_draw("add", [float32, int4])
    ([float32, int4], [float32])
    """
    taken = name not in (*OPS, *GENERATORS) or takes_narrow(name)
    return [dtype for dtype in dtypes if taken or not dtype.is_narrow] or list(dtypes)


# Strategies of an option, by its meaning and whether it may be `None`.
_BY_MEANING: dict[tuple[str, bool], Callable[[Tensor], st.SearchStrategy[Any]]] = {
    ("axis", False): partial(axes_of, kind="Axis"),
    ("axis", True): partial(axes_of, kind="Axis | None"),
    ("axes", False): partial(axes_of, kind="Axes"),
    ("sole axis", False): partial(axes_of, kind="SoleAxis"),
    ("dtype", True): lambda x: st.none() | st.sampled_from(ALL_DTYPES),
}

# Strategies of an option that has no special meaning and may not be `None`, by its type.
_BY_TYPE: dict[object, Callable[[Tensor], st.SearchStrategy[Any]]] = {
    bool: lambda x: st.booleans(),
    float: lambda x: st.sampled_from([0.0, 1.0, 0.5]),
    TieBreak: lambda x: st.sampled_from(["low", "high"]),
}


def moderate(draw: Draw, operands: Sequence[Tensor], *, inexact: bool = False) -> list[Tensor]:
    """Operands of a sum of products, with small integers if the sum is inexact, or if another operand is.

    The limits of an integer dtype are not moderate as floats: if they cancel, the result depends on the order of
    additions.
    """
    if not inexact and not any(x.dtype.is_inexact for x in operands):
        return list(operands)
    small = st.integers(0, 3)
    return [draw(tensors(x.dtype, x.shape, names=x.names, values=small)) if x.dtype.is_integer else x for x in operands]


def _strategy_of_option(option: Parameter) -> Callable[[Tensor], st.SearchStrategy[Any]] | None:
    """The function from a first operand to the strategy of an option, `None` if it cannot be derived."""
    if option.meaning:
        return _BY_MEANING.get((option.meaning, option.optional))
    # Types are compared one by one, as not all of them hash.
    return None if option.optional else next((draw for kind, draw in _BY_TYPE.items() if kind == option.type), None)


def _derivable(parameter: Parameter) -> bool:
    if parameter.role == "option":
        return _strategy_of_option(parameter) is not None
    return parameter.role == "tensor"


@cache
@st.composite
def calls(draw: Draw, name: str, dtype: DType) -> Invocation:
    """Calls of an op whose tensors, or the first of them, have a dtype; valid except for errors that depend on data.

    Parameters
    ----------
    name : str
        The name of the op.
    dtype : DType
        The dtype.

    Returns
    -------
    SearchStrategy of Invocation
        The calls.

    Examples
    --------
    >>> from hypothesis import find
    >>> from tensorbackend.dtypes import float32
    >>> find(calls("exp", float32), lambda call: True).name
    'exp'
    """
    name = find(name)
    if name in GENERATORS:
        return GENERATORS[name](draw, dtype)._replace(name=name)
    spec = OPS[name]
    tensor_parameters = [parameter for parameter in spec.parameters if parameter.role == "tensor"]
    count = len(tensor_parameters)
    if tensor_parameters[-1].kind == "variadic":
        count = draw(st.integers(1, 3))
    dtypes: Sequence[DType] = [dtype] * count
    if count > 1 and draw(st.integers(0, 3)) == 0:  # operands of other dtypes, which are promoted or refused
        dtypes = [dtype, *(draw(st.sampled_from(ALL_DTYPES)) for _ in range(count - 1))]
    tame = bound_of(name).tame
    if is_elementwise(name) and draw(st.integers(0, 7)) == 7:
        operands = draw(columns(*dtypes))
    else:
        operands = draw(broadcastable(dtypes, tame=tame))
    positional, keywords = list(operands), {}
    for parameter in spec.parameters:
        if parameter.role != "option" or not (draw(st.booleans()) or parameter.kind == "positional"):
            continue
        draw_option = _strategy_of_option(parameter)
        assert draw_option is not None  # as `has_generator` says
        value = draw(draw_option(operands[0]))
        if parameter.kind == "keyword":
            keywords[parameter.name] = value
        else:
            positional.append(value)
    if tame:
        inexact = getattr(keywords.get("dtype"), "is_inexact", False)
        positional[: len(operands)] = moderate(draw, operands, inexact=inexact)
    return Invocation(name, tuple(positional), keywords)


READS_DATA: dict[str, str] = {
    **dict.fromkeys(
        ["argwhere", "bincount", "nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"],
        "without a size it is counted",
    ),
    **dict.fromkeys(["getitem", "isel", "put_at"], "where a mask is true says the size of the result"),
    "compress": "without a size its condition is counted",
    "repeat": "its repeats, where they are a tensor, say the size of the result",
}
"""Ops whose template may depend on data, with the reason: a dry run may then say that it cannot know it."""


def bound_of(name: str, dtypes: Iterable[DType] = ()) -> Bound:
    """The bound of an op or another public function, for operands and results of some dtypes.

    Parameters
    ----------
    name : str
        The name of a public function, with or without its namespace.
    dtypes : iterable of DType, optional
        The dtypes of the operands and results.

    Returns
    -------
    Bound
        The bound.

    Examples
    --------
    >>> from tensorbackend.dtypes import complex64
    >>> bound_of("add").ulps, bound_of("exp").ulps, bound_of("divide").ulps, bound_of("divide", [complex64]).ulps
    (0, 4, 0, 4)
    """
    spec = OPS.get(name) or OPS.get(name.rpartition(".")[2])
    if spec is not None and name != spec.name and name != qualified(spec.name):
        spec = None
    bounds: Bounds = spec.bounds if spec is not None else getattr(public(name), "__bounds__", TO_THE_BIT)
    if bounds.complex is not None and any(dtype.is_complex for dtype in dtypes):
        return bounds.complex
    return bounds.bound
