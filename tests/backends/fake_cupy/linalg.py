"""Linear algebra of the stand-in: what CuPy's solvers take, and what they give for singular matrices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .arrays import unwrap, wrap
from .devices import settings


def cholesky(matrix: Any) -> Any:
    try:
        return wrap(np.linalg.cholesky(unwrap(matrix)))
    except np.linalg.LinAlgError:
        if settings.raises:
            raise
        return wrap(np.full(matrix.shape, math.nan, matrix.dtype))


def solve(matrix: Any, right: Any) -> Any:
    assert matrix.shape[:-1] == right.shape[:-1]
    assert matrix.size
    assert right.size
    try:
        return wrap(np.linalg.solve(unwrap(matrix), unwrap(right)))
    except np.linalg.LinAlgError:
        if settings.raises:
            raise
        return wrap(np.full(right.shape, math.inf, right.dtype))


def eig(matrix: Any) -> Any:
    if not settings.geev:
        raise RuntimeError("geev is not available")
    if settings.broken:
        raise RuntimeError("cudaErrorIllegalAddress: an illegal memory access was encountered")
    values, vectors = np.linalg.eig(unwrap(matrix))
    kind = np.result_type(matrix.dtype, "complex64")
    return wrap((values.astype(kind), vectors.astype(kind)))


@contextmanager
def errstate(*, linalg: str) -> Iterator[None]:
    before, settings.raises = settings.raises, linalg == "raise"
    try:
        yield
    finally:
        settings.raises = before


def solve_triangular(matrix: Any, right: Any, *, trans: int, lower: bool) -> Any:
    assert matrix.shape[:-1] == right.shape[:-1]
    triangle = (np.tril if lower else np.triu)(unwrap(matrix))
    wide = (triangle.swapaxes(-2, -1) if trans else triangle).astype(np.result_type(triangle.dtype, np.float64))
    return wrap(np.linalg.solve(wide, unwrap(right).astype(wide.dtype)).astype(matrix.dtype))


def lu_factor(matrix: Any, *, check_finite: bool) -> Any:
    import scipy.linalg

    assert matrix.ndim == 2
    assert matrix.size
    assert matrix.dtype.char in "fdFD"
    return wrap(scipy.linalg.lu_factor(unwrap(matrix), check_finite=check_finite))
