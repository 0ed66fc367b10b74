"""Invalid calls of every public op, for hypothesis to draw: a valid call with one mistake in it.

Mistakes are derived from the op's signature. A value that an annotation does not allow is always a mistake. An operand
with another dtype, shape or names is a mistake if the op's rule refuses it in a dry run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from inspect import unwrap
from typing import Any, Literal, TypeAlias, get_origin

from hypothesis import assume
from hypothesis import strategies as st

from ..declarations.op_specs import OPS, Parameter, read_parameters
from ..dtypes import ALL_DTYPES, DType
from ..errors import DataError, TemplateDataError, TensorBackendError
from ..ops.creation.filled import from_binary
from ..protocol import Backend
from ..select import get_backend
from ..template import Template
from .calls import Invocation, calls
from .contract import outcome, outcome_text
from .source import public
from .strategies import Draw, axis_names

TOO_MANY_AXES = 9
"""More axes than a drawn tensor has."""

Place: TypeAlias = int | str
"""The place of a value in a call: the position of an argument, or the name of an option."""


def is_refused(call: Invocation) -> bool:
    """Whether a call fails in a dry run."""
    answer = outcome(call.on("template"))
    return isinstance(answer, TensorBackendError) and not isinstance(answer, DataError | TemplateDataError)


@cache
@st.composite
def invalid_calls(draw: Draw, name: str, dtypes: Sequence[DType] | None = None) -> Invocation:
    """Calls of an op that must raise, with the same error on every backend and on templates, before any callback runs.

    Parameters
    ----------
    name : str
        The name of the op.
    dtypes : sequence of DType, optional
        The dtypes of operands, except of those that have their own, such as indices; all by default.

    Returns
    -------
    SearchStrategy of Invocation
        Calls with a mistake.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(invalid_calls("sum"), lambda call: True).name
    'sum'
    """
    dtypes = ALL_DTYPES if dtypes is None else dtypes
    call: Invocation = draw(calls(name, draw(st.sampled_from(dtypes))))
    if is_refused(call):
        return call
    choices = [
        mistakes for mistakes in (list(_vary_annotations(call)), list(_vary_operands(draw, call, dtypes))) if mistakes
    ]
    assume(choices)
    wrong: Invocation = draw(st.sampled_from(draw(st.sampled_from(choices))))
    return wrong


def check_mistake(call: Invocation, backend: Backend) -> None:
    """Raises `Disagreement` unless a dry run of a call raises an error, and BinaryBackend and a backend raise the same.

    Parameters
    ----------
    call : Invocation
        A call that must raise.
    backend : Backend
        The backend.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> from tensorbackend.testing.calls import Invocation
    >>> x = tb.ones((2, 3), backend="binary")
    >>> check_mistake(Invocation("sum", (x,), {"axis": 5}), tb.get_backend("numpy"))
    """
    dry = outcome(call.on("template"))
    if not isinstance(dry, TensorBackendError):
        raise call.disagreement("dry run", f"expected an error, got {outcome_text(dry)}", get_backend("template"))
    expectation = outcome_text(dry)
    for tried_backend in (get_backend("binary"), backend):
        try:
            answer = outcome_text(outcome(call.on(tried_backend)))
        except Exception as error:  # whatever another library raises
            answer = f"{type(error).__name__}: {error}"
        if answer != expectation:
            raise call.disagreement("error", f"expected {expectation}, as in a dry run, got {answer}", tried_backend)


@cache
def _parameters(name: str) -> tuple[Parameter, ...]:
    return read_parameters(unwrap(public(name)), strict=False)


def _vary_annotations(call: Invocation) -> Iterator[Invocation]:
    """Versions of a call in which one argument is a value that its annotation does not allow."""
    for place, parameter in _places(call):
        given = call.options.get(place) if isinstance(place, str) else call.arguments[place]
        for value in _wrong(call, parameter, given):
            yield _replace_argument(call, place, value)


def _vary_operands(draw: Draw, call: Invocation, dtypes: Sequence[DType]) -> Iterator[Invocation]:
    """Versions of a call in which one tensor has another dtype, shape or names, and which a dry run refuses."""
    if not call.tensors:
        return
    chosen = draw(st.integers(0, len(call.tensors) - 1))
    x = call.tensors[chosen]
    dtype = draw(st.sampled_from(dtypes))
    templates = [
        x.template.replace(dtype=dtype),
        Template((), x.dtype),
        Template((5, 3), x.dtype),
        Template((*x.shape, 7), x.dtype),
        Template(x.shape, x.dtype, [f"other{axis}" for axis in range(x.ndim)]),
        Template(x.shape, x.dtype, tuple(reversed(x.names))),
    ]
    for template in templates:
        exchanged = list(call.tensors)
        exchanged[chosen] = from_binary(bytes(template.payload_nbytes), template, "binary")
        changed = call.with_tensors(exchanged)
        if is_refused(changed):
            yield changed


def _places(call: Invocation) -> Iterator[tuple[Place, Parameter]]:
    """The places of a call where a value can be inserted, with their parameters."""
    position = 0
    for parameter in _parameters(call.name):
        if parameter.kind == "variadic":
            yield from ((place, parameter) for place in range(position, len(call.arguments)))
        elif parameter.kind == "keyword" or parameter.name in call.options:
            yield parameter.name, parameter
        elif position < len(call.arguments):
            yield position, parameter
            position += 1


def _replace_argument(call: Invocation, place: Place, value: object) -> Invocation:
    if isinstance(place, str):
        return call._replace(options={**call.options, place: value})
    arguments = (*call.arguments[:place], value, *call.arguments[place + 1 :])
    return call._replace(arguments=arguments)


_ONE_AXIS = ("Axis", "Axis | None", "SoleAxis", "Axis | Sequence[Axis]", "Axis | Sequence[Axis] | None", "Axes")
_SEVERAL_AXES = ("Axes", "Sequence[Axis]", "Sequence[Axis] | None", "Axis | Sequence[Axis]")


def _wrong(call: Invocation, parameter: Parameter, given: Any) -> Iterable[object]:
    """Values that a parameter does not take in place of the one that is passed, whatever the other arguments are."""
    kind = parameter.annotation
    if kind == "TensorLike" or (parameter.role == "tensor" and call.name in OPS):
        return ["text", {}]
    if parameter.role == "tensors":
        return [[], "text"] if len(given) else ["text"]  # a tensor without axes takes no starts
    if parameter.meaning == "dtype":
        return ["float33"]
    if kind == "PerAxis":
        return [(1,) * TOO_MANY_AXES]
    if kind == "Paddings":
        return [[(0, 0)] * TOO_MANY_AXES, "middle"]
    if parameter.name == "names":
        return [("n",) * TOO_MANY_AXES, axis_names(TOO_MANY_AXES)]
    if parameter.name == "shape" and "Sequence[int]" in kind:
        return [(-2,)]
    if _is_choice(call, kind):
        return ["neither"]
    axes: list[object] = []
    if kind in _ONE_AXIS:
        axes += [TOO_MANY_AXES, -TOO_MANY_AXES, "nowhere", 1.5]
    if kind in _SEVERAL_AXES:
        axes += [(0, TOO_MANY_AXES), ("nowhere",), (0, 0)]
    return axes


def _is_choice(call: Invocation, annotation: str) -> bool:
    """Whether an annotation is a `Literal`, or the name of one."""
    known: Mapping[str, Any] = unwrap(public(call.name)).__globals__
    return annotation.startswith("Literal[") or get_origin(known.get(annotation)) is Literal
