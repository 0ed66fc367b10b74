"""Random numbers of the Laplace distribution, from a key."""

from __future__ import annotations

from collections.abc import Sequence

from ....dispatch import composite
from ....dtypes import DTypeLike, as_dtype, finfo
from ....rules.accuracy import Bound
from ....rules.random import check_floating
from ....template import as_shape
from ....tensor import Tensor
from ...creation.filled import full
from ...elementwise.transcendental import log1p
from ...elementwise.unary import abs, sign
from .fractions import uniform_between
from .threefry import name_axes


@composite.within(Bound(10, "the inverse of a distribution function"))
def laplace(
    key: Tensor,
    /,
    shape: Sequence[int] = (),
    dtype: DTypeLike | None = None,
    *,
    names: Sequence[str | None] | None = None,
) -> Tensor:
    """Random numbers of the Laplace distribution with mean 0 and scale 1: their density is exp(-abs(x)) / 2.

    >>> import tensorbackend as tb
    >>> x = tb.random.laplace(tb.random.key(0), (1000,))
    >>> 0.9 < tb.mean(tb.abs(x)).item() < 1.1
    True
    """
    kind = check_floating(None if dtype is None else as_dtype(dtype))
    low, high = full((), -1 + float(finfo(kind).eps) / 2, dtype=kind), full((), 1, dtype=kind)
    u = uniform_between(key, low, high, as_shape(shape))
    return name_axes(sign(u) * log1p(-abs(u)), names)
