"""Calls of contractions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from ...dtypes import DType, as_dtype
from ...tensor import Tensor
from ..calls import Invocation, generates, moderate
from ..strategies import Draw, broadcastable, shapes, tensors
from . import call, second

SIZES = st.sampled_from([0, 1, 2, 2, 3, 3, 5])


def anonymous(draw: Draw, x: Tensor) -> Tensor:
    """The tensor, with some or all of its axes without names."""
    kept = draw(st.sampled_from(["all", "all", "none", "some"]))
    return x if kept == "all" else x.rename(*(name if kept == "some" and draw(st.booleans()) else None
                                              for name in x.names))  # fmt: skip


def list_axes(draw: Draw, x: Tensor, places: Sequence[int]) -> list[Any]:
    """Axes by position, counted from either end, or by name."""
    return [
        draw(st.sampled_from([place, place - x.ndim, *([x.names[place]] if x.names[place] else [])]))
        for place in places
    ]


@generates("kron")
def kron(draw: Draw, dtype: DType) -> Invocation:
    """Tensors of any shapes with up to three axes, whose names agree or are left out."""
    x1, x2 = (draw(tensors(kind, shapes(most=3, largest=3))) for kind in (dtype, second(draw, dtype)))
    if draw(st.booleans()):
        return call(x1.rename(*(None,) * x1.ndim), x2)
    rank = max(x1.ndim, x2.ndim)
    return call(*(x.rename(*(f"axis{at}" for at in range(rank - x.ndim, rank))) for x in (x1, x2)))


@generates("dot")
def dot(draw: Draw, dtype: DType) -> Invocation:
    """Up to two contracted and two batch axes, in any order, by name or listed for each operand."""
    sizes = {letter: draw(SIZES) for letter in "abklmnpq"}
    batch, contract, free1, free2 = (draw(st.sampled_from(["", both[0], both])) for both in ("ab", "kl", "mn", "pq"))
    left, right = (draw(st.permutations(batch + contract + free)) for free in (free1, free2))
    x1, x2 = (
        draw(tensors(kind, tuple(sizes[letter] for letter in letters), names=tuple(letters), tame=True))
        for kind, letters in ((dtype, left), (second(draw, dtype), right))
    )
    x1, x2 = moderate(draw, [x1, x2])
    if contract and draw(st.booleans()):
        by_name: Any = contract if len(contract) == 1 and draw(st.booleans()) else set(contract)
        return call(x1, x2, contract=by_name, batch=draw(st.sampled_from([None, set(batch)])))
    if draw(st.booleans()):  # pairs of axes of different names
        # The axes that stay must agree, so these have no names.
        x2 = x2.rename(*(None if name in batch else f"{name}2" if name in contract else name for name in right))
    else:
        x1, x2 = anonymous(draw, x1), anonymous(draw, x2)
    pairs = {}
    for option, letters in (("contract", contract), ("batch", batch)):
        order = draw(st.permutations(letters))
        pairs[option] = (
            list_axes(draw, x1, [left.index(letter) for letter in order]),
            list_axes(draw, x2, [right.index(letter) for letter in order]),
        )
    if not batch and draw(st.booleans()):
        del pairs["batch"]
    return call(x1, x2, **pairs)


@generates("matmul")
def matmul(draw: Draw, dtype: DType) -> Invocation:
    """Vectors, matrices and stacks of them, with broadcast leading axes."""
    n, k, m = (draw(SIZES) for _ in range(3))
    left, right = draw(st.sampled_from(["nk", "k"])), draw(st.sampled_from(["km", "k"]))
    sizes = {"n": n, "k": k, "m": m, "a": draw(SIZES), "b": draw(SIZES)}
    if len(left) == 2:
        left = draw(st.sampled_from(["", "", "b", "ab"])) + left
    if len(right) == 2:
        right = draw(st.sampled_from(["", "", "b", "ab"])) + right
    x1, x2 = (
        draw(
            tensors(
                kind,
                tuple(1 if letter in "ab" and draw(st.integers(0, 3)) == 0 else sizes[letter] for letter in letters),
                names=tuple(letters),
                tame=True,
            )
        )
        for kind, letters in ((dtype, left), (second(draw, dtype), right))
    )
    x1, x2 = moderate(draw, [anonymous(draw, x1), anonymous(draw, x2)])
    return call(x1, x2)


@generates("tensordot")
def tensordot(draw: Draw, dtype: DType) -> Invocation:
    """Draws the number of contracted axes, or the axes of both operands."""
    sizes = {letter: draw(SIZES) for letter in "abcd"}
    contract, free1, free2 = (
        draw(st.sampled_from(choices)) for choices in (["", "b", "bc", "bc"], ["", "a"], ["d", ""])
    )
    left, right = free1 + contract, contract + free2
    listed_axes = draw(st.booleans())
    if listed_axes:
        left, right = ("".join(draw(st.permutations(letters))) for letters in (left, right))
    x1, x2 = (
        anonymous(draw, draw(tensors(kind, tuple(map(sizes.__getitem__, letters)), names=tuple(letters), tame=True)))
        for kind, letters in ((dtype, left), (second(draw, dtype), right))
    )
    x1, x2 = moderate(draw, [x1, x2])
    if not listed_axes:
        return call(x1, x2) if len(contract) == 2 and draw(st.booleans()) else call(x1, x2, axes=len(contract))
    order = draw(st.permutations(contract))
    axes = [list_axes(draw, x, [letters.index(letter) for letter in order]) for x, letters in ((x1, left), (x2, right))]
    return call(x1, x2, axes=tuple(axes))


@generates("vecdot")
def vecdot(draw: Draw, dtype: DType) -> Invocation:
    """Vectors along the last axis, another one or a named one; the other axes broadcast."""
    x1, x2 = draw(broadcastable([dtype, second(draw, dtype)], tame=True))
    size = draw(SIZES)
    place = draw(st.sampled_from([-1, -1, -min(x1.ndim, x2.ndim) - 1]))
    operands = []
    for x in (x1, x2):
        shape, names = list(x.shape), list(x.names)
        shape.insert(len(shape) + 1 + place, size)
        names.insert(len(names) + 1 + place, "k")
        operands.append(anonymous(draw, draw(tensors(x.dtype, tuple(shape), names=tuple(names), tame=True))))
    x1, x2 = moderate(draw, operands)
    options: list[dict[str, Any]] = [{"axis": place}, *([{"axis": "k"}] if "k" in x1.names and "k" in x2.names else [])]
    return call(x1, x2, **draw(st.sampled_from([*options, *([{}] if place == -1 else [])])))


@generates("outer")
def outer(draw: Draw, dtype: DType) -> Invocation:
    """Two tensors of up to two axes."""
    x1 = draw(tensors(dtype, shapes(most=2), names=None, tame=True))
    x2 = draw(tensors(second(draw, dtype), shapes(most=2), names=None, tame=True))
    names = draw(st.sampled_from([(None,) * x2.ndim, tuple(f"other{axis}" for axis in range(x2.ndim)), x2.names]))
    return call(*moderate(draw, [x1, x2.rename(*names)]))


@generates("einsum")
def einsum(draw: Draw, dtype: DType) -> Invocation:
    """Sums of products of one to four operands: letters that occur again in a term or in others, words, `...`."""
    count = draw(st.sampled_from([1, 2, 2, 2, 3, 3, 4]))
    few = draw(st.sampled_from(["i", "ij", "ijk", "ijkl"]))
    sizes = {letter: draw(SIZES) for letter in few}
    terms = [draw(st.lists(st.sampled_from(few), max_size=3)) for _ in range(count)]
    dots = draw(st.sampled_from([(), (), (2,), (3, 2)]))
    spread = [draw(st.booleans()) for _ in terms] if dots else [False] * count
    words = draw(st.booleans())
    label = {letter: f"name{letter}" if words else letter for letter in few}
    operands: list[Tensor] = []
    texts: list[str] = []
    for term, dotted in zip(terms, spread, strict=True):
        lead = dots[draw(st.integers(0, len(dots))) :] if dotted else ()
        place = draw(st.integers(0, len(term)))
        shape = [sizes[letter] for letter in term]
        shape[place:place] = [draw(st.sampled_from([size, size, 1])) for size in lead]
        names: list[Any] = [label[letter] if words and term.count(letter) == 1 else None for letter in term]
        names[place:place] = [None] * len(lead)
        parts = [label[letter] for letter in term]
        if dotted:
            parts.insert(place, "...")
        kind = dtype if not operands else second(draw, dtype)
        x = draw(tensors(kind, tuple(shape), names=tuple(names), tame=True))
        operands.append(x if draw(st.booleans()) else x.rename(*(None,) * x.ndim))
        texts.append((" " if words else "").join(parts))
    subscripts = ",".join(texts)
    used = sorted({letter for term in terms for letter in term})
    if not words and draw(st.booleans()):
        return call(subscripts, *moderate(draw, operands))
    result = [label[letter] for letter in draw(st.permutations(used))[draw(st.integers(0, len(used))) :]]
    if any(spread):
        result.insert(draw(st.integers(0, len(result))), "...")
    return call(f"{subscripts} -> {(' ' if words else '').join(result)}", *moderate(draw, operands))


@generates("attention")
def attention(draw: Draw, dtype: DType) -> Invocation:
    """Queries and keys with a batch or without, under a mask, a bias, both or neither."""
    lead = draw(st.sampled_from([{}, {"batch": 2}, {"batch": 2, "head": 3}]))
    sizes = st.sampled_from([3, 2, 1, 3, 2, 0])
    queries, keys = {**lead, "time": draw(sizes)}, {**lead, "key": draw(sizes)}
    unit, values, other = draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.sampled_from([dtype, dtype, None]))
    operands = [
        draw(tensors(kind, (*axes.values(), count), names=(*axes, name), tame=True))
        for kind, axes, name, count in (
            (dtype, queries, "unit", unit),
            (other or second(draw, dtype), keys, "unit", unit),
            (other or second(draw, dtype), keys, "feature", values),
        )
    ]
    query, key, value = (x.rename(*(None if name == "key" else name for name in x.names)) for x in operands)
    shape = (queries["time"], keys["key"])
    options: dict[str, Any] = {"causal": draw(st.booleans()), "scale": draw(st.sampled_from([None, 0.5]))}
    if draw(st.booleans()):
        options["mask"] = draw(tensors(as_dtype("bool"), shape, names=(None, None)))
    if draw(st.booleans()):
        options["bias"] = draw(tensors(dtype, shape, names=(None, None), tame=True))
    return call(query, key, value, **options)
