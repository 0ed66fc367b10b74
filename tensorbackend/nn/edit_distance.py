"""Edit distances: the number of edits that change one sequence into another."""

from __future__ import annotations

from ..declarations.argument_errors import check_arguments
from ..errors import DTypeError, ShapeError, expected
from ..expr.control import scan
from ..ops.composite.cumulative import cumulative_min
from ..ops.composite.shape.arranging import moveaxis
from ..ops.creation.filled import full, iota, rename
from ..ops.creation.values import operand_tensors
from ..ops.elementwise.binary import maximum, minimum
from ..ops.elementwise.conversion import astype
from ..ops.elementwise.ternary import where
from ..ops.indexing.slices import slice_basic
from ..ops.indexing.taking import take_along_axis
from ..ops.shape import broadcast_to, concatenate, expand_dims, squeeze
from ..rules.broadcasting import broadcast
from ..template import Template, intern_template
from ..tensor import Tensor, TensorLike


@check_arguments
def edit_distance(
    hypotheses: TensorLike,
    references: TensorLike,
    /,
    *,
    hypothesis_lengths: TensorLike | None = None,
    reference_lengths: TensorLike | None = None,
) -> Tensor:
    """The minimum number of insertions, deletions and substitutions between two sequences (Levenshtein 1966).

    Parameters
    ----------
    hypotheses, references : Tensor
        (batch..., positions), of integers; the batch axes broadcast. The axes of positions may differ in size and name.
    hypothesis_lengths, reference_lengths : Tensor, optional
        The length of each sequence; they broadcast to the batch axes. By default all positions.

    Returns
    -------
    Tensor
        The distance for each example (int64).

    Raises
    ------
    ShapeError
        For batch axes or lengths that do not broadcast, and tensors without axes.
    NamesError
        If matching batch axes have different names.
    DTypeError
        For a dtype that is not an integer dtype.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> kitten, sitting = (tb.asarray([ord(letter) for letter in word]) for word in ("kitten", "sitting"))
    >>> tb.nn.edit_distance(kitten, sitting).item()
    3
    """
    x, y = operand_tensors(hypotheses, references)
    for sequence in (x, y):
        if not sequence.ndim or not sequence.dtype.is_integer:
            expectation = "integers with an axis of positions"
            error = DTypeError if sequence.ndim else ShapeError
            raise error(expected(expectation, tensor=sequence.template))
    batches = [intern_template(sequence.shape[:-1], sequence.dtype, sequence.names[:-1]) for sequence in (x, y)]
    shape, names = broadcast(batches)
    width = y.shape[-1]
    wide = intern_template(shape, x.dtype, names)
    x = broadcast_to(x, (*shape, x.shape[-1]), names=(*names, None))
    y = rename(broadcast_to(y, (*shape, width)), *(None,) * (len(shape) + 1))
    ends = [_length(size, lengths, wide, like) for size, lengths, like in (
        (x.shape[-1], hypothesis_lengths, x), (width, reference_lengths, y))]  # fmt: skip
    places = iota(width + 1, dtype="int64", like=y)
    first = broadcast_to(places, (*shape, width + 1))

    def step(row: Tensor, entry: tuple[Tensor, Tensor]) -> tuple[Tensor, None]:
        token, number = entry
        changed = astype(where(expand_dims(token, axis=token.ndim) == y, 0, 1), "int64")
        shorter, longer = slice_basic(row, (..., slice(width))), slice_basic(row, (..., slice(1, None)))
        best = minimum(shorter + changed, longer + 1)
        deleted = broadcast_to(number + 1, (*shape, 1))
        # Insertions cost 1 per place: subtract the place, take the minimum up to each place, and add the place again.
        after = cumulative_min(concatenate([deleted, best], axis=-1) - places, axis=-1) + places
        return where(number < expand_dims(ends[0], axis=len(shape)), after, row), None

    tokens = moveaxis(rename(x, *(None,) * x.ndim), -1, 0)
    numbers = iota(x.shape[-1], dtype="int64", like=x)
    last, _ = scan(step, first, (tokens, numbers))
    distances = take_along_axis(last, expand_dims(ends[1], axis=len(shape)), axis=-1, mode="clip")
    return rename(squeeze(distances, len(shape)), *names)


def _length(size: int, lengths: TensorLike | None, batch: Template, like: Tensor) -> Tensor:
    """The length of each sequence, at most its size: a tensor of the batch's shape, without names."""
    if lengths is None:
        return full(batch.shape, size, dtype="int64", like=like)
    counts = operand_tensors(like, lengths)[1]
    if not counts.dtype.is_integer:
        raise DTypeError(expected("lengths of an integer dtype", lengths=counts.template))
    if broadcast([batch, counts.template])[0] != batch.shape:
        raise ShapeError(expected(f"lengths that broadcast to {batch!r}", lengths=counts.template))
    wide = rename(broadcast_to(counts, batch.shape), *(None,) * batch.ndim)
    return minimum(maximum(astype(wide, "int64"), 0), size)
