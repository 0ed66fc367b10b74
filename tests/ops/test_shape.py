"""Shape ops, indexing, names and contractions, by example on each backend."""

import itertools
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, DType
from tensorbackend.errors import ArgumentError, AxisError, IndexRangeError, NamesError, OperandError, ShapeError

DATA = np.arange(24).reshape(2, 3, 4)
KEYS: list[Any] = [
    0,
    -1,
    slice(1, None),
    slice(None, None, -1),
    (slice(None), slice(2, None, -2)),
    (0, ..., slice(1, 4, 2)),
    (None, 1, None, ..., 3),
    (..., None),
    (0, 1, 2),
    (slice(5, 9),),
    (slice(None), 1, slice(None, None, -3)),
]


@pytest.fixture(params=["binary", "numpy"])
def x(request: pytest.FixtureRequest) -> tb.Tensor:
    return tb.tensor(DATA, names=("a", "b", "c"), backend=request.param)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_basic_indexing_is_numpys(x: tb.Tensor, key: Any) -> None:
    assert x[key].tolist() == DATA[key].tolist()
    assert tb.template(x.shape, x.dtype, x.names)[key].template is x[key].template


def test_indexing_keeps_names(x: tb.Tensor) -> None:
    assert x[0].names == ("b", "c")
    assert x[:, None, 1].names == ("a", None, "c")
    assert x.isel(c=slice(0, 2), a=1).template == tb.Template((3, 2), "int64", ("b", "c"))
    assert [row.names for row in x] == [("b", "c")] * 2


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
def test_permute_dims(x: tb.Tensor, axes: tuple[int, ...]) -> None:
    moved = tb.permute_dims(x, axes)
    assert moved.tolist() == DATA.transpose(axes).tolist()
    assert moved.names == tuple(x.names[axis] for axis in axes)


def test_other_moves(x: tb.Tensor) -> None:
    assert tb.flip(x, axis=("a", "c")).tolist() == np.flip(DATA, (0, 2)).tolist()
    assert x.mT.tolist() == DATA.swapaxes(1, 2).tolist()
    assert tb.reshape(x, (4, -1)).tolist() == DATA.reshape(4, -1).tolist()
    assert tb.broadcast_to(x[:, :1], (5, 2, 3, 4)).tolist() == np.broadcast_to(DATA[:, :1], (5, 2, 3, 4)).tolist()
    assert x.align_to("c", "n", "a", "b").template == tb.Template((4, 1, 2, 3), "int64", ("c", "n", "a", "b"))
    assert tb.tensor([1 + 2j, 3 - 1j])[::-1].tolist() == [3 - 1j, 1 + 2j]


def test_mistakes(x: tb.Tensor) -> None:
    with pytest.raises(IndexRangeError, match="an index from -2 to 1 for axis 0"):
        x[2]
    with pytest.raises(IndexRangeError, match="at most 3 indices"):
        x[0, 0, 0, 0]
    with pytest.raises(OperandError, match="an int, a slice, None or"):
        x[1.5]
    with pytest.raises(ShapeError, match=r"reshape: expected a shape of 24 elements .* got shape=\(5, 5\)"):
        tb.reshape(x, (5, 5))
    with pytest.raises(AxisError, match="each of the 3 axes"):
        tb.permute_dims(x, (0, 1))
    with pytest.raises(ShapeError, match="an axis of size 1"):
        tb.squeeze(x, "a")
    with pytest.raises(NamesError, match="names that hold all of"):
        x.align_to("a")
    with pytest.raises(ShapeError, match="dot: expected paired axes of the same sizes"):
        tb.dot(x, x, contract=(["a"], ["b"]))
    with pytest.raises(NamesError, match="each name once"):
        tb.dot(x, x, contract=(["c"], ["c"]))


@pytest.mark.parametrize(
    ("left", "right"),
    [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 1, 2, 3), (4, 3, 2)),
     ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2))],
)  # fmt: skip
@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_matmul_is_numpys(backend: str, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = np.arange(np.prod(left)).reshape(left), np.arange(np.prod(right)).reshape(right) - 2
    x1, x2 = tb.tensor(a, backend=backend), tb.tensor(b, backend=backend)
    assert (x1 @ x2).tolist() == (a @ b).tolist()
    dry = tb.template(left, "int64") @ tb.template(right, "int64")
    assert dry.shape == (a @ b).shape


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL_DTYPES if dtype.is_integer], ids=str)
@pytest.mark.parametrize("most", [3, 1 << 20, 1 << 63])
def test_products_of_many_integers_are_the_references(dtype: DType, most: int) -> None:
    limits, generator = tb.iinfo(dtype), np.random.default_rng(0)
    low, high = max(limits.min, -most), min(limits.max, most)
    a, b = (generator.integers(low, high, shape, dtype.name, endpoint=True) for shape in ((20, 50), (50, 30)))
    expected = tb.asarray(a, backend="binary") @ tb.asarray(b, backend="binary")
    assert (tb.asarray(a) @ tb.asarray(b)).to_binary() == expected.to_binary()


@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_dot_carries_names(backend: str) -> None:
    x1 = tb.ones((2, 3, 4), names=("batch", "n", "k"), backend=backend)
    x2 = tb.ones((2, 4, 5), names=("batch", "k", "m"), backend=backend)
    result = tb.dot(x1, x2, contract=(["k"], ["k"]), batch=(["batch"], ["batch"]))
    assert result.template == tb.Template((2, 3, 5), "f32", ("batch", "n", "m"))
    assert set(itertools.chain.from_iterable(itertools.chain.from_iterable(result.tolist()))) == {4.0}


@pytest.mark.parametrize("backend", ["template", "binary", "numpy", "jax"])
def test_padding_takes_one_value(backend: str) -> None:
    x = tb.ones((2,), names=("n",), backend=backend)
    assert tb.pad(x, [(1, 0)], value=tb.asarray(2.0, backend=backend)).template is tb.Template((3,), "f32", ("n",))
    values: list[Any] = [tb.ones((1,), backend=backend), tb.ones((3,), backend=backend), np.ones((2, 2))]
    for value in values:
        with pytest.raises(ShapeError, match=r"^pad: expected a value without axes to pad with, got value=f(32|64)\["):
            tb.pad(x, [(1, 1)], value=value)


@pytest.mark.parametrize("backend", ["template", "binary", "numpy", "jax"])
def test_an_int_in_a_mapping_pads_both_sides_of_an_axis(backend: str) -> None:
    x = tb.ones((2, 3), names=("n", "k"), backend=backend)
    assert tb.pad(x, {"k": 1}, mode="edge").shape == tb.pad(x, {"k": (1, 1)}).shape == (2, 5)


@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_roll_by_shifts_that_are_traced(backend: str) -> None:
    x = tb.iota((3, 4), names=("a", "b"), backend=backend)
    shifts = tb.asarray([0, 1, -6], backend=backend)
    array = np.asarray(x)
    rolled = tb.vmap(lambda row, shift: tb.roll(row, shift, axis=0))(x, shifts)
    assert rolled.names == ("a", "b")
    assert rolled.tolist() == [np.roll(row, shift).tolist() for row, shift in zip(array, [0, 1, -6], strict=True)]
    both = tb.jit(lambda x, shift: tb.roll(x, [shift, 1], axis=("a", "b")))(x, shifts[2])
    assert both.tolist() == np.roll(array, (-6, 1), (0, 1)).tolist()
    assert tb.jit(lambda x, shift: tb.roll(x, shift))(x, shifts[1]).tolist() == np.roll(array, 1).tolist()
    weights = tb.asarray([1.0, 2.0, 3.0, 4.0], backend=backend)
    slope = tb.jit(tb.grad(lambda v, shift: tb.sum(tb.roll(v, shift, axis=0) * weights)))(weights, shifts[1])
    assert slope.tolist() == [2.0, 3.0, 4.0, 1.0]
    with pytest.raises(ArgumentError, match="roll: expected a shift that is an integer without axes"):
        tb.jit(lambda x, shift: tb.roll(x, shift, axis=0))(x, weights[0])
