"""Generators of calls for ops with a shape rule of their own, family by family."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ...dtypes import ALL_DTYPES, DType, as_dtype, iinfo
from ...elements import pack
from ...ops.creation.filled import from_binary
from ...template import Template
from ...tensor import Tensor
from ..calls import Invocation, generates
from ..magnitudes import columns
from ..strategies import Draw, axes_of, axis_names, broadcastable, elements, shapes, tensors

INDEX_DTYPES = tuple(map(as_dtype, ("int8", "int16", "int32", "int64", "uint8", "uint64")))


def call(*arguments: Any, **options: Any) -> Invocation:
    """An invocation whose name is entered later."""
    return Invocation("", arguments, options)


def with_axis(draw: Draw, dtype: DType, *, tame: bool = False, smallest: int = 0) -> tuple[Tensor, int]:
    """A tensor of at least one axis, and the position of one."""
    x = draw(tensors(dtype, shapes(least=1, smallest=smallest), tame=tame))
    return x, draw(st.integers(0, x.ndim - 1))


def integers(draw: Draw, shape: tuple[int, ...], low: int, high: int, names: Any = None) -> Tensor:
    """Integers of a drawn dtype from `low` to `high`, as far as the dtype holds them."""
    dtype = draw(st.sampled_from(INDEX_DTYPES))
    limits = iinfo(dtype)
    low, high = max(low, limits.min), min(high, limits.max)
    return draw(tensors(dtype, shape, names=names, values=st.integers(low, max(low, high))))


# Creation


@generates("full")
def full(draw: Draw, dtype: DType) -> Invocation:
    """One drawn number everywhere."""
    shape = draw(shapes())
    value = draw(elements(dtype))
    return Invocation("", (shape, value), {"dtype": dtype, "names": axis_names(len(shape))}, creates=True)


@generates("ones", "zeros")
def zeros(draw: Draw, dtype: DType) -> Invocation:
    """The same number everywhere."""
    shape = draw(shapes())
    return Invocation("", (shape,), {"dtype": dtype, "names": axis_names(len(shape))}, creates=True)


@generates("iota")
def iota(draw: Draw, dtype: DType) -> Invocation:
    """Indices along one axis or all."""
    shape = draw(shapes())
    axis = draw(st.none() | st.integers(0, len(shape) - 1)) if shape else None
    return Invocation("", (shape,), {"dtype": dtype, "axis": axis}, creates=True)


@generates("eye")
def eye(draw: Draw, dtype: DType) -> Invocation:
    """Matrices of ones on some diagonal, batches of them too."""
    rows, columns = draw(st.integers(0, 4)), draw(st.none() | st.integers(0, 4))
    batch = draw(shapes(most=1))
    options = {"k": draw(st.integers(-5, 5)), "batch_shape": batch, "dtype": dtype}
    return Invocation("", (rows, columns), options, creates=True)


@generates("arange")
def arange(draw: Draw, dtype: DType) -> Invocation:
    """Integers, or quarters, which every floating dtype holds."""
    scale = 1 if dtype.is_integer else 0.25
    start, stop = (draw(st.integers(-9, 9)) * scale for _ in range(2))
    step = draw(st.integers(-4, 4).filter(bool)) * scale
    return Invocation("", (start, stop, step), {"dtype": dtype}, creates=True)


@generates("linspace")
def linspace(draw: Draw, dtype: DType) -> Invocation:
    """Between small numbers."""
    start, stop = (draw(st.integers(-9, 9)) * 0.5 for _ in range(2))
    options = {"dtype": dtype, "endpoint": draw(st.booleans())}
    return Invocation("", (start, stop, draw(st.integers(0, 9))), options, creates=True)


# Conversion


@generates("astype")
def astype(draw: Draw, dtype: DType) -> Invocation:
    """To every dtype."""
    target = draw(st.sampled_from(ALL_DTYPES))  # first, as what is drawn last is often the first choice
    (x,) = draw(columns(dtype)) if draw(st.integers(0, 7)) == 7 else [draw(tensors(dtype))]
    return call(x, target)


@generates("bitcast")
def bitcast(draw: Draw, dtype: DType) -> Invocation:
    """To every dtype; those of another width are refused."""
    wide = [each for each in ALL_DTYPES if each.bits == dtype.bits]
    return call(draw(tensors(dtype)), draw(st.sampled_from(wide) | st.sampled_from(ALL_DTYPES)))


# Elementwise


@generates("bitwise_left_shift", "bitwise_right_shift")
def shift(draw: Draw, dtype: DType) -> Invocation:
    """By 0 up to more than the width."""
    x, amount = draw(broadcastable([dtype, dtype]))
    if dtype.is_integer:
        most = st.integers(0, min(dtype.bits + 2, iinfo(dtype).max))
        amount = draw(tensors(dtype, amount.shape, names=amount.names, values=most))
    return call(x, amount)


@generates("where")
def where(draw: Draw, dtype: DType) -> Invocation:
    """Of two dtypes; a condition that is not bool is refused."""
    condition = draw(st.sampled_from(["bool", "bool", "bool", "int32"]))
    other = draw(st.sampled_from([dtype, dtype, *ALL_DTYPES]))
    return call(*draw(broadcastable([as_dtype(condition), dtype, other])))


# Shape


@generates("reshape")
def reshape(draw: Draw, dtype: DType) -> Invocation:
    """To the sizes in another order, one of them left to be found, or to one axis."""
    x = draw(tensors(dtype))
    shape = list(draw(st.permutations(x.shape)))
    if shape and x.size and draw(st.booleans()):
        shape[draw(st.integers(0, len(shape) - 1))] = -1
    if draw(st.booleans()):
        return call(x, -1)
    return call(x, tuple(shape), names=draw(st.none() | st.just(axis_names(len(shape)))))


@generates("permute_dims")
def permute_dims(draw: Draw, dtype: DType) -> Invocation:
    """By positions or names."""
    x = draw(tensors(dtype))
    return call(x, tuple(draw(st.permutations(draw(st.sampled_from([range(x.ndim), x.names]))))))


@generates("squeeze")
def squeeze(draw: Draw, dtype: DType) -> Invocation:
    """Axes of size 1, now and then another one, which is refused."""
    x = draw(tensors(dtype, shapes(largest=2)))
    ones = [axis for axis, size in enumerate(x.shape) if size == 1 or draw(st.integers(0, 5)) == 0]
    return call(x, tuple(ones))


@generates("expand_dims")
def expand_dims(draw: Draw, dtype: DType) -> Invocation:
    """At every position, with and without a name; two at once."""
    x = draw(tensors(dtype))
    if draw(st.booleans()):
        return call(x, tuple(draw(st.permutations(range(-x.ndim - 2, 0)))[:2]), name=("one", None))
    return call(x, axis=draw(st.integers(-x.ndim - 1, x.ndim)), name=draw(st.none() | st.just("new")))


@generates("broadcast_to")
def broadcast_to(draw: Draw, dtype: DType) -> Invocation:
    """To more axes, and to the longer of sizes."""
    x = draw(tensors(dtype))
    shape = tuple(draw(st.integers(0, 3)) if size == 1 else size for size in x.shape)
    return call(x, (*draw(shapes(most=1)), *shape))


@generates("slice_")
def slice_(draw: Draw, dtype: DType) -> Invocation:
    """Slices within bounds."""
    x = draw(tensors(dtype, shapes(largest=6)))
    starts, lengths, strides = [], [], []
    for size in x.shape:
        start, stride = draw(st.integers(0, max(size - 1, 0))), draw(st.integers(1, 3))
        starts.append(start)
        strides.append(stride)
        lengths.append(draw(st.integers(0, max(0, -((start - size) // stride)))))
    return call(x, starts=tuple(starts), lengths=tuple(lengths), strides=tuple(strides))


@generates("pad")
def pad(draw: Draw, dtype: DType) -> Invocation:
    """Negative and interior padding too; what takes too much away is refused."""
    x = draw(tensors(dtype))
    padding = tuple(
        (draw(st.integers(-2, 3)), draw(st.integers(-2, 3)), *draw(st.sampled_from([(), (0,), (1,), (2,)])))
        for _ in x.shape
    )
    return call(x, padding, value=draw(tensors(dtype, ())))


@generates("concatenate", "concat")
def concatenate(draw: Draw, dtype: DType) -> Invocation:
    """Blocks that differ along one axis, some of another dtype."""
    first, axis = with_axis(draw, dtype)
    blocks = [first]
    for _ in range(draw(st.integers(0, 2))):
        shape = list(first.shape)
        shape[axis] = draw(st.integers(0, 3))
        other = draw(st.sampled_from([dtype, dtype, dtype, *ALL_DTYPES]))
        blocks.append(draw(tensors(other, tuple(shape))))
    return call(blocks, axis=axis)


@generates("stack")
def stack(draw: Draw, dtype: DType) -> Invocation:
    """Tensors of one shape."""
    first = draw(tensors(dtype))
    rest = [draw(tensors(dtype, first.shape)) for _ in range(draw(st.integers(0, 2)))]
    return call([first, *rest], axis=draw(st.integers(-first.ndim - 1, first.ndim)))


@generates("split")
def split(draw: Draw, dtype: DType) -> Invocation:
    """Into equal parts, or at positions."""
    x, axis = with_axis(draw, dtype)
    at = st.lists(st.integers(0, x.shape[axis]), max_size=3).map(lambda positions: tuple(sorted(positions)))
    return call(x, draw(st.integers(1, 3) | at), axis=axis)


@generates("roll")
def roll(draw: Draw, dtype: DType) -> Invocation:
    """Along all axes laid flat, one, or several."""
    x = draw(tensors(dtype))
    if not x.ndim or draw(st.booleans()):
        return call(x, draw(st.integers(-7, 7)))
    axes = tuple(draw(st.permutations(range(x.ndim))))
    return call(x, tuple(draw(st.integers(-7, 7)) for _ in axes), axis=axes)


@generates("tile")
def tile(draw: Draw, dtype: DType) -> Invocation:
    """Fewer or more repetitions than axes."""
    return call(draw(tensors(dtype)), draw(shapes(largest=3)))


@generates("moveaxis")
def moveaxis(draw: Draw, dtype: DType) -> Invocation:
    """Some axes to as many places."""
    x = draw(tensors(dtype, shapes(least=1)))
    places = st.lists(st.integers(0, x.ndim - 1), unique=True, min_size=1)
    source = draw(places)
    return call(x, tuple(source), tuple(draw(st.permutations(range(x.ndim)))[: len(source)]))


# Indexing


@generates("put_slice")
def put_slice(draw: Draw, dtype: DType) -> Invocation:
    """Blocks within the tensor."""
    x = draw(tensors(dtype))
    starts = tuple(draw(st.integers(0, size)) for size in x.shape)
    shape = tuple(draw(st.integers(0, size - start)) for size, start in zip(x.shape, starts, strict=True))
    return call(x, draw(tensors(dtype, shape)), starts=starts)


MODES = st.sampled_from(["error", "error", "clip", "fill"])


@generates("take")
def take(draw: Draw, dtype: DType) -> Invocation:
    """Indices of any shape, some outside."""
    x, axis = with_axis(draw, dtype)
    beyond, size = draw(st.sampled_from([0, 2])), x.shape[axis]
    indices = integers(draw, draw(shapes(most=2)), -size - beyond, size - 1 + beyond)
    return call(x, indices.rename(*(None,) * indices.ndim), axis=axis, mode=draw(MODES))


@generates("take_along_axis")
def take_along_axis(draw: Draw, dtype: DType) -> Invocation:
    """Indices of x's shape but along one axis, some outside."""
    x, axis = with_axis(draw, dtype)
    beyond, size, shape = draw(st.sampled_from([0, 2])), x.shape[axis], list(x.shape)
    shape[axis] = draw(st.integers(0, 4))
    return call(x, integers(draw, tuple(shape), -size - beyond, size - 1 + beyond), axis=axis, mode=draw(MODES))


def index_vectors(draw: Draw, x: Tensor, mode: str) -> Tensor:
    """Index vectors into the leading axes of x, some outside."""
    depth = draw(st.integers(0, x.ndim))
    lengths = draw(shapes(most=2))
    dtype = draw(st.sampled_from(INDEX_DTYPES))
    beyond = draw(st.sampled_from([0, 0, 2]))
    count = Template(lengths, dtype).size
    rows = []
    for _ in range(count):
        for size in x.shape[:depth]:
            low = max(-beyond, iinfo(dtype).min)
            rows.append(draw(st.integers(low, max(low, size - 1 + beyond))))
    return from_binary(pack(rows, dtype), Template((*lengths, depth), dtype), "binary")


@generates("gather")
def gather(draw: Draw, dtype: DType) -> Invocation:
    """Entries at index vectors."""
    x, mode = draw(tensors(dtype)), draw(MODES)
    return call(x, index_vectors(draw, x, mode), mode=mode)


@generates("indexed_add", "indexed_put")
def scatter(draw: Draw, dtype: DType) -> Invocation:
    """Updates at index vectors, some of which stand twice."""
    x, mode = draw(tensors(dtype, tame=True)), draw(MODES)
    indices = index_vectors(draw, x, mode)
    shape = indices.shape[:-1] + x.shape[indices.shape[-1] :]
    return call(x, indices, draw(tensors(dtype, shape, names=(None,) * len(shape), tame=True)), mode=mode)


# Contraction


@generates("dot")
def dot(draw: Draw, dtype: DType) -> Invocation:
    """Contracted and batch axes in any order."""
    sizes = {letter: draw(st.integers(0, 3)) for letter in "bkmn"}
    left, right = (draw(st.permutations(letters)) for letters in (["b", "k", "n"], ["b", "k", "m"]))
    x1, x2 = (
        draw(tensors(dtype, tuple(sizes[letter] for letter in letters), names=tuple(letters), tame=True))
        for letters in (left, right)
    )
    batch = (["b"], ["b"]) if draw(st.booleans()) else ([], [])
    contract = (["k"], ["k"]) if draw(st.booleans()) else ([], [])
    used = {*batch[0], *contract[0]}
    x2 = x2.rename(*(name if name in used or name == "m" else f"{name}2" for name in x2.names))
    return call(x1, x2, contract=contract, batch=batch)


@generates("matmul")
def matmul(draw: Draw, dtype: DType) -> Invocation:
    """Vectors, matrices and stacks of them."""
    n, k, m = (draw(st.integers(0, 3)) for _ in range(3))
    left, right = draw(st.sampled_from([(n, k), (k,)])), draw(st.sampled_from([(k, m), (k,)]))
    batch = draw(shapes(most=1))
    if len(left) == 2 and draw(st.booleans()):
        left = (*batch, *left)
    if len(right) == 2 and draw(st.booleans()):
        right = (*batch, *right)
    x1, x2 = (draw(tensors(dtype, shape, names=(None,) * len(shape), tame=True)) for shape in (left, right))
    return call(x1, x2)


@generates("tensordot")
def tensordot(draw: Draw, dtype: DType) -> Invocation:
    """So many axes, or pairs."""
    a, b, c, d = (draw(st.integers(0, 3)) for _ in range(4))
    x1 = draw(tensors(dtype, (a, b, c), names=("a", None, None), tame=True))
    x2 = draw(tensors(dtype, (b, c, d), names=(None, None, "d"), tame=True))
    return call(x1, x2, axes=draw(st.sampled_from([2, ((1, 2), (0, 1)), ((2, 1), (1, 0)), ((-1,), (1,))])))


@generates("vecdot")
def vecdot(draw: Draw, dtype: DType) -> Invocation:
    """Vectors along the last axis or a named one."""
    x1, x2 = (each.rename(*(None,) * (each.ndim - 1), "k") if each.ndim else each
              for each in draw(broadcastable([dtype, dtype], tame=True)))  # fmt: skip
    return call(x1, x2, axis=draw(st.sampled_from([-1, "k"])))


@generates("outer")
def outer(draw: Draw, dtype: DType) -> Invocation:
    """Two tensors of any axes."""
    x1, x2 = (draw(tensors(dtype, shapes(most=2), names=None, tame=True)) for _ in range(2))
    return call(x1, x2.rename(*(None,) * x2.ndim))


EXPRESSIONS = (
    "ij,jk->ik",
    "bij,bjk->bik",
    "ij->ji",
    "ii->i",
    "ij->",
    "i,j->ij",
    "ij,jk,kl->il",
    "iji,j->i",
    "ij,ij",
    "",
)


@generates("einsum")
def einsum(draw: Draw, dtype: DType) -> Invocation:
    """Products of one to three operands, diagonals and sums."""
    expression = draw(st.sampled_from(EXPRESSIONS))
    sizes = {letter: draw(st.integers(0, 3)) for letter in "bijkl"}
    terms = expression.partition("->")[0].split(",")
    operands = [
        draw(tensors(dtype, tuple(sizes[letter] for letter in term), names=(None,) * len(term), tame=True))
        for term in terms
    ]
    return call(expression, *operands)


# Orderings


@generates("sort", "argsort")
def ordering(draw: Draw, dtype: DType) -> Invocation:
    """Few different elements, so that there are ties."""
    x = draw(tensors(dtype, shapes(least=1, largest=6)))
    return call(x, axis=draw(axes_of(x, "Axis")), descending=draw(st.booleans()))
