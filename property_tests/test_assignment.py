"""Random assignments to tensors that share memory in every way, compared with NumPy arrays of which each has its own.

Nothing here trusts this library or NumPy's assignment: an array's elements are replaced one after the other, in
row-major order of the key.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import as_dtype
from tensorbackend.errors import TensorBackendError
from tensorbackend.testing import profile
from tensorbackend.testing.sharers import SHARERS

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy,binary").split(",")
DTYPES = ["float32", "float64", "int32", "uint8", "bool", "complex64", "bfloat16", "float16"]
SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)
COMPILES = {"a constant of jit", "a result of jit", "a graph", "a tape"}
"""Sharers that take a hundred times as long as others: each example has a few of them at most."""


def draw_key(draw: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """A key with arrays in place of tensors, in which at most one part is a mask or several parts are index arrays."""
    parts: list[Any] = []
    axis, kinds = 0, ["int", "slice", "slice", "array", "mask", "new", "end"]
    common = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    while axis < len(shape):
        size, kind = shape[axis], draw(st.sampled_from(kinds))
        if kind == "end":
            break
        if kind == "new":
            parts.append(None)
            continue
        if kind == "int":
            parts.append(draw(st.integers(-size, size - 1)))
        elif kind == "slice":
            ends = st.none() | st.integers(-size - 1, size + 1)
            parts.append(slice(draw(ends), draw(ends), draw(st.sampled_from([None, 1, 2, -1, -2]))))
        elif kind == "array":
            kinds = [kind for kind in kinds if kind != "mask"]
            count = math.prod(common)
            places = draw(st.lists(st.integers(-size, size - 1), min_size=count, max_size=count))
            indices = np.array(places, "int64").reshape(common)
            dtype = draw(st.sampled_from(["int64", "int16", "uint8"]))
            if dtype == "uint8":
                indices %= size
            if common and draw(st.booleans()):
                indices = np.array(indices, order="F")[::-1]
            parts.append(indices.astype(dtype, copy=False))
        else:
            kinds = [kind for kind in kinds if kind not in ("mask", "array", "int")]
            width = draw(st.integers(1, len(shape) - axis))
            count = math.prod(shape[axis : axis + width])
            held = draw(st.lists(st.booleans(), min_size=count, max_size=count))
            parts.append(np.array(held, bool).reshape(shape[axis : axis + width]))
            axis += width - 1
        axis += 1
    if axis == len(shape) or draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts))) if axis == len(shape) else len(parts), ...)
    return tuple(parts)


def assigned(array: Any, key: tuple[Any, ...], value: Any) -> Any:
    """The array after an assignment: each element is written by itself."""
    places = np.arange(array.size).reshape(array.shape)[key]
    result = array.copy()
    flat = result.reshape(-1)
    for place, element in zip(places.reshape(-1), np.broadcast_to(value, places.shape).reshape(-1), strict=True):
        flat[place] = element
    return result


class World:
    """Tensors with the arrays that they must equal, and readers with what they must read."""

    def __init__(self, draw: Any, backend: str) -> None:
        self.draw, self.backend = draw, backend
        self.tensors: list[list[Any]] = []
        self.readers: list[tuple[Callable[[], Any], bytes, str]] = []
        self.dtype = draw(st.sampled_from(DTYPES))
        self.make()

    def numbers(self, shape: tuple[int, ...]) -> Any:
        """Small numbers in the dtype."""
        count = math.prod(shape)
        values = self.draw(st.lists(st.integers(0, 9), min_size=count, max_size=count))
        return np.array(values).reshape(shape).astype(as_dtype(self.dtype).dtype)

    def make(self) -> None:
        """A new tensor: of an op, of the user's array, of a part of it, of a list, of bytes."""
        array = self.numbers(self.draw(SHAPES))
        how = self.draw(st.sampled_from(["op", "array", "part", "frozen", "tensor", "bytes"]))
        given = array.copy()
        if how == "part":
            given = np.concatenate([array, array])[: len(array)]
        if how == "frozen":
            given.flags.writeable = False
        if how == "bytes":
            x = tb.from_binary(array.tobytes(), tb.Template(array.shape, self.dtype), self.backend)
        elif how in ("op", "tensor"):
            x = tb.tensor(given, backend=self.backend)
            x = tb.concat([x[:1], x[1:]]) if how == "op" else x
        else:
            x = tb.asarray(given, backend=self.backend)
            if self.draw(st.booleans()):
                self.readers.append((given.copy, array.tobytes(), how))
        self.tensors.append([x, array])

    def share(self) -> None:
        """Something that may share the memory of a tensor."""
        name = self.draw(st.sampled_from([*SHARERS, *SHARERS, *set(SHARERS) - COMPILES]))
        x, _ = self.draw(st.sampled_from(self.tensors))
        try:
            reader = SHARERS[name](x)
            before = reader().tobytes()
        except (TensorBackendError, ValueError, BufferError, TypeError, RuntimeError):
            return  # not of this dtype
        self.readers.append((reader, before, name))

    def derive(self) -> None:
        """A tensor of another one, to which things are assigned as well."""
        x, array = self.draw(st.sampled_from(self.tensors))
        key = draw_key(self.draw, array.shape)
        how = self.draw(st.sampled_from(["key", "key", "permuted", "flat", "whole"]))
        if how == "key":
            try:
                pair = [x[plain(key, self.backend)], array[key].copy()]
            except IndexError:  # index arrays that do not broadcast together
                return
        elif how == "permuted":
            pair = [tb.permute_dims(x, (*range(x.ndim),)[::-1]), array.T.copy()]
        else:
            pair = [x[...], array.copy()] if how == "whole" else [tb.reshape(x, (x.size,)), array.reshape(-1).copy()]
        if pair[1].ndim and pair[1].size:
            self.tensors.append(pair)

    def drop(self) -> None:
        """One of the tensors or readers goes."""
        if self.readers and self.draw(st.booleans()):
            del self.readers[self.draw(st.integers(0, len(self.readers) - 1))]
        elif len(self.tensors) > 1:
            del self.tensors[self.draw(st.integers(0, len(self.tensors) - 1))]

    def assign(self) -> None:
        """An assignment of a number, an array, a list, a part of a tensor here, or what is there plus something."""
        pair = self.draw(st.sampled_from(self.tensors))
        x, array = pair
        key = draw_key(self.draw, array.shape)
        try:
            target = array[key].shape
        except IndexError:
            return
        given = plain(key, self.backend)
        if len(given) == 1 and self.draw(st.booleans()):
            given = given[0]
        how = self.draw(st.sampled_from(["number", "array", "tensor", "part", "same", "list"]))
        shape = tuple(
            self.draw(st.sampled_from([size, 1])) for size in target[self.draw(st.integers(0, len(target))) :]
        )
        value: Any
        if how == "number":
            value = array.dtype.type(self.draw(st.integers(0, 1 if self.dtype == "bool" else 9)))
            given_value: Any = value.item() if self.dtype != "bfloat16" else float(value)
        elif how in ("array", "tensor", "list"):
            value = self.numbers(shape)
            if self.draw(st.booleans()):
                value = np.array(value, order="F")
            given_value = tb.asarray(value, backend=self.backend)
            if how == "list" and self.dtype != "bfloat16" and value.size:
                given_value = value.tolist()
            if how == "array":
                given_value = value.copy()
        elif how == "same":
            value, given_value = array[key].copy(), x[given]
        else:
            other, other_array = self.draw(st.sampled_from(self.tensors))
            other_key = draw_key(self.draw, other_array.shape)
            try:
                value = other_array[other_key].copy()
                np.broadcast_to(value, target)
                given_value = other[plain(other_key, self.backend)]
            except (IndexError, ValueError):
                return
        known = tb.asarray(array.copy(), backend=self.backend)
        known[given] = given_value  # the first assignment of a kind only finds out how
        x[given] = given_value
        pair[1] = assigned(array, key, value)

    def check(self) -> None:
        """Everything has the elements that it must have."""
        for x, array in self.tensors:
            assert x.shape == array.shape
            assert x.to_binary() == array.tobytes()
        for reader, before, name in self.readers:
            assert reader().tobytes() == before, name


def plain(key: tuple[Any, ...], backend: str | None) -> tuple[Any, ...]:
    """A key with tensors in place of arrays."""
    return tuple(tb.asarray(part, backend=backend) if isinstance(part, np.ndarray) else part for part in key)


def check_values(backend: str, count: int) -> None:
    """Run random assignments, each with checks of all tensors and readers."""

    @profile(count)
    @given(st.data())
    def stay(data: st.DataObject) -> None:
        world = World(data.draw, backend)
        for _ in range(data.draw(st.integers(3, 12))):
            action = data.draw(
                st.sampled_from(["assign", "assign", "assign", "assign", "share", "derive", "drop", "make"])
            )
            getattr(world, action)()
            if action == "assign":
                world.check()

    stay()


@pytest.mark.parametrize("backend", BACKENDS)
def test_values_stay_values(backend: str) -> None:
    check_values(backend, 40)


INSTRUCTIONS = ["put", "put", "block", "add", "flip", "same", "reshape", "sum", "view", "swap"]


def run_step(module: Any, instructions: list[Any], turn: Any, arrays: list[Any]) -> list[Any]:
    """An iteration, on tensors, or on arrays of which each has its own memory."""
    arrays, view = [*arrays], None
    plain_arrays = module is np

    def put(x: Any, key: Any, value: Any) -> Any:
        return assigned(x, (key,), value) if plain_arrays else tb.put_at(x, key, value)

    for name, k, j, number in instructions:
        if name == "put":
            arrays[k] = put(arrays[k], (turn + number) % 4, arrays[j][number] + number)
        elif name == "block":
            arrays[k] = put(arrays[k], slice(1, 3), arrays[j][number % 2 :][:2])
        elif name == "add":
            if plain_arrays:
                arrays[k] = put(arrays[k], turn % 4, arrays[k][turn % 4] + number)
            else:
                place, addend = tb.reshape(turn % 4, (1, 1)), tb.asarray([number])
                arrays[k] = tb.indexed_add(arrays[k], place, addend)
        elif name == "flip":
            arrays[k] = arrays[j][::-1]
        elif name == "same":
            arrays[k] = arrays[j]
        elif name == "reshape":
            arrays[k] = module.reshape(module.reshape(arrays[j], (2, 2)), (4,))
        elif name == "sum":
            arrays[k] = arrays[k] + arrays[j]
        elif name == "swap":
            arrays[k], arrays[j] = arrays[j], arrays[k]
        elif view is None:
            view = arrays[j][1:]
        else:
            arrays[k] = put(arrays[k], slice(0, 3), view)
    return arrays


def check_loops(transform: Any, count: int) -> None:
    """Run random loops on tensors, and on arrays of which each has its own memory."""
    instruction = st.tuples(st.sampled_from(INSTRUCTIONS), *[st.integers(0, 2)] * 2, st.integers(0, 3))

    @profile(count)
    @given(st.lists(instruction, min_size=1, max_size=7), st.integers(0, 4))
    def keep(instructions: list[Any], turns: int) -> None:
        arrays = [np.arange(4) + 10 * number for number in range(3)]
        tensors = [tb.asarray(array) for array in arrays]

        def loop(*carried: tb.Tensor) -> Any:
            return tb.fori_loop(0, turns, lambda turn, carry: run_step(tb, instructions, turn, carry), [*carried])

        results = transform(loop)(*tensors)
        wanted = [array.copy() for array in arrays]
        for turn in range(turns):
            wanted = [array.copy() for array in run_step(np, instructions, turn, wanted)]
        assert [x.tolist() for x in results] == [array.tolist() for array in wanted]
        assert [x.tolist() for x in tensors] == [array.tolist() for array in arrays]

    keep()


TRANSFORMS: dict[str, Any] = {"jit": tb.jit, "eager": lambda function: function}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_loops_keep_values(name: str) -> None:
    """Kernels of programs write into an operand at its last use, unless something else holds its memory."""
    check_loops(TRANSFORMS[name], 25)
