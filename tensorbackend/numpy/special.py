"""SciPy's special functions by our ops, where SciPy looks for them: `x.__array_namespace__().special`.

With `SCIPY_ARRAY_API=1` SciPy asks the namespace of an array for its special functions, and computes those that it does
not find in C, which neither gradients nor `jit` go through. `dir` of the two namespaces leaves this module out: its
names are SciPy's, and those of the functions themselves are in `tb`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import tensorbackend as tb

from ..dtypes import float64
from ..ops.creation.values import operand_tensors
from ..tensor import Tensor
from ..tensor.missing_names import missing_names
from .arrays import box, fresh, ndarray

_Op = Callable[..., Tensor]


def _of(op: _Op) -> Callable[..., Any]:
    """An op as SciPy calls it: of arrays or tensors, in float64 for integers, and the result is of their kind."""

    @wraps(op)
    def function(*operands: Any) -> Any:
        boxed = any(x.__class__ is ndarray for x in operands)
        found = operand_tensors(*(x.tensor if x.__class__ is ndarray else x for x in operands))
        y = op(*(x if x.dtype.is_inexact else tb.astype(x, float64) for x in found))
        return box(fresh(y)) if boxed else y

    return function


def _times_log(x: Tensor, y: Tensor, logarithm: _Op) -> Tensor:
    """x log(y), and 0 where x is 0; there the derivative by x is log(y) where that is finite, else 0."""
    logs = logarithm(y)
    replaced = (x == 0) & ~tb.isfinite(logs) & (y == y)
    return x * tb.where(replaced, 0.0, logarithm(tb.where(replaced, 1.0, y)))


def _entropy(x: Tensor) -> Tensor:
    inside = tb.where(x > 0, x, 1.0)
    return tb.where(x > 0, -(inside * tb.log(inside)), tb.where(x == 0, 0.0, tb.where(x < 0, -_INFINITY, x)))


def _relative_entropy(x: Tensor, y: Tensor) -> Tensor:
    inside = (x > 0) & (y > 0)
    left, right = tb.where(inside, x, 1.0), tb.where(inside, y, 1.0)
    value = left * (tb.log(left) - tb.log(right))
    outside = tb.where((x == 0) & (y >= 0), 0.0, tb.where((x != x) | (y != y), _NAN, _INFINITY))
    return tb.where(inside, value, outside)


def _divergence(x: Tensor, y: Tensor) -> Tensor:
    value, inside = _relative_entropy(x, y), (x > 0) & (y > 0)
    return tb.where(inside | ((x == 0) & (y >= 0)), value - x + y, value)


_INFINITY, _NAN, _ROOT = float("inf"), float("nan"), 2.0**0.5

betainc: Final = _of(tb.betainc)
psi: Final = _of(tb.digamma)
entr: Final = _of(_entropy)
erf: Final = _of(tb.erf)
erfc: Final = _of(tb.erfc)
erfinv: Final = _of(tb.erf_inv)
expit: Final = _of(tb.sigmoid)
gammainc: Final = _of(tb.gamma_inc_l)
gammaincc: Final = _of(tb.gamma_inc_u)
gammaln: Final = _of(tb.lgamma)
i0: Final = _of(tb.i0)
i0e: Final = _of(tb.i0e)
i1: Final = _of(tb.i1)
i1e: Final = _of(tb.i1e)
j0: Final = _of(tb.j0)
j1: Final = _of(tb.j1)
kl_div: Final = _of(_divergence)
log_expit: Final = _of(lambda x: -tb.logaddexp(0.0, -x))
logit: Final = _of(lambda x: tb.log(x) - tb.log1p(-x))
ndtr: Final = _of(lambda x: tb.erfc(x / -_ROOT) / 2.0)
ndtri: Final = _of(tb.ndtri)
rel_entr: Final = _of(_relative_entropy)
xlog1py: Final = _of(lambda x, y: _times_log(x, y, tb.log1p))
xlogy: Final = _of(lambda x, y: _times_log(x, y, tb.log))

__getattr__ = missing_names(__name__)
