"""Products of stacks of matrices whose leading axes broadcast: values, gradients and names as in NumPy, and no operand
is repeated in memory."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.testing import profile

BACKENDS = ["binary", "numpy", "jax"]
DTYPES = ["float64", "int64", "int8", "complex128"]


class Pattern(NamedTuple):
    """Two operands of `matmul`."""

    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    names: tuple[tuple[str | None, ...], tuple[str | None, ...]]
    orders: tuple[tuple[int, ...], tuple[int, ...]]
    """The orders in which the axes of each are in memory."""


@st.composite
def patterns(draw: st.DrawFn, sizes: tuple[int, ...] = (0, 1, 2, 3, 9), few: int = 0) -> Pattern:
    """Draw up to three leading axes, of which each operand has some, some with size 1; sometimes one is a vector."""
    rows, terms, columns = (draw(st.sampled_from(sizes)) for _ in range(3))
    leading = draw(st.lists(st.sampled_from(sizes), min_size=few, max_size=3))
    named = draw(st.booleans())
    shapes, names, orders = [], [], []
    for last, letters in (((rows, terms), "nk"), ((terms, columns), "km")):
        own = [size if draw(st.integers(0, 2)) else 1 for size in leading]
        left_out = draw(st.integers(0, len(own)))
        shape = (*own[left_out:], *last)
        axes = [*"abc"[: len(own)][left_out:], *letters]
        if not few and draw(st.integers(0, 7)) == 0:
            shape, axes = (terms,), ["k"]
        shapes.append(shape)
        names.append(tuple(name if named and draw(st.integers(0, 4)) else None for name in axes))
        in_order = tuple(range(len(shape)))
        orders.append(tuple(draw(st.permutations(in_order))) if draw(st.booleans()) else in_order)
    return Pattern(tuple(shapes), tuple(names), tuple(orders))  # type: ignore[arg-type] # pairs


def drawn(data: st.DataObject, pattern: Pattern, dtype: str) -> list[np.ndarray[Any, Any]]:
    """Small whole numbers, whose sums of products every dtype holds or wraps."""
    generator = np.random.default_rng(data.draw(st.integers(0, 1 << 16)))
    arrays = [generator.integers(-9, 10, shape) for shape in pattern.shapes]
    if dtype == "complex128":
        return [array + 1j * generator.integers(-9, 10, array.shape) for array in arrays]
    return [array.astype(dtype) for array in arrays]


def tensors(pattern: Pattern, arrays: list[np.ndarray[Any, Any]], backend: str) -> list[tb.Tensor]:
    """The operands, as views of memory in another order where the pattern says so."""
    return [
        tb.permute_dims(
            tb.asarray(np.ascontiguousarray(array.transpose(order)), backend=backend),
            tuple(map(int, np.argsort(order))),
        ).rename(*names)
        for array, order, names in zip(arrays, pattern.orders, pattern.names, strict=True)
    ]


def merged_names(pattern: Pattern) -> tuple[str | None, ...]:
    """The names of the product: the leading axes, then the rows and the columns of matrices."""
    left, right = pattern.names
    stacks = [() if len(names) == 1 else names[:-2] for names in pattern.names]
    count = max(map(len, stacks))
    leading = [next((names[place] for names in stacks if -place <= len(names) and names[place]), None)
               for place in range(-count, 0)]  # fmt: skip
    return (*leading, *(left[-2:-1] if len(left) > 1 else ()), *(right[-1:] if len(right) > 1 else ()))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_values_and_names(backend: str, dtype: str) -> None:
    @profile(8 if backend == "jax" else 60)
    @given(patterns(), st.data())
    def holds(pattern: Pattern, data: st.DataObject) -> None:
        arrays = drawn(data, pattern, dtype)
        wanted = np.matmul(*arrays)
        x1, x2 = tensors(pattern, arrays, backend)
        for product in (x1 @ x2, tb.jit(tb.matmul)(x1, x2)):
            assert (product.shape, str(product.dtype), product.names) == (wanted.shape, dtype, merged_names(pattern))
            np.testing.assert_array_equal(np.asarray(product), wanted)

    holds()


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients(backend: str) -> None:
    @profile(6 if backend == "jax" else 40)
    @given(patterns(), st.data())
    def holds(pattern: Pattern, data: st.DataObject) -> None:
        arrays = drawn(data, pattern, "float64")
        weight = np.random.default_rng(0).integers(-9, 10, np.matmul(*arrays).shape).astype("float64")

        def loss(x1: tb.Tensor, x2: tb.Tensor) -> tb.Tensor:
            return tb.sum(x1 @ x2 * tb.asarray(weight, backend=backend))

        operands = tensors(pattern, arrays, backend)
        gradients = tb.grad(loss, argnums=(0, 1))(*operands)
        for gradient, wanted, operand in zip(gradients, cotangents(weight, *arrays), operands, strict=True):
            assert gradient.template == operand.template
            np.testing.assert_array_equal(np.asarray(gradient), wanted)

    holds()


def cotangents(weight: np.ndarray[Any, Any], x1: Any, x2: Any) -> tuple[Any, Any]:
    """The gradient of sum(x1 @ x2 * weight) with respect to each operand: products of whole stacks, then sums."""
    left, right = x1[None] if x1.ndim == 1 else x1, x2[:, None] if x2.ndim == 1 else x2
    if x2.ndim == 1:
        weight = weight[..., None]
    if x1.ndim == 1:
        weight = weight[..., None, :]
    first, second = weight @ right.swapaxes(-1, -2), left.swapaxes(-1, -2) @ weight
    return summed(first, left.shape).reshape(x1.shape), summed(second, right.shape).reshape(x2.shape)


def summed(x: Any, shape: tuple[int, ...]) -> Any:
    """Sum over the axes along which an operand of that shape was repeated."""
    x = x.sum(tuple(range(x.ndim - len(shape))))
    return x.sum(tuple(axis for axis, size in enumerate(shape) if size == 1 != x.shape[axis]), keepdims=True)


def test_no_operand_is_repeated_in_memory() -> None:
    """Dry runs predict no more than operands and result, twice that with the gradient; NumPy takes no more."""

    @profile(30)
    @given(patterns(sizes=(16, 24), few=2))
    def holds(pattern: Pattern) -> None:
        shapes = pattern.shapes
        result = (*np.broadcast_shapes(*(shape[:-2] for shape in shapes)), shapes[0][-2], shapes[1][-1])
        operands, product = 4 * sum(map(math.prod, shapes)), 4 * math.prod(result)
        templates = [tb.template(shape, "float32") for shape in shapes]
        assert tb.dry_run(tb.matmul, *templates).peak.memory <= operands + product
        loss = tb.dry_run(lambda x1, x2: tb.sum(x1 @ x2), *templates, gradient=True)
        assert loss.peak.memory <= 2 * (operands + product) + 64
        x1, x2 = (tb.ones(shape, dtype="float32", backend="numpy") for shape in shapes)
        for _ in range(3):
            x1 @ x2  # what the first calls make is kept
        tracemalloc.start()
        try:
            x1 @ x2
            measured = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert measured <= 1.02 * product + (1 << 17)

    holds()
