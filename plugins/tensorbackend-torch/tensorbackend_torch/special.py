"""The logarithm of the gamma function, its derivative, and incomplete gamma functions."""

from __future__ import annotations

from tensorbackend import Template

from .kernels import TorchBase, kernel, through_numpy
from .library import torch
from .ways import Array


class TorchSpecial(TorchBase):
    """Functions of real floating elements."""

    # PyTorch's functions have ten correct digits, and none for a tiny `a`.
    gamma_inc_l = through_numpy("gamma_inc_l")
    gamma_inc_u = through_numpy("gamma_inc_u")

    @kernel(narrow="float64")
    def digamma(self, out: Template, x: Array) -> Array:
        """Derivative of log(gamma(x))."""
        return torch.digamma(x)

    @kernel(narrow="float64")
    def log_gamma(self, out: Template, x: Array) -> Array:
        """log(abs(gamma(x)))."""
        return torch.lgamma(x)
