"""Sums of products under the Array API's names, written with `dot` and other public ops; and attention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import ascii_letters, ascii_lowercase, ascii_uppercase
from typing import Any

from ...annotations import Axis
from ...declarations.argument_errors import check_arguments
from ...dispatch import composite
from ...dtypes import float32, promote_types
from ...errors import ArgumentError, NamesError, OperandError, ShapeError, expected
from ...interchange import namespace_of
from ...rules.accuracy import COMPLEX_PRODUCT, SUM, Bound
from ...rules.axes import normalize_axis
from ...rules.broadcasting import check_dtype, result_type, to_floating
from ...rules.contraction import broadcast_pairs, check_pairs
from ...rules.einsum import Operand, parse_subscripts
from ...rules.plan import integer
from ...template import as_int, check_unique, merge_names
from ...tensor import Tensor, TensorLike
from ..contraction import dot
from ..creation.filled import eye, rename
from ..creation.values import operand_tensors
from ..elementwise.basic import astype, conj, where
from ..reduction import sum
from ..shape import matrix_transpose, permute_dims, reshape, squeeze
from .reduction.probabilities import masked_softmax, softmax


@composite.within(SUM)
def tensordot(
    x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Axis | Sequence[Axis], Axis | Sequence[Axis]] = 2
) -> Tensor:
    """Sum of products over pairs of axes: the last ones of x1 with the first ones of x2, or the given axes.

    The result has x1's other axes, then x2's, with their names. A pair holds an axis, or a list of axes, of each
    operand: these are paired whatever their names. If `axes` is a number, a pair with two different names raises
    `NamesError`.

    >>> tb.tensordot(tb.ones((2, 3, 4)), tb.ones((3, 4, 5))).shape
    (2, 5)
    >>> tb.tensordot(tb.ones((2, 3)), tb.ones((3, 4)), axes=(1, 0)).shape
    (2, 4)
    """
    count = as_int(axes)
    if count is not None:
        if not 0 <= count <= min(x1.ndim, x2.ndim):
            raise ArgumentError(expected(f"a number of axes from 0 to {min(x1.ndim, x2.ndim)}", axes=axes))
        axes = range(x1.ndim - count, x1.ndim), range(count)
        check_pairs(x1.template, x2.template, *axes)
    assert not isinstance(axes, int)  # `count` is not None for an int
    first, second = (
        tuple(side) if isinstance(side, Sequence) and not isinstance(side, str) else (side,) for side in axes
    )
    return dot(x1, x2, contract=(first, second))


@composite.within(SUM)
def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int | str = -1) -> Tensor:
    """Sum of products along one axis, x1 conjugated; the other axes broadcast.

    The axis is counted in each operand, so it should be negative or a name if their ranks differ. Raises `ShapeError`
    and `NamesError` if matching axes differ.

    >>> tb.vecdot(tb.asarray([1, 2]), tb.asarray([[3, 4], [5, 6]])).tolist()
    [11, 17]
    """
    # `axis` is not annotated Axis, as the dispatcher would convert it to a position in x1.
    first, second = normalize_axis(x1.template, axis), normalize_axis(x2.template, axis)
    check_pairs(x1.template, x2.template, (first,), (second,))
    rest1, rest2 = (
        [position for position in range(x.ndim) if position != along] for x, along in ((x1, first), (x2, second))
    )
    return _broadcast_dot(conj(x1), x2, (first, second), (rest1, rest2))


def _broadcast_dot(
    x1: Tensor, x2: Tensor, contract: tuple[int, int], leading: tuple[Sequence[int], Sequence[int]]
) -> Tensor:
    """The sum of products over an axis of each operand, whose leading axes broadcast: see `broadcast_pairs`."""
    pairs = broadcast_pairs(x1.template, x2.template, contract, leading)
    x1, x2 = (squeeze(x, axes) if axes else x for x, axes in zip((x1, x2), pairs.dropped, strict=True))
    product = dot(x1, x2, contract=pairs.contract, batch=pairs.batch)
    if pairs.order is not None:
        product = permute_dims(product, pairs.order)
    return product if product.names == pairs.names else rename(product, *pairs.names)


@composite.within(complex=COMPLEX_PRODUCT)
def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Outer product: each element of x1 times each element of x2.

    >>> tb.outer(tb.asarray([1, 2], names=("n",)), tb.asarray([3, 4], names=("m",)))
    s64[n: 2][m: 2] numpy
    [[3, 4],
     [6, 8]]
    """
    check_dtype(result_type([x1.template, x2.template]), "numeric")
    names = check_unique((*x1.names, *x2.names), "y")
    wide = reshape(x1, (*x1.shape, *(1,) * x2.ndim))
    # Not by `dot`, which would sum each single product and lose the sign of -0.0.
    return rename(wide * x2.rename(*(None,) * x2.ndim), *names)


@composite.within(complex=COMPLEX_PRODUCT)
def kron(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Kronecker product: x2 multiplied by each element of x1, in blocks.

    The tensor with fewer axes gets new ones in front. The size of each axis is the product of the two sizes, and its
    name that in x1 or x2. Raises `NamesError` for two different names on one axis.

    >>> tb.kron(tb.asarray([1, 10]), tb.asarray([1, 2, 3])).tolist()
    [1, 2, 3, 10, 20, 30]
    """
    check_dtype(result_type([x1.template, x2.template]), "numeric")
    try:
        names = merge_names(x1.template, x2.template)
    except NamesError:
        remedy = f"write x1.rename({', '.join(['None'] * x1.ndim)}), as each axis of the product is one of both"
        texts = {"x1": x1.template, "x2": x2.template}
        raise NamesError(expected("the same name or None for matching axes", remedy, **texts)) from None
    rank = max(x1.ndim, x2.ndim)
    sizes1, sizes2 = ((*(1,) * (rank - x.ndim), *x.shape) for x in (x1, x2))
    wide1 = reshape(x1, tuple(n for size in sizes1 for n in (size, 1)), names=(None,) * (2 * rank))
    wide2 = reshape(x2, tuple(n for size in sizes2 for n in (1, size)), names=(None,) * (2 * rank))
    shape = tuple(n * m for n, m in zip(sizes1, sizes2, strict=True))
    return reshape(wide1 * wide2, shape, names=names)


@composite.within(SUM)
def _einsum(operands: Sequence[Tensor], /, *, subscripts: str) -> Tensor:
    """See `einsum`."""
    expression = parse_subscripts(subscripts, [x.template for x in operands])
    dtype = result_type([x.template for x in operands])  # a sum in an operand's own dtype could wrap
    operands = [x if x.dtype is dtype else astype(x, dtype) for x in operands]
    named = [squeeze(rename(x, *names), axes) if axes else rename(x, *names)
             for x, names, axes in zip(operands, expression.names, expression.squeezed, strict=True)]  # fmt: skip
    terms = [
        (_diagonal(x, letters), "".join(dict.fromkeys(letters)))
        for x, letters in zip(named, expression.terms, strict=True)
    ]
    for pair in expression.path:
        picked = [terms.pop(place) for place in sorted(pair, reverse=True)][::-1]
        needed = set(expression.output).union(*(letters for _, letters in terms))
        terms.append(_contract(picked, needed))
    result, letters = terms[0]
    return permute_dims(result, tuple(letters.index(letter) for letter in expression.output))


def _contract(picked: list[Operand[Tensor]], needed: set[str]) -> Operand[Tensor]:
    """Contracts one or two terms to one, summed over the letters that are not needed afterwards."""
    if len(picked) == 1:
        return _sum_letters(*picked[0], needed)
    (_, left), (_, right) = picked
    (x1, left), (x2, right) = (
        _sum_letters(*picked[0], needed.union(right)),
        _sum_letters(*picked[1], needed.union(left)),
    )
    shared = [letter for letter in left if letter in right]
    batch = [letter for letter in shared if letter in needed]
    contract = [letter for letter in shared if letter not in needed]
    product = dot(
        x1,
        x2,
        contract=(tuple(map(left.index, contract)), tuple(map(right.index, contract))),
        batch=(tuple(map(left.index, batch)), tuple(map(right.index, batch))),
    )
    free = [letter for letter in left + right if letter not in shared]
    return product, "".join((*batch, *free))


def _sum_letters(x: Tensor, letters: str, needed: set[str]) -> Operand[Tensor]:
    """A term summed over the letters that are not needed."""
    axes = tuple(axis for axis, letter in enumerate(letters) if letter not in needed)
    if not axes:
        return x, letters
    return sum(x, axis=axes, dtype=x.dtype), "".join(letter for letter in letters if letter in needed)


def _diagonal(x: Tensor, letters: str) -> Tensor:
    """The diagonal for each letter that occurs more than once in a term, on the axis of its first occurrence."""
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first, second = letters.index(letter), letters.rindex(letter)
            size = x.shape[first]
            mask = eye(size, dtype="bool")
            shape = [size if axis in (first, second) else 1 for axis in range(x.ndim)]
            kept = where(reshape(mask, tuple(shape)), x, 0)
            x = sum(kept, axis=second, dtype=x.dtype)
            letters = letters[:second] + letters[second + 1 :]
    return x


@check_arguments
def einsum(subscripts: str | TensorLike, /, *operands: TensorLike | Sequence[Any]) -> Tensor:
    """Sum of products in Einstein notation: `"bnk,bkm->bnm"` sums over k for every b, n and m.

    Each letter stands for an axis; a letter that occurs twice in a term takes the diagonal of the two axes.
    `...` stands for axes that broadcast. Without `->` the result has the axes of `...`, then the letters that occur
    once, in alphabetical order. Names of axes, separated by spaces, may be used instead of letters; the result's axes
    then have these names: `"batch feature, feature unit -> batch unit"`. For tensors of one axis the name alone is
    sufficient: `"time, time ->"`. Names of a single letter are letters: `"n k, k m -> n m"`. More than two operands are
    contracted in the order that opt_einsum finds (Smith and Gray, 2018). Raises `ArgumentError` for subscripts that do
    not match the operands, `ShapeError` for a letter with axes of two sizes, and `NamesError` for a letter with axes of
    two names, or a name with an axis of another name. As in NumPy, subscripts may
    follow each operand as lists of ints and `...`, with the list of the result last: `einsum(x, [0, 1], [1, 0])`.

    >>> a, b = tb.ones((2, 3), names=("n", "k")), tb.ones((3, 4), names=("k", "m"))
    >>> tb.einsum("nk,km->nm", a, b).template
    f32[n: 2][m: 4]
    >>> tb.einsum("... time feature, feature unit -> ... time unit", tb.ones((5, 2, 3)), tb.ones((3, 4))).template
    f32[5][time: 2][unit: 4]
    >>> tb.einsum("time, time ->", tb.asarray([1.0, 2.0]), tb.asarray([3.0, 4.0])).item()
    11.0
    """
    text, tensors = subscripts, operands
    if not isinstance(text, str):
        text, tensors = _parse_interleaved((subscripts, *operands))  # type: ignore[assignment]
    try:
        return _einsum(tensors, subscripts=text)  # type: ignore[arg-type] # tensors, or refused
    except OperandError:
        namespace = namespace_of(tensors)
        if namespace is None:
            raise
    return namespace.einsum(text, *tensors)  # type: ignore[no-any-return]


def _parse_interleaved(arguments: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """Subscripts as a text, and the operands, from operands that their subscripts follow as lists of ints."""
    paired = len(arguments) // 2 * 2
    texts = ["".join(map(_letter, axes)) if isinstance(axes, list | tuple) else None
             for axes in (*arguments[1:paired:2], *arguments[paired:])]  # fmt: skip
    if None in texts or not paired:
        remedy = "write einsum('ij,jk->ik', x, y), or einsum(x, [0, 1], y, [1, 2], [0, 2])"
        raise ArgumentError(expected("subscripts as a text, or as a list after each operand", remedy))
    terms = ",".join(texts[: paired // 2])  # type: ignore[arg-type] # none is None
    return (f"{terms}->{texts[-1]}" if len(arguments) > paired else terms), arguments[:paired:2]


def _letter(axis: Any) -> str:
    """The letter for a subscript: those of small numbers come first, as the order of a result counts."""
    if axis is Ellipsis:
        return "..."
    number = integer(0, subscript=axis)
    if number >= len(ascii_letters):
        raise ArgumentError(expected(f"a subscript below {len(ascii_letters)}", subscript=axis))
    return (ascii_uppercase + ascii_lowercase)[number]


@composite.within(SUM)
def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Matrix product over the last two axes, broadcast over leading axes. A tensor with one axis is a vector.

    Raises `ShapeError` for operands without axes and for contracted axes of different sizes, `NamesError` if matching
    axes have two names; `dot` can pair axes of different names.

    >>> (tb.asarray([[1, 2]], names=("row", "k")) @ tb.asarray([[3], [4]], names=("k", "column"))).template
    s64[row: 1][column: 1]
    """
    if not x1.ndim or not x2.ndim:
        raise ShapeError(expected("operands with axes", left=x1.template, right=x2.template))
    last1, last2 = x1.ndim - 1, max(x2.ndim - 2, 0)
    check_pairs(x1.template, x2.template, (last1,), (last2,))
    if min(x1.ndim, x2.ndim) == 1 or x1.ndim == x2.ndim == 2:  # no leading axes to pair
        return dot(x1, x2, contract=((last1,), (last2,)))
    return _broadcast_dot(x1, x2, (last1, last2), (range(x1.ndim - 2), range(x2.ndim - 2)))


ATTENDED = Bound(64, "exponentials of sums of products", "square", tame=True)


def usual_scale(query: Tensor) -> float:
    """The factor of the products of queries: 1 / sqrt(features), or 1 without features, as the products are 0."""
    return 1 / math.sqrt(query.shape[-1] or 1)


def scaled_products(query: Tensor, key: Tensor, bias: TensorLike | None, scale: float | None) -> Tensor:
    """The scaled products (batch..., queries, keys) of queries and keys plus a bias, in float32 at least."""
    dtype = promote_types(to_floating(promote_types(query.dtype, key.dtype)), float32)
    query, key = astype(query, dtype), astype(key, dtype)
    scores = matmul(query * (usual_scale(query) if scale is None else scale), matrix_transpose(key))
    if bias is None:
        return scores
    bias = operand_tensors(scores, bias)[1]
    biased = scores + astype(bias, scores.dtype)
    if biased.shape != scores.shape:
        raise ShapeError(expected(f"a bias that broadcasts to {scores.template!r}", bias=bias.template))
    return biased


def weights_of(query: Tensor, key: Tensor, mask: Tensor | None, bias: TensorLike | None, scale: float | None) -> Tensor:
    """The weights (batch..., queries, keys): the softmax of the scaled products, where a mask holds."""
    scores = scaled_products(query, key, bias, scale)
    return softmax(scores, axis=-1) if mask is None else masked_softmax(scores, mask, axis=-1)


@composite.within(ATTENDED)
def attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, bias: Tensor | None = None, /, *,
    scale: float | None = None,
) -> Tensor:  # fmt: skip
    """Compute `nn.attention` of operands whose axes are in order, as backends do; NaN spreads as in products.

    Parameters
    ----------
    query, key, value : Tensor
        (batch..., queries, features), (batch..., keys, features) and (batch..., keys, values).
    mask : Tensor, optional
        Bool, broadcasts to (batch..., queries, keys): where it is false, the weight is 0.
    bias : Tensor, optional
        Added to the scaled products.
    scale : float, optional
        The factor of the products, by default 1 / sqrt(features).

    Returns
    -------
    Tensor
        (batch..., queries, values), in the floating dtype that the operands promote to.

    Raises
    ------
    ShapeError
        For operands that do not match, and for a bias that does not broadcast.

    Examples
    --------
    >>> x = tb.asarray([[1.0, 0.0], [3.0, 0.0]])
    >>> attention(x * 0, x, x).tolist()
    [[2.0, 0.0], [2.0, 0.0]]
    """
    dtype = to_floating(promote_types(promote_types(query.dtype, key.dtype), value.dtype))
    query, key, value = (astype(x, promote_types(dtype, float32)) for x in (query, key, value))
    return astype(matmul(weights_of(query, key, mask, bias, scale), value), dtype)
