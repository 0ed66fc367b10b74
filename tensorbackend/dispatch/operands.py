"""Separates the arguments of a call into operands and options, by the op's declared parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from ..caching.option_keys import NUMBERS, freeze
from ..declarations.op_specs import OpSpec, Parameter
from ..dtypes import Scalar, scalar_kind
from ..errors import OperandError, expected
from ..errors.hints import rows
from ..errors.remedies import of_element
from ..interchange import is_plain_array, scalar_dtype
from ..protocol.planned import nameless as nameless_template
from ..select import home_of, library_backend
from ..sizes import is_size
from ..template import Template, is_symbolic_template, weak_template
from ..tensor import Tensor, public_op

Operand: TypeAlias = Tensor | Scalar

LEFT_OUT: Final = -1
"""The entry of `Call.groups`, in place of a sequence's length, for an optional tensor that was omitted."""

_SETTLED: Final = NUMBERS | {Tensor, str, tuple, list, type(None)}
"""Classes of arguments that are not other libraries' arrays."""

_UNKNOWN: Final = Parameter("", "positional", "option", "")


def as_operand(value: object, parameter: Parameter) -> Operand:
    """A tensor or a Python number unchanged, another library's array as a tensor; else `OperandError`."""
    if isinstance(value, Tensor):
        return value
    if scalar_kind(value) is not None:
        return value  # type: ignore[return-value] # a Python number, by its kind
    if is_plain_array(value):
        return public_op("asarray")(value)
    remedies = getattr(type(value), "operand_remedies", None) or _remedies(value, parameter)
    raise OperandError(expected("a tensor, a Python number or an array", **{parameter.name: value}), remedies=remedies)


def _remedies(value: object, parameter: Parameter) -> dict[str, str]:
    """What to write in place of a value that is no operand, by op."""
    if isinstance(getattr(value, "tensor", None), Tensor):
        return {"": f"write {parameter.name}.tensor"}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"": f"write one of its parts, {' or '.join(f'.{name}' for name in value._fields)}"}
    if isinstance(value, dict) or (isinstance(value, list | tuple) and any(isinstance(x, dict) for x in value)):
        return {"": "tb.tree_map(function, *trees) calls a function with the tensors of dictionaries"}
    if value is None:
        return {"": "None comes from a function without a return"}
    remedies = {"": of_element(value) or "wrap it in asarray() or tensor()"}
    if isinstance(value, tuple) or (isinstance(value, list) and any(isinstance(x, Tensor) for x in value)):
        alike = all(isinstance(x, Tensor) for x in value) and len({x.shape for x in value}) == 1
        if parameter.name == "indices":
            remedies |= rows("arguments.indices" if alike else "arguments.other_indices")
    return remedies


def convert_arrays(spec: OpSpec, arguments: Sequence[Any]) -> list[Any] | None:
    """The positional arguments of a call with tensors for other libraries' arrays, on the backend of the tensors there.

    `None` if no operand is such an array, or if one of them makes no tensor. NumPy's scalars are not converted.
    """
    places = [
        place
        for place, value in enumerate(arguments)
        if value.__class__ not in _SETTLED
        and not isinstance(value, Tensor)
        and spec.at(place).role == "tensor"
        and is_plain_array(value)
        and scalar_dtype(value.__class__) is None
    ]
    if not places:
        return None
    home = next((value.backend for value in arguments if isinstance(value, Tensor)), None)
    if home is None:
        home = home_of([arguments[place] for place in places])
    elif home.dispatch_priority > 1:
        home = None  # it takes tensors of any backend
    try:
        tensors = {place: public_op("asarray")(arguments[place], backend=home) for place in places}
    except Exception:  # the full path raises it
        return None
    return [tensors.get(place, value) for place, value in enumerate(arguments)]


def template_of(operand: Operand) -> Template:
    """The template of a tensor; a Python number's is weak."""
    if isinstance(operand, Tensor):
        return operand.template
    kind = scalar_kind(operand)
    assert kind is not None
    return weak_template(kind)


class Call:
    """One call: its operands, and its arguments with templates in place of the operands."""

    __slots__ = ("arguments", "claimed", "groups", "keywords", "native", "operands")

    operands: list[Operand]
    """Tensors and Python numbers in the order of the parameters, sequences laid out flat."""
    groups: list[int | None]
    """For each tensor parameter: `None` for one tensor, the length of a sequence, or `LEFT_OUT`."""
    arguments: list[Any]
    """The positional arguments with templates for operands and options frozen."""
    keywords: dict[str, Any]
    """The keyword arguments likewise."""
    native: list[Tensor]
    """The operands that came as tensors, without those made from another library's arrays."""
    claimed: list[Tensor]
    """The operands that came as arrays of a library that has a backend."""

    def __init__(self, spec: OpSpec, arguments: Sequence[object], keywords: dict[str, object]) -> None:
        self.operands, self.groups, self.native, self.claimed = [], [], [], []
        self.arguments = [self._symbolic(value, spec.at(i)) for i, value in enumerate(arguments)]
        self.keywords = {}
        if keywords:
            known = {parameter.name: parameter for parameter in spec.parameters}
            order = [name for name in known if name in keywords] + [name for name in keywords if name not in known]
            self.keywords = {name: self._symbolic(keywords[name], known.get(name, _UNKNOWN)) for name in order}

    def _symbolic(self, value: object, parameter: Parameter) -> object:
        if parameter.role == "option":
            return freeze(value)
        if value is None and parameter.optional:
            self.groups.append(LEFT_OUT)
            return None
        if parameter.role == "tensor":
            self._take(value, parameter)
            self.groups.append(None)
            return template_of(self.operands[-1])
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise OperandError(expected("a list or tuple of tensors", **{parameter.name: value}))
        for operand in value:
            self._take(operand, parameter)
        self.groups.append(len(value))
        return tuple(map(template_of, self.operands[len(self.operands) - len(value) :]))

    def _take(self, value: object, parameter: Parameter) -> None:
        self.operands.append(as_operand(value, parameter))
        if isinstance(value, Tensor):
            self.native.append(value)
        elif value.__class__ not in NUMBERS and library_backend(value) is not None:
            self.claimed.append(self.operands[-1])  # type: ignore[arg-type] # made of an array

    @property
    def deciding_tensors(self) -> list[Tensor]:
        """The tensors whose backends decide where the op runs: those that came as tensors.

        Without any, those that came as arrays of a library that has a backend, or all tensors.
        """
        return self.native or self.claimed or self.tensors

    @property
    def symbolic(self) -> bool:
        """Whether an operand has or is a symbolic size, so that no memo may hold what is decided."""
        return any(
            is_symbolic_template(operand.template) if isinstance(operand, Tensor) else is_size(operand)
            for operand in self.operands
        )

    @property
    def tensors(self) -> list[Tensor]:
        """The operands that are tensors."""
        return [operand for operand in self.operands if isinstance(operand, Tensor)]

    def group_operands(self, inputs: Sequence[Any]) -> list[Any]:
        """One argument for each tensor parameter, from `inputs`: one item for each operand, such as its template."""
        return group_operands(inputs, self.groups)


def group_operands(inputs: Sequence[Any], groups: Sequence[int | None]) -> list[Any]:
    """One argument for each tensor parameter, from one item for each operand; `groups` are those of the call."""
    rest = iter(inputs)
    return [
        None if size == LEFT_OUT else next(rest) if size is None else tuple(next(rest) for _ in range(size))
        for size in groups
    ]


def nameless(x: Tensor) -> Tensor:
    """The tensor without its names; it shares the data."""
    return Tensor(nameless_template(x.template), x.backend, x.data) if any(x.names) else x
