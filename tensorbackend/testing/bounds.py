"""How near results must be to the reference's: the bounds of `rules.accuracy`, read off the declarations of ops.

What a bound means is there; `compare` measures a result by it.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..declarations.op_specs import OPS
from ..dtypes import DType
from ..rules.accuracy import TO_THE_BIT, Bound, Bounds
from .source import public, qualified

READS_DATA: dict[str, str] = {
    **dict.fromkeys(
        ["argwhere", "bincount", "nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"],
        "without a size it is counted",
    ),
    **dict.fromkeys(["getitem", "isel", "put_at"], "where a mask is true says the size of the result"),
    "compress": "without a size its condition is counted",
    "repeat": "its repeats, where they are a tensor, say the size of the result",
}
"""Ops whose template may depend on data, with the reason: a dry run may then say that it cannot know it."""


def bound_of(name: str, dtypes: Iterable[DType] = ()) -> Bound:
    """The bound of an op or another public function, for operands and results of some dtypes.

    Parameters
    ----------
    name : str
        The name of a public function, with or without its namespace.
    dtypes : iterable of DType, optional
        The dtypes of the operands and results.

    Returns
    -------
    Bound
        The bound.

    Examples
    --------
    >>> from tensorbackend.dtypes import complex64
    >>> bound_of("add").ulps, bound_of("exp").ulps, bound_of("divide").ulps, bound_of("divide", [complex64]).ulps
    (0, 4, 0, 4)
    """
    spec = OPS.get(name) or OPS.get(name.rpartition(".")[2])
    if spec is not None and name != spec.name and name != qualified(spec.name):
        spec = None
    bounds: Bounds = spec.bounds if spec is not None else getattr(public(name), "__bounds__", TO_THE_BIT)
    if bounds.complex is not None and any(dtype.is_complex for dtype in dtypes):
        return bounds.complex
    return bounds.bound
