"""Callbacks of the gamma function's family. The backend broadcasts two operands to `out.shape`.

Results are computed to within a few ulps of float64 and then rounded once. No floating-point warning or error is ever
raised.
"""

from __future__ import annotations

from ..template import Template
from ..tensor import Tensor
from .callbacks import callback
from .planned import Payload


class Special:
    """Functions of real floating elements."""

    @callback(cost="transcendental")
    def digamma(self, out: Template, x: Tensor, /) -> Payload:
        """Derivative of log(gamma(x)): -inf at 0.0, inf at -0.0, NaN at negative integers and -inf."""

    @callback(cost="transcendental")
    def gamma_inc_l(self, out: Template, a: Tensor, x: Tensor, /) -> Payload:
        """Regularised lower incomplete gamma function P(a, x): NaN where an operand is negative, both are zero or
        both are infinite; P(0, x) = P(a, inf) = 1, P(a, 0) = P(inf, x) = 0."""

    @callback(cost="transcendental")
    def gamma_inc_u(self, out: Template, a: Tensor, x: Tensor, /) -> Payload:
        """Q(a, x) = 1 - P(a, x), accurate where the result is tiny."""

    @callback(cost="transcendental")
    def log_gamma(self, out: Template, x: Tensor, /) -> Payload:
        """log(abs(gamma(x))): inf at 0, at negative integers and at both infinities."""
