"""SciPy's special functions by our ops, where SciPy looks for them: `x.__array_namespace__().special`.

With `SCIPY_ARRAY_API=1` SciPy asks the namespace of an array for its special functions, and computes those that it does
not find in C, which neither gradients nor `jit` go through. `dir` of the two namespaces leaves this module out: its
names are SciPy's, and those of the functions themselves are in `tb`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from ..dtypes import float64
from ..looped.incomplete_beta import betainc as _betainc
from ..ops.composite.elementwise.functions import isfinite, logaddexp
from ..ops.composite.special.bessel import i0 as _i0
from ..ops.composite.special.bessel import i0e as _i0e
from ..ops.composite.special.bessel import i1 as _i1
from ..ops.composite.special.bessel import i1e as _i1e
from ..ops.composite.special.bessel import j0 as _j0
from ..ops.composite.special.bessel import j1 as _j1
from ..ops.composite.special.normal import ndtri as _ndtri
from ..ops.creation.values import operand_tensors
from ..ops.elementwise.basic import astype, negative, where
from ..ops.elementwise.binary import divide, multiply, subtract
from ..ops.elementwise.complex_functions import sigmoid
from ..ops.elementwise.transcendental import erf as _erf
from ..ops.elementwise.transcendental import erf_inv, log
from ..ops.elementwise.transcendental import erfc as _erfc
from ..ops.elementwise.transcendental import log1p as _log1p
from ..ops.special import digamma as _digamma
from ..ops.special import gamma_inc_l, gamma_inc_u, lgamma
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
        y = op(*(x if x.dtype.is_inexact else astype(x, float64) for x in found))
        return box(fresh(y)) if boxed else y

    return function


def _times_log(x: Tensor, y: Tensor, logarithm: _Op) -> Tensor:
    """x log(y), and 0 where x is 0; there the derivative by x is log(y) where that is finite, else 0."""
    logs = logarithm(y)
    replaced = (x == 0) & ~isfinite(logs) & (y == y)
    return multiply(x, where(replaced, 0.0, logarithm(where(replaced, 1.0, y))))


def _entropy(x: Tensor) -> Tensor:
    inside = where(x > 0, x, 1.0)
    return where(x > 0, negative(multiply(inside, log(inside))), where(x == 0, 0.0, where(x < 0, -_INFINITY, x)))


def _relative_entropy(x: Tensor, y: Tensor) -> Tensor:
    inside = (x > 0) & (y > 0)
    left, right = where(inside, x, 1.0), where(inside, y, 1.0)
    value = multiply(left, subtract(log(left), log(right)))
    outside = where((x == 0) & (y >= 0), 0.0, where((x != x) | (y != y), _NAN, _INFINITY))
    return where(inside, value, outside)


def _divergence(x: Tensor, y: Tensor) -> Tensor:
    value, inside = _relative_entropy(x, y), (x > 0) & (y > 0)
    return where(inside | ((x == 0) & (y >= 0)), value - x + y, value)


_INFINITY, _NAN, _ROOT = float("inf"), float("nan"), 2.0**0.5

betainc: Final = _of(_betainc)
psi: Final = _of(_digamma)
entr: Final = _of(_entropy)
erf: Final = _of(_erf)
erfc: Final = _of(_erfc)
erfinv: Final = _of(erf_inv)
expit: Final = _of(sigmoid)
gammainc: Final = _of(gamma_inc_l)
gammaincc: Final = _of(gamma_inc_u)
gammaln: Final = _of(lgamma)
i0: Final = _of(_i0)
i0e: Final = _of(_i0e)
i1: Final = _of(_i1)
i1e: Final = _of(_i1e)
j0: Final = _of(_j0)
j1: Final = _of(_j1)
kl_div: Final = _of(_divergence)
log_expit: Final = _of(lambda x: negative(logaddexp(0.0, negative(x))))
logit: Final = _of(lambda x: subtract(log(x), _log1p(negative(x))))
ndtr: Final = _of(lambda x: divide(_erfc(divide(x, -_ROOT)), 2.0))
ndtri: Final = _of(_ndtri)
rel_entr: Final = _of(_relative_entropy)
xlog1py: Final = _of(lambda x, y: _times_log(x, y, _log1p))
xlogy: Final = _of(lambda x, y: _times_log(x, y, log))

__getattr__ = missing_names(__name__)
