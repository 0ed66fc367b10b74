"""Callbacks of special functions, computed in float64."""

from __future__ import annotations

from ..base import ArrayBase
from ..elementwise import computed_in_float64
from . import gamma, incomplete_gamma


class ArraySpecial(ArrayBase):
    """Functions of the gamma family."""

    digamma = computed_in_float64(gamma.digamma)
    gamma_inc_l = computed_in_float64(incomplete_gamma.gamma_inc_l, 47)
    gamma_inc_u = computed_in_float64(incomplete_gamma.gamma_inc_u, 31)
    log_gamma = computed_in_float64(gamma.log_gamma)
