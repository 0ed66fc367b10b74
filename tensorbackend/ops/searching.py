"""Positions of elements that are not zero.

The shape of some results depends on data. Without a `size` the elements are counted first, which raises
`TemplateDataError` for a template tensor. With a `size` the shape is known everywhere: missing entries are filled with
`fill_value`, and surplus entries are dropped.
"""

from __future__ import annotations

from typing import Any

from ..dispatch.watching import Subject, holds_memo, watched
from ..docstrings import described
from ..dtypes import int64
from ..errors import ShapeError, expected
from ..memo import remember
from ..protocol import Kernel
from ..rules.plan import integer
from ..rules.shape import unnamed
from ..tensor import Tensor, TensorLike
from .composite.indexing.positions import _argwhere, checked_size, measured
from .composite.reduction import count_nonzero
from .composite.shape.arranging import unstack
from .creation.filled import asarray


@described
def nonzero(x: TensorLike, /, *, size: int | None = None, fill_value: int = 0) -> tuple[Tensor, ...]:
    """The indices of the elements that are not zero, in row-major order: one int64 tensor for each axis.

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
    positions = _positions(x) if size is None else None
    if positions is not None:
        return positions
    count = measured(count_nonzero(x), "nonzero()") if size is None else checked_size(size)
    return unstack(_argwhere(x, size=count, fill_value=integer(fill_value=fill_value)), axis=1)


_finding: dict[Any, Kernel | None] = {}
holds_memo(_finding, "nonzero")


def _positions(x: Tensor) -> tuple[Tensor, ...] | None:
    """The result of `nonzero` by the backend's own kernel for positions; `None` if it has none."""
    template, backend = x.template, x.backend
    try:
        finding = _finding[template, backend]
    except KeyError:
        finding = backend.positions(template)
        if finding is not None:
            finding = watched(finding, Subject("nonzero", "nonzero", backend))
        remember(_finding, (template, backend), finding)
    if finding is None:
        return None
    arrays = finding(x.data)
    out = unnamed((len(arrays[0]),), int64)
    return tuple([Tensor(out, backend, array) for array in arrays])
