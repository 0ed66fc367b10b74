"""Wrong calls: calls drawn from the signatures of the public functions, and then made invalid.

The mistakes are a value of another kind, too few or too many arguments, an unknown keyword, or an axis, dtype, name or
shape that does not match. A seed and a number reproduce each call. A call that is valid by accident does no harm.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import inspect
import itertools
import math
import operator
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

import tensorbackend as tb

from ..declarations.parameters import Parameter, read_parameters
from ..dtypes import ALL_DTYPES, bool_
from .source import NAMESPACES

LEFT_OUT = {
    "primitive": "declares an op for good, with a TypeError of its own for a wrong declaration",
    "composite": "declares an op for good, with a TypeError of its own for a wrong declaration",
    "Tensor": "takes a payload as a backend gives it",
    "DTypeLike": "a type",
    "TensorLike": "a type",
    "CupyBackend": "a library that is not on every machine",
    "Backend": "is abstract",
    "Device": "is made by `tb.devices`",
    "while_loop": "runs for ever where its condition is always true; tests/expr/test_control_errors.py has its errors",
    "set_threads": "is for the whole process",
}
"""Public names that are not called, with the reason."""


SPACES = (*NAMESPACES, "optimize", "ragged", "solvers", "sparse")
"""Where public functions are."""


class UserError(Exception):
    """An error that a user's function raises; the library must propagate it unchanged."""


# Functions to call


class Subject(NamedTuple):
    """A public function."""

    name: str
    function: Callable[..., Any]
    parameters: tuple[Parameter, ...]


def subjects() -> dict[str, Subject]:
    """Every public function, method and operator by name."""
    all_subjects = [subject_of(name, function) for name, function in itertools.chain(_functions(), _methods())]
    return {subject.name: subject for subject in all_subjects}


def _functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for space in SPACES:
        place: Any = getattr(tb, space) if space else tb
        for name in dir(place):
            function = getattr(place, name) if not name.startswith("_") and name not in LEFT_OUT else None
            if callable(function) and not isinstance(function, ModuleType) and not _is_result(function):
                yield f"tb.{space}.{name}" if space else f"tb.{name}", function


def _is_result(function: object) -> bool:
    return isinstance(function, tb.DType) or (isinstance(function, type) and issubclass(function, tuple | tb.DType))


OPERATORS = (
    "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift lt le gt ge eq ne iadd imul neg pos abs "
    "invert"
)
"""The operators of the module `operator`."""

CONVERSIONS: dict[str, Callable[..., Any]] = {
    "bool": bool, "int": int, "float": float, "complex": complex, "index": operator.index, "len": len, "repr": repr,
    "list": list, "format": format, "round": round, "numpy.asarray": np.asarray,
    "trunc": math.trunc, "in": operator.contains,
}  # fmt: skip


def _methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in dir(tb.Tensor):
        if name.startswith("_"):
            continue
        if callable(getattr(tb.Tensor, name)):
            yield f"Tensor.{name}", getattr(tb.Tensor, name)
        else:
            yield f"Tensor.{name}", operator.attrgetter(name)
    for name in OPERATORS.split():
        yield f"operator.{name}", getattr(operator, name)
    yield "divmod", divmod
    yield "x[...]", operator.getitem
    yield "x[...] = value", operator.setitem
    for name, function in CONVERSIONS.items():
        yield name if name == "in" else f"{name}()", function


def subject_of(name: str, function: Callable[..., Any]) -> Subject:
    declared = inspect.unwrap(function)
    while not hasattr(declared, "__code__") and hasattr(declared, "__func__"):
        declared = declared.__func__
    if isinstance(function, type) and not name.endswith("()"):
        constructors = [inspect.unwrap(getattr(function, method_name)) for method_name in ("__new__", "__init__")]
        constructor = next((candidate for candidate in constructors if hasattr(candidate, "__code__")), None)
        parameters = read_parameters(constructor, 1, strict=False) if constructor is not None else ()
        if name.endswith("Backend"):
            parameters = (Parameter("device", "keyword", "option", "str | None", optional=True),)
    elif hasattr(declared, "__code__"):
        parameters = read_parameters(declared, strict=False)
    else:
        parameters = _parameters_of_builtin(name)
    first = parameters[:1]
    if first and first[0].name == "self":
        parameters = (first[0]._replace(role="tensor", annotation="self"), *parameters[1:])
    return Subject(name, function, parameters)


def _parameters_of_builtin(name: str) -> tuple[Parameter, ...]:
    x = Parameter("x", "positional", "tensor", "self")
    other, key = x._replace(name="other", annotation="TensorLike"), Parameter("key", "positional", "option", "key")
    if name == "x[...]":
        return x, key
    if name == "x[...] = value":
        return x, key, other
    if name in ("format()", "round()"):
        return x, Parameter("text", "positional", "option", "str" if name == "format()" else "int", optional=True)
    unary = (
        name.endswith("()") or name.startswith("Tensor.") or name.rpartition(".")[2] in ("neg", "pos", "abs", "invert")
    )
    return (x,) if unary else (x, other)


# Right arguments

SHAPES = [
    (),
    (),
    (1,),
    (2,),
    (3,),
    (0,),
    (2, 3),
    (3, 2),
    (2, 2),
    (2, 2),
    (3, 3),
    (1, 3),
    (2, 0),
    (2, 2, 2),
    (1, 2, 3, 2),
]
WORDS = ["a", "b", "n", "batch", "x"]


def tensor(draw: random.Random, backend: str) -> tb.Tensor:
    """A tensor of any dtype, with or without names, the same on every backend."""
    shape = draw.choice(SHAPES)
    dtype = draw.choice([*ALL_DTYPES, tb.float32, tb.float32, tb.float32, tb.int64, tb.int64, bool_])
    names: list[str | None] = [None] * len(shape)
    if draw.random() < 0.3:
        names = draw.sample([*WORDS, None], len(shape))
    template = tb.Template(shape, dtype, names)
    value = draw.choice([0, 1, 2])
    if backend == "template":
        return tb.template(shape, dtype, names)
    if dtype is bool_:
        return tb.from_binary(bytes(index % 2 for index in range(template.payload_nbytes)), template, backend)
    return tb.full(shape, value, dtype=dtype, names=names, backend=backend)


def functions(backend: str) -> list[Callable[..., Any]]:
    """Functions that a user might pass: valid ones, invalid ones, and one that fails."""

    def fails(*arguments: Any) -> Any:
        raise UserError

    return [
        lambda *arguments: arguments[0] if arguments else tb.zeros(()),
        lambda *arguments: tb.sum(arguments[0]) if arguments and isinstance(arguments[0], tb.Tensor) else 1.0,
        lambda *arguments: arguments,
        lambda *arguments: (arguments[0], arguments[-1]) if arguments else None,
        lambda *arguments: True,
        lambda *arguments: None,
        fails,
        tb.sin,
    ]  # fmt: skip


def right(draw: random.Random, parameter: Parameter, backend: str) -> Any:
    """A value of the kind that a parameter takes."""
    kind, name = parameter.annotation, parameter.name
    if parameter.optional and draw.random() < 0.4:
        return None
    if name == "key" and parameter.role == "tensor":
        return tb.random.key(draw.randrange(9), backend=backend)
    if parameter.role == "tensor" or kind in ("TensorLike", "Tensor", "Nested", "Any", "TensorLike | None"):
        if name == "key" or kind == "key":
            return key(draw, backend)
        return tensor(draw, backend) if draw.random() < 0.85 else draw.choice([0, 1, 2.5, True, 1j, [1, 2]])
    if parameter.role == "tensors" or "Sequence[Tensor" in kind:
        return [tensor(draw, backend) for _ in range(draw.randrange(1, 3))]
    if kind == "key":
        return key(draw, backend)
    if parameter.meaning == "dtype" or "DTypeLike" in kind:
        return draw.choice([*ALL_DTYPES, "f32", float, np.int32])
    if parameter.meaning in ("axis", "sole axis") or name in ("axis", "in_axes", "out_axes"):
        return draw.choice([0, 0, 0, 1, -1, -2, 2, *WORDS])
    if parameter.meaning == "axes" or name == "axes":
        return draw.choice([0, 1, -1, (0,), (0, 1), (1, 0), [0], "a", ("a", "b"), ()])
    if "Callable" in kind or kind == "Function" or name == "function":
        return draw.choice(functions(backend))
    if name == "functions":
        return [draw.choice(functions(backend)) for _ in range(2)]
    if name == "backend":
        return backend
    if name == "device":
        return "cpu"
    if name == "names":
        return draw.sample(WORDS, draw.randrange(4))
    if name == "subscripts":
        return draw.choice(["ij,jk->ik", "i->", "ij->ji", "ii", "i,i", "a b, b -> a", "...i->..."])
    if name == "path":
        return draw.choice(["x.npy", "y.npz", "z.safetensors"])
    if name == "template" or kind == "Template":
        return tb.Template((2,), "f32")
    if kind == "bool":
        return draw.choice([True, False])
    if "Sequence[int]" in kind or name in ("shape", "padding"):
        return draw.choice([(), (2,), (2, 3), 3, [1, 2], (4,), [(0, 1)], "same"])
    if kind in ("int", "int | None"):
        return draw.choice([0, 1, 2, 3, -1])
    if "float" in kind:
        return draw.choice([0.5, 0.0, 1.0, 1])
    if kind.startswith("str") or "Literal" in kind or kind in ("Mode", "Side", "Transform", "Leftover", "RandomMode"):
        return draw.choice(["a", "b", "clip", "low", "left", "linear", "reduced", "xy", "none", "keep", "constant"])
    return draw.choice([0, 1, 2, "a", (0, 1)])


def key(draw: random.Random, backend: str) -> Any:
    """A random key of `x[...]`."""
    parts = [0, 1, -1, slice(None), slice(0, 1), slice(None, None, -1), None, ..., [0, 1], [True, False], True, 5, -9]
    chosen = [draw.choice([*parts, tensor(draw, backend)]) for _ in range(draw.choice([1, 1, 1, 2, 3]))]
    return chosen[0] if len(chosen) == 1 and draw.random() < 0.8 else tuple(chosen)


# Wrong arguments


def wrong(draw: random.Random, backend: str) -> Any:
    """A value that hardly any parameter accepts."""
    value = draw.randrange(len(WRONG) + 4)
    if value < len(WRONG):
        return WRONG[value]()
    x = tensor(draw, backend)
    if value == len(WRONG):
        return [x, x]
    if value == len(WRONG) + 1:
        return {"a": x}
    if value == len(WRONG) + 2:
        gone = x + 0 if x.dtype.is_numeric else tb.logical_not(x)
        gone.backend_deallocate()
        return gone
    return x


class Call(NamedTuple):
    """A call on one backend."""

    subject: Subject
    arguments: list[Any]
    keywords: dict[str, Any]
    operands: list[Any]
    """The operands with which a returned function is called."""


def wrong_call(draw: random.Random, subject: Subject, backend: str) -> Call:
    """An invalid call, unless it is valid by accident."""
    arguments: list[Any] = []
    keywords: dict[str, Any] = {}
    for parameter in subject.parameters:
        if parameter.kind == "variadic":
            arguments += [_value(draw, parameter, backend) for _ in range(draw.randrange(3))]
        elif parameter.kind == "keyword":
            if draw.random() < 0.35:
                keywords[parameter.name] = _value(draw, parameter, backend)
        else:
            arguments.append(_value(draw, parameter, backend))
    spoilt = draw.random()
    if spoilt < 0.7 and (arguments or keywords):
        places: list[Any] = [*range(_own(subject) and len(arguments) > 1, len(arguments)), *keywords]
        place = draw.choice(places)
        if _own(subject) and place == 0:
            pass
        elif isinstance(place, str):
            keywords[place] = wrong(draw, backend)
        else:
            arguments[place] = wrong(draw, backend)
    elif spoilt < 0.75 and arguments:
        arguments.pop()
    elif spoilt < 0.8:
        arguments.append(wrong(draw, backend))
    elif spoilt < 0.82:
        keywords["unknown"] = wrong(draw, backend)
    operands = [
        tensor(draw, backend) if draw.random() < 0.7 else wrong(draw, backend) for _ in range(draw.choice([1, 1, 2]))
    ]
    return Call(subject, arguments, keywords, operands)


def spoilt_call(draw: random.Random, subject: Subject, place: int, make: Callable[[], Any]) -> Call:
    """A call on NumPy with a wrong value for one parameter; optional keywords are left out."""
    arguments: list[Any] = []
    keywords: dict[str, Any] = {}
    for number, parameter in enumerate(subject.parameters):
        if number != place and parameter.kind == "keyword" and parameter.optional:
            continue
        value = tensor(draw, "numpy") if parameter.annotation == "self" else right(draw, parameter, "numpy")
        value = make() if number == place else value
        if parameter.kind == "keyword":
            keywords[parameter.name] = value
        else:
            arguments.append(value)
    return Call(subject, arguments, keywords, [tensor(draw, "numpy")])


def _own(subject: Subject) -> bool:
    """Whether the first argument is the object whose method is called, which Python itself checks."""
    return bool(subject.parameters) and subject.parameters[0].annotation == "self"


def _value(draw: random.Random, parameter: Parameter, backend: str) -> Any:
    if parameter.annotation == "self":
        return tensor(draw, backend)
    return wrong(draw, backend) if draw.random() < 0.15 else right(draw, parameter, backend)


class UnknownObject:
    """An object of a kind that the library does not know."""


class FailingRepr:
    """An object whose `repr` raises an error."""

    def __repr__(self) -> str:
        raise RuntimeError


def itself() -> list[Any]:
    """A list that holds itself."""
    cycle: list[Any] = [1]
    cycle.append(cycle)
    return cycle


def nest_mutually() -> tuple[Any, ...]:
    """A tuple, a dictionary and a list that hold each other."""
    cycle: list[Any] = []
    cycle.append({"a": (cycle, 1)})
    return (cycle,)


def only_itself() -> list[Any]:
    """A list of nothing but itself, which has no elements however deep one looks."""
    cycle: list[Any] = []
    cycle.append(cycle)
    return cycle


def deep() -> list[Any]:
    """Lists nested deeper than Python calls functions."""
    nested: list[Any] = [1]
    for _ in range(3000):
        nested = [nested]
    return nested


WRONG: list[Callable[[], Any]] = [
    *[lambda value=value: value for value in (
        None, True, False, "text", "", b"ab", (), (1, 2, 3), (0, 0), (-1,), (2, -3), (True,), (1.5,), ((0, 1), (1, 0)),
        ("a", "a"), ("a", 1), (None, "b"), ((0, 1, 2), 3), ((0, 1),), (int, float), "f32", "float33", "i8", "nowhere",
        "jax:tpu", "\ud800", "a\0b", "ij,jk", "->", "numpy", "cuda:7", ..., NotImplemented, -1, -7, 99, 1.5, -0.0, 1j,
        float("nan"), float("inf"), -float("inf"), 1e300, complex("nan+infj"), 1 << 63, -(1 << 63) - 1, 1 << 64,
        10**30, 10**5000, -(10**5000), (1 << 63, 2), (10**5000,), slice(None), slice("a", None), slice(None, None, 0),
        range(3), frozenset((0,)), UnknownObject, object, int, np, tb.float32, tb.Template, np.dtype("U3"),
        np.dtype([("a", "f4")]), np.ma.masked, np.float64(2.5), np.int8(-3), np.bool_(True), np.longdouble(2),
        np.str_("a"), fractions.Fraction(1, 2), decimal.Decimal(2), datetime.date(2020, 1, 1),
        Path("nowhere") / "x.npy",
    )],
    UnknownObject, FailingRepr, object, itself, nest_mutually, only_itself, deep, list, dict, set,
    lambda: bytearray(b"ab"), lambda: memoryview(b"abcd"), lambda: ValueError("x"),
    lambda: lambda *arguments: arguments,
    lambda: {"a": 1}, lambda: {0: (1, 2)}, lambda: {"n": 2}, lambda: {"a": 10**5000}, lambda: {1, 2},
    lambda: {"a", "b"},
    lambda: iter([1, 2]), lambda: (number for number in (1, 2)), lambda: [10**5000], lambda: [None], lambda: ["a"],
    lambda: [[1, 2], [3]], lambda: [1, [2]], lambda: [[], [1]], lambda: [[]], lambda: [1.0, 2.0], lambda: [..., 0],
    lambda: [[1, 2], [3, 4]], lambda: np.array([1.5, 2.5]), lambda: np.array(2), lambda: np.zeros((0, 3)),
    lambda: np.arange(6).reshape(2, 3), lambda: np.ma.masked_array([1.0, 2.0], [True, False]),
    lambda: np.zeros(2, [("a", "f4"), ("b", "i2")]), lambda: np.zeros(2, [("a", "f4")])[0],
    lambda: np.array([1, None], object), lambda: np.array(["a", "b"]), lambda: np.array("2020-01-01", "M8[s]"),
]  # fmt: skip
"""Functions that each make a wrong value."""
