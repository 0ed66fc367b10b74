"""Positions of nonzero elements.

The shape of some results depends on data. Without a `size` the elements are counted first, which raises
`TemplateDataError` for a template tensor. With a `size` the shape is always known: missing entries are filled with
`fill_value`, and surplus entries are dropped.
"""

from __future__ import annotations

from ..dispatch.direct import direct
from ..dispatch.kernels import Shaped
from ..dispatch.ready_calls import ReadyCall
from ..errors import ShapeError, expected
from ..rules.plan import integer
from ..tensor import Tensor, TensorLike
from .composite.indexing.positions import _argwhere, check_size, read_count
from .composite.reduction import count_nonzero
from .composite.shape.arranging import unstack
from .creation.filled import asarray


def _plan(
    result: tuple[Tensor, ...], x: TensorLike, /, *, size: int | None = None, fill_value: int = 0
) -> ReadyCall | None:
    kernel = None
    if size is None and isinstance(x, Tensor) and not x.dtype.is_narrow:
        kernel = x.backend.positions(x.template)
    return None if kernel is None else ReadyCall(tuple([Shaped(indices.template) for indices in result]), kernel)


@direct(_plan)
def nonzero(x: TensorLike, /, *, size: int | None = None, fill_value: int = 0) -> tuple[Tensor, ...]:
    """Return the indices of the nonzero elements, in row-major order: one int64 tensor for each axis.

    With `size` each tensor has `size` entries, padded with `fill_value`. Raises `ShapeError` for a tensor without axes,
    and `TemplateDataError` for a template tensor without a `size`.

    >>> import tensorbackend as tb
    >>> [indices.tolist() for indices in tb.nonzero(tb.asarray([[0, 1], [2, 0]]))]
    [[0, 1], [1, 0]]
    >>> tb.nonzero(tb.asarray([0, 5, 6]), size=3, fill_value=-1)[0].tolist()
    [1, 2, -1]
    """
    x = x if isinstance(x, Tensor) else asarray(x)
    if not x.ndim:
        raise ShapeError(expected("a tensor with axes", "reshape() it to one element", tensor=x.template))
    count = read_count(count_nonzero(x), "nonzero()") if size is None else check_size(size)
    return unstack(_argwhere(x, size=count, fill_value=integer(fill_value=fill_value)), axis=1)
