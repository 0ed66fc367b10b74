"""Callbacks of special functions, computed in float64."""

from ..base import ArrayBase
from ..elementwise import float64_callback
from . import gamma, incomplete_gamma


class ArraySpecial(ArrayBase):
    """Functions of the gamma family."""

    digamma = float64_callback(gamma.digamma)
    gamma_inc_l = float64_callback(incomplete_gamma.gamma_inc_l, 47)
    gamma_inc_u = float64_callback(incomplete_gamma.gamma_inc_u, 31)
    log_gamma = float64_callback(gamma.log_gamma)
