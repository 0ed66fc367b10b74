"""Mistakes of users raise one error, the same on each backend, before any callback runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import signature
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.declarations.op_specs import CALLBACKS, OPS, OpSpec
from tensorbackend.dtypes import ALL_DTYPES
from tensorbackend.errors import (
    ArgumentError,
    AxisError,
    BackendError,
    DeallocatedError,
    DTypeError,
    IndexRangeError,
    NamesError,
    OperandError,
    OutOfRangeError,
    ShapeError,
    TensorBackendError,
)
from tensorbackend.testing.source import public

REACHED = "a callback was reached"


def _refuse(self: object, *inputs: object, **options: object) -> Any:
    raise AssertionError(REACHED)


# A backend whose callbacks all fail: no call here may reach them.
Untouched: type[BinaryBackend] = type(
    "Untouched", (BinaryBackend,), {"name": "untouched", "dispatch_priority": 1, **dict.fromkeys(CALLBACKS, _refuse)}
)
BACKENDS = ["binary", "numpy", "template", Untouched()]
on_each_backend = pytest.mark.parametrize("backend", BACKENDS, ids=str)


def ones(backend: Any, *shape: int, names: Any = None, dtype: str = "float32") -> tb.Tensor:
    """Return a tensor made without callbacks; its elements are 0."""
    template = tb.Template(shape, dtype, names)
    return tb.from_binary(bytes(template.nbytes), template, backend)


Mistake = Callable[[tb.Tensor], Any]
ROWS: list[tuple[str, Mistake, type[TensorBackendError], str]] = [
    ("shape", lambda x: x * ones(x.backend, 3, 5), ShapeError, "multiply: expected sizes that are equal or 1"),
    ("names", lambda x: x + x.rename("batch", "time"), NamesError, "add: expected the same name or None"),
    ("number", lambda x: ones(x.backend, 2, dtype="s8") + 300, OutOfRangeError, "add: expected an integer from -128"),
    ("dtypes", lambda x: ones(x.backend, 1, dtype="u64") + ones(x.backend, 1, dtype="s8"), DTypeError, "astype"),
    ("reshape", lambda x: tb.reshape(x, (4, 2)), ShapeError, "reshape: expected"),
    ("two unknown sizes", lambda x: tb.reshape(x, (-1, -1)), ShapeError, "reshape: expected"),
    ("permutation", lambda x: tb.permute_dims(x, (0, 0)), AxisError, "permute_dims: expected"),
    ("squeeze", lambda x: tb.squeeze(x, "batch"), ShapeError, "squeeze: expected"),
    ("new axis", lambda x: tb.expand_dims(x, axis=4), AxisError, "expand_dims: expected"),
    ("taken name", lambda x: tb.expand_dims(x, name="batch"), NamesError, "expand_dims: expected"),
    ("broadcast", lambda x: tb.broadcast_to(x, (4, 3)), ShapeError, "broadcast_to: expected"),
    ("padding", lambda x: tb.pad(x, [(1, 1)]), ArgumentError, "pad: expected a padding for each axis"),
    ("interior", lambda x: tb.pad(x, [(0, 0, -1)] * 2), ArgumentError, "pad: expected .* interior of at least 0"),
    ("too much taken", lambda x: tb.pad(x, [(-3, 0)] * 2), ShapeError, "pad: expected a padding that leaves"),
    ("padded name", lambda x: tb.pad(x, {"time": (1, 1)}), AxisError, "pad: expected an axis name"),
    ("join", lambda x: tb.concatenate([x, ones(x.backend, 2, 4)]), ShapeError, "concatenate: expected sizes"),
    ("nothing to join", lambda x: tb.concatenate([]), ArgumentError, "concatenate: expected at least one tensor"),
    ("no sequence", lambda x: tb.concatenate(x), OperandError, "expected a list or tuple of tensors"),  # type: ignore[arg-type]
    ("nothing to stack", lambda x: tb.stack([]), ArgumentError, "stack: expected at least one tensor"),
    ("no axis to roll", lambda x: tb.roll(x, 1, axis=1.5), AxisError, "roll: expected .* got axis=1.5"),  # type: ignore[arg-type]
    ("stack", lambda x: tb.stack([x, ones(x.backend, 3, 2)]), ShapeError, "stack: expected tensors of one shape"),
    ("sections", lambda x: tb.split(x, 4, axis=1), ShapeError, "split: expected a number of sections"),
    ("shifts", lambda x: tb.roll(x, (1, 2), axis=0), ArgumentError, "roll: expected one shift"),
    ("negative repeats", lambda x: tb.repeat(x, -1, axis=0), ShapeError, "repeat: expected"),
    ("block", lambda x: tb.put_slice(x, x, starts=(1, 0)), ShapeError, "put_slice: expected a block within"),
    ("wide block", lambda x: tb.put_slice(x, ones(x.backend, 1, 1, dtype="c64"), starts=(0, 0)), DTypeError, "holds"),
    ("float index", lambda x: tb.take(x, x, axis=0), DTypeError, "expected indices of an integer dtype"),
    ("mode", lambda x: tb.take(x, ones(x.backend, 1, dtype="s64"), axis=0, mode="wrap"), ArgumentError, "'fill'"),  # type: ignore[arg-type]
    ("axis of take", lambda x: tb.take(x, ones(x.backend, 1, dtype="s64")), AxisError, "expected an axis of"),
    ("contraction", lambda x: tb.dot(x, x, contract=(["batch"], ["feature"])), ShapeError, "dot: expected paired"),
    ("name twice", lambda x: tb.outer(x, x), NamesError, "expected each name once"),
    ("subscripts", lambda x: tb.einsum("ij,jk", x), ArgumentError, "einsum: expected 1 terms"),
    ("letters", lambda x: tb.einsum("i", x), ArgumentError, "einsum: expected 2 letters"),
    ("letter sizes", lambda x: tb.einsum("ii", x), ShapeError, "einsum: expected one size for the letter 'i'"),
    ("empty maximum", lambda x: tb.max(ones(x.backend, 0)), ShapeError, "max: expected axes of at least one"),
    ("sort order", lambda x: tb.sort(ones(x.backend, 2, dtype="c64")), DTypeError, "sort: expected"),
    ("condition", lambda x: tb.where(x, x, x), DTypeError, "where: expected a condition of dtype bool"),
    ("bitcast", lambda x: tb.bitcast(x, "s8"), DTypeError, "bitcast: expected a dtype of 32 bits"),
    ("complex", lambda x: tb.maximum(x, 1j), DTypeError, "maximum: expected a real dtype"),
    ("index", lambda x: x[5], IndexRangeError, "expected an index"),
    ("too many indices", lambda x: x[0, 0, 0], IndexRangeError, "expected at most 2"),
    ("a step of 0", lambda x: x[::0], ArgumentError, "expected"),
    ("order of names", lambda x: x.align_to("feature"), NamesError, "expected names that hold all"),
    ("rename", lambda x: x.rename(time="t"), AxisError, "expected an axis name"),
    ("batch size", lambda x: tb.to_batched(x, 0), ArgumentError, "expected a batch size of at least 1"),
    ("leftover", lambda x: tb.to_batched(x, 1, leftover="some"), ArgumentError, "'discard'"),  # type: ignore[arg-type]
    ("cast", lambda x: tb.sum(ones(x.backend, 1, dtype="c64"), dtype="f32"), DTypeError, "take real"),
]


@on_each_backend
@pytest.mark.parametrize(("mistake", "error", "text"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_mistake(backend: Any, mistake: Mistake, error: type[TensorBackendError], text: str) -> None:
    x = ones(backend, 2, 3, names=("batch", "feature"))
    with pytest.raises(error, match=text) as raised:
        mistake(x)
    assert str(raised.value)[0].islower()


def with_parameter(*annotations: str) -> list[OpSpec]:
    """Return the ops with a parameter of one of these annotations, unless they take a sequence of tensors."""
    return [
        spec
        for spec in OPS.values()
        if spec.function.__module__.startswith("tensorbackend.")
        and any(parameter.annotation in annotations for parameter in spec.parameters)
        and all(parameter.role != "tensors" for parameter in spec.parameters)
    ]


@on_each_backend
@pytest.mark.parametrize("spec", with_parameter("Axis", "Axes", "SoleAxis", "Axis | None"), ids=lambda spec: spec.name)
@pytest.mark.parametrize("axis", [7, -8, "nowhere", 1.5])
def test_an_axis_that_is_none(spec: OpSpec, axis: Any, backend: Any) -> None:
    kinds = ("Axis", "Axes", "SoleAxis", "Axis | None")
    arguments: list[Any] = []
    keywords: dict[str, Any] = {}
    for parameter in spec.parameters:
        if parameter.role == "tensor":
            dtype = "int64" if parameter.name in ("indices", "segments") else "float32"
            arguments.append(ones(backend, 1, 1, names=("a", "b"), dtype=dtype))
        elif parameter.annotation in kinds and parameter.kind == "keyword":
            keywords[parameter.name] = axis
        elif parameter.name == "function":
            keywords["function"] = tb.add
        elif parameter.name == "size":
            keywords["size"] = 1
        elif parameter.kind == "positional":
            arguments.append(axis if parameter.annotation in kinds else 1)
    parameters = signature(public(spec.name)).parameters.values()
    needed = [
        parameter
        for parameter in parameters
        if parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY
    ]
    arguments += [0.5] * (len(needed) - len(arguments))  # for a public function around the op
    with pytest.raises(AxisError, match=re.escape(f"{axis!r}")):
        public(spec.name)(*arguments, **keywords)


@pytest.mark.parametrize(
    "spec",
    [
        spec
        for spec in OPS.values()
        if spec.kind == "primitive" and spec.family == "elementwise"
        if all(parameter.role == "tensor" for parameter in spec.parameters)
    ],
    ids=lambda spec: spec.name,
)
def test_what_is_not_an_operand(spec: OpSpec) -> None:
    several: list[Any] = ["text", None, [1.0], {}]
    for wrong in several:
        arguments: list[Any] = [ones(Untouched(), 2) for _ in spec.parameters]
        arguments[-1] = wrong
        if wrong is None and spec.name == "clip":
            continue  # a bound may be None
        with pytest.raises(OperandError, match="expected a tensor, a Python number or an array"):
            public(spec.name)(*arguments)


# Values


@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_a_float_beyond_the_default_dtype_gets_a_wider_one(backend: str) -> None:
    assert tb.asarray([1.0, 1e300], backend=backend).dtype is tb.float64
    assert tb.asarray(1e300j, backend=backend).dtype is tb.complex128
    with pytest.raises(OutOfRangeError, match="expected a number from"):
        tb.asarray([1e300], dtype="f32", backend=backend)


@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_values_that_make_no_tensor(backend: str) -> None:
    with pytest.raises(ShapeError, match=r"lists of equal length at each level, got lengths=\[1, 2\]; pad them"):
        tb.tensor([[1, 2], [3]], backend=backend)
    with pytest.raises(ShapeError, match="lists nested to equal depth"):
        tb.tensor([1, [2]], backend=backend)
    with pytest.raises(OperandError, match="expected Python numbers or nested lists of them, got element='a'"):
        tb.tensor(["a"], backend=backend)
    with pytest.raises(OutOfRangeError, match="expected an integer from 0 to 255"):
        tb.tensor([1, -1], dtype="u8", backend=backend)
    with pytest.raises(ShapeError, match=r"8 bytes for f32\[2\], got bytes=7"):
        tb.from_binary(bytes(7), tb.Template((2,), "f32"), backend)
    with pytest.raises(ArgumentError, match="expected a step other than 0"):
        tb.arange(0, 1, 0, backend=backend)
    with pytest.raises(BackendError, match="expected the name of a backend, got name='nowhere'"):
        tb.zeros(2, backend="nowhere")


@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_use_after_deallocation(backend: str) -> None:
    x = tb.tensor([1.0], backend=backend)
    y = tb.tensor([1.0], backend=backend)
    x.backend_deallocate()
    x.backend_deallocate()  # the second call does nothing
    for use in (lambda: x + y, lambda: x.tolist(), lambda: tb.sum(x), lambda: x.backend_copy("numpy")):
        with pytest.raises(DeallocatedError, match="expected a tensor that still has its data"):
            use()
    assert (x.shape, x.dtype) == ((1,), tb.float32)
    assert (y + y).tolist() == [2.0]


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_an_index_outside_is_found_in_the_data(backend: str, dtype: tb.DType) -> None:
    x = tb.zeros((2, 3), dtype=dtype, backend=backend)
    with pytest.raises(IndexRangeError, match=r'expected an index from -[23] to 2, got index=3; use mode="clip"'):
        tb.take(x, tb.asarray([0, 3], backend=backend), axis=1)
    assert tb.take(x, tb.asarray([0, 3], backend=backend), axis=1, mode="clip").shape == (2, 2)
