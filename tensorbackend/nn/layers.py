"""Small layers: products with a matrix, tables of vectors, dropout, gated linear units, one-hot vectors."""

from __future__ import annotations

from collections.abc import Callable

from ..annotations import Axes, Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import DTypeLike, as_dtype, default_dtype
from ..errors import ArgumentError, DTypeError, ShapeError, expected
from ..ops.composite.contraction import matmul
from ..ops.composite.random.discrete import bernoulli
from ..ops.composite.shape.arranging import moveaxis, split
from ..ops.creation.filled import iota
from ..ops.creation.values import operand_tensors
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.complex_functions import sigmoid
from ..ops.indexing.taking import take
from ..ops.shape import expand_dims, reshape
from ..rules.accuracy import Bound, declare_bound
from ..rules.axes import normalize_axis, sorted_axes
from ..rules.broadcasting import to_floating
from ..tensor import Tensor, TensorLike


@declare_bound(Bound(64, "a sum of products", "magnitudes", tame=True))
@check_arguments
def dense(x: TensorLike, weight: TensorLike, bias: TensorLike | None = None, /, *, axis: Axis = -1) -> Tensor:
    """A linear layer: multiply vectors by a matrix, and add a bias.

    Parameters
    ----------
    x : Tensor
        A tensor of any number of axes.
    weight : Tensor
        A matrix with the axes (in, out), in the order of `x @ weight`. PyTorch's are (out, in).
    bias : Tensor, optional
        A vector along the axis of the outputs.
    axis : int or str, default -1
        The axis of x that is multiplied.

    Returns
    -------
    Tensor
        x with the axis of the outputs in place of `axis`, under the name that it has in the weight.

    Raises
    ------
    ShapeError
        For a weight other than a matrix, a bias other than a vector, and sizes that differ.
    NamesError
        If the first axis of the weight has another name than the axis of x.

    Examples
    --------
    >>> x = tb.ones((2, 3, 5), names=("batch", "feature", "time"))
    >>> tb.nn.dense(x, tb.ones((3, 4), names=("feature", "hidden")), tb.zeros(4), axis="feature").template
    f32[batch: 2][hidden: 4][time: 5]
    """
    x, matrix = operand_tensors(x, weight)
    if matrix.ndim != 2:
        raise ShapeError(expected("a matrix (in, out) as the weight", weight=matrix.template))
    along = normalize_axis(x.template, axis)
    product = matmul(moveaxis(x, along, -1), matrix)
    if bias is not None:
        product, offset = operand_tensors(product, bias)
        if offset.shape != matrix.shape[1:]:
            raise ShapeError(expected(f"a vector of {matrix.shape[1]} numbers as the bias", bias=offset.template))
        product = product + offset
    return moveaxis(product, -1, along)


@check_arguments
def embedding(indices: TensorLike, table: TensorLike, /, *, axis: Axis = 0) -> Tensor:
    """The vectors of a table at some indices, such as those of tokens.

    Parameters
    ----------
    indices : Tensor
        Integers from 0 up.
    table : Tensor
        A vector for each entry of an axis, such as (token, feature).
    axis : int or str, default 0
        The axis of the table along which its entries are.

    Returns
    -------
    Tensor
        The axes of the indices in place of that axis.

    Raises
    ------
    DTypeError
        For indices that are not integers.
    IndexRangeError
        For an index that is not in the table, whenever data can be read.

    Examples
    --------
    >>> table = tb.reshape(tb.arange(6.0), (3, 2), names=("token", "feature"))
    >>> tb.nn.embedding(tb.asarray([2, 0], names=("time",)), table)
    f32[time: 2][feature: 2] numpy
    [[4.0, 5.0],
     [0.0, 1.0]]
    """
    places, table = operand_tensors(indices, table)
    return take(table, places, axis=axis)


@check_arguments
def dropout(key: TensorLike, x: TensorLike, rate: float, /, *, axis: Axes = None) -> Tensor:
    """Set random elements of x to 0, and scale the others so that the expected mean is kept (Srivastava et al. 2014).

    Parameters
    ----------
    key : Tensor
        A random key.
    x : Tensor
        A tensor of any dtype except bool; integers are converted to the default floating dtype.
    rate : float
        The probability that an element is set to 0, from 0 to 1.
    axis : axis, or several, optional
        The axes along which entries are drawn independently, all by default. Along the others, an entry is kept or set
        to 0 as a whole, such as a feature map with `axis=("batch", "feature")`.

    Returns
    -------
    Tensor
        A tensor with the shape and names of x; at a rate of 0, x itself as a floating tensor.

    Raises
    ------
    ArgumentError
        For a rate that is not a probability.

    Examples
    --------
    >>> dropped = tb.nn.dropout(tb.random.key(0), tb.ones(1000), 0.25)
    >>> bool(tb.all((dropped == 0) | (dropped == 1 / 0.75))), abs(tb.mean(dropped).item() - 1) < 0.1
    (True, True)
    """
    if not isinstance(rate, int | float) or not 0 <= rate <= 1:
        remedy = "" if isinstance(rate, int | float) else "write dropout(key, x, rate)"
        raise ArgumentError(expected("a rate from 0 to 1", remedy, rate=rate))
    key, x = operand_tensors(key, x)
    x = astype(x, to_floating(x.dtype))
    axes = sorted_axes(x.template, axis)
    if not rate:
        return x
    shape = tuple(size if axis in axes else 1 for axis, size in enumerate(x.shape))
    keep = bernoulli(key, 1 - rate, shape)
    return where(keep, x * (1 / (1 - rate) if rate < 1 else 0), 0)


@check_arguments
@declare_bound(Bound(8, "a gate with a few ulps"))
def glu(x: TensorLike, /, *, axis: Axis = -1, gate: Callable[[Tensor], Tensor] = sigmoid) -> Tensor:
    """Gated linear unit: the first half of an axis times a gate of the second half (Dauphin et al. 2017).

    Parameters
    ----------
    x : Tensor
        A tensor with an axis of even size.
    axis : int or str, default -1
        The axis that is halved.
    gate : function, default `tb.sigmoid`
        The function that is applied to the second half: `tb.nn.silu` for SwiGLU, `tb.nn.gelu` for GEGLU (Shazeer 2020).

    Returns
    -------
    Tensor
        A tensor with half as many entries along the axis.

    Raises
    ------
    ShapeError
        For an axis of an odd size.

    Examples
    --------
    >>> tb.nn.glu(tb.asarray([6.0, 8.0, 0.0, 1000.0])).tolist()
    [3.0, 8.0]
    """
    (x,) = operand_tensors(x)
    along = normalize_axis(x.template, axis)
    if x.shape[along] % 2:
        raise ShapeError(expected(f"an even size of axis {along}, which is split in halves", x=x.template))
    value, control = split(x, 2, axis=along)
    return value * gate(control)


@check_arguments
def one_hot(
    indices: TensorLike, size: int, /, *, axis: int = -1, name: str | None = None, dtype: DTypeLike | None = None
) -> Tensor:
    """Make one-hot vectors: 1 at each index and 0 elsewhere; all 0 for an index out of bounds.

    Parameters
    ----------
    indices : Tensor
        A tensor of an integer dtype.
    size : int
        The size of the vectors.
    axis : int, default -1
        The position of the vectors' axis in the result.
    name : str, optional
        The name of that axis.
    dtype : dtype, optional
        The dtype of the result, by default the default floating dtype.

    Returns
    -------
    Tensor
        A tensor with one more axis than the indices.

    Raises
    ------
    DTypeError
        For indices that are not integers.
    ArgumentError
        For a negative size.

    Examples
    --------
    >>> tb.nn.one_hot(tb.asarray([2, 0, -1], names=("batch",)), 3, name="class", dtype="s8")
    s8[batch: 3][class: 3] numpy
    [[0, 0, 1],
     [1, 0, 0],
     [0, 0, 0]]
    """
    (indices,) = operand_tensors(indices)
    if not indices.dtype.is_integer:
        raise DTypeError(expected("indices of an integer dtype", "cast them with astype()", dtype=indices.dtype))
    if size < 0:
        raise ArgumentError(expected("a size of at least 0", size=size))
    kind = default_dtype("float") if dtype is None else as_dtype(dtype)
    column = expand_dims(indices, axis=axis, name=name)
    place = axis % column.ndim
    classes = iota(size, dtype="int64", like=indices)
    # Compare in int64, which holds every class; the indices' dtype may not. A uint64 index beyond int64 is not a class.
    wide = (
        astype(where(column < size, column, 0), "int64") if indices.dtype.name == "uint64" else astype(column, "int64")
    )
    matches = wide == reshape(classes, tuple(size if axis == place else 1 for axis in range(column.ndim)))
    if indices.dtype.name == "uint64":
        matches = where(column < size, matches, False)
    return astype(matches, kind)
