"""Calls of contractions."""

from __future__ import annotations

from hypothesis import strategies as st

from ...dtypes import DType
from ..calls import Invocation, generates
from ..strategies import Draw, broadcastable, shapes, tensors
from .common import call


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
    """Draws the number of contracted axes, or the axes of both operands."""
    a, b, c, d = (draw(st.integers(0, 3)) for _ in range(4))
    x1 = draw(tensors(dtype, (a, b, c), names=("a", None, None), tame=True))
    x2 = draw(tensors(dtype, (b, c, d), names=(None, None, "d"), tame=True))
    return call(x1, x2, axes=draw(st.sampled_from([2, ((1, 2), (0, 1)), ((2, 1), (1, 0)), ((-1,), (1,))])))


@generates("vecdot")
def vecdot(draw: Draw, dtype: DType) -> Invocation:
    """Vectors along the last axis or a named one."""
    x1, x2 = (operand.rename(*(None,) * (operand.ndim - 1), "k") if operand.ndim else operand
              for operand in draw(broadcastable([dtype, dtype], tame=True)))  # fmt: skip
    return call(x1, x2, axis=draw(st.sampled_from([-1, "k"])))


@generates("outer")
def outer(draw: Draw, dtype: DType) -> Invocation:
    """Two tensors of up to two axes."""
    x1, x2 = (draw(tensors(dtype, shapes(most=2), names=None, tame=True)) for _ in range(2))
    return call(x1, x2.rename(*(None,) * x2.ndim))


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
