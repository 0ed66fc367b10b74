"""Activations: PyTorch's own functions, with care where they overflow."""

from __future__ import annotations

import math

from tensorbackend import Template
from tensorbackend.dtypes import DType, finfo, float32, promote_types

from .casting import cast
from .kernels import Function, TorchBase, kernel_planned
from .library import torch
from .looking import may_look
from .ways import Array


class TorchActivations(TorchBase):
    """`sigmoid`, and overrides of composites in `tb.nn`, whose operands arrive in their own dtype."""

    @kernel_planned(narrow="float32")
    def sigmoid(self, out: Template, x: Template) -> Function:
        """1 / (1 + exp(-x)), where exp(-x) overflows as exp(x) / (1 + exp(x))."""
        return _of_powers(torch.sigmoid, _sigmoid, _wide(out))

    @kernel_planned(unsigned="own", narrow="float32")
    def silu(self, out: Template, x: Template) -> Function:
        """x / (1 + exp(-x)), where exp(-x) overflows as x times the root of exp(x) twice; zero at -inf."""
        return _of_floats(_of_powers(torch.nn.functional.silu, _silu, _wide(out)), x, out)

    @kernel_planned(unsigned="own", narrow="float32")
    def elu(self, out: Template, x: Template, *, alpha: float) -> Function:
        """x where it is positive, elsewhere alpha * (exp(x) - 1)."""
        return _of_floats(lambda values: torch.nn.functional.elu(values, alpha), x, out)

    @kernel_planned(unsigned="own", narrow="float32")
    def selu(self, out: Template, x: Template) -> Function:
        """`elu` with the alpha and the factor that keep mean 0 and variance 1."""
        return _of_floats(torch.selu, x, out)

    @kernel_planned(unsigned="own", narrow="float32")
    def leaky_relu(self, out: Template, x: Template, *, slope: float) -> Function:
        """x where it is positive, elsewhere x times a slope."""
        return _of_floats(lambda values: torch.nn.functional.leaky_relu(values, slope), x, out)


def _wide(out: Template) -> DType:
    """The dtype in which an activation is computed."""
    return promote_types(out.dtype, float32)


def _of_floats(activation: Function, x: Template, out: Template) -> Function:
    """Returns the function that converts integers and bool to floats first."""
    source, wide = x.dtype, _wide(out)
    return activation if source.is_floating else lambda values: activation(cast(values, source, wide))


def _of_powers(usual: Function, careful: Function, dtype: DType) -> Function:
    """Returns the function that applies `careful` to elements for which exp(-x) overflows, and `usual` to all others.

    Each element is computed in one way, whatever elements are next to it.
    """
    lowest = 1 - math.log(finfo(dtype).max)

    def chosen(x: Array) -> Array:
        activations: Array = usual(x)
        if not x.numel() or (may_look() and torch.amin(x).item() > lowest):
            return activations
        return torch.where(x > lowest, activations, careful(x))

    return chosen


def _sigmoid(x: Array) -> Array:
    return torch.exp(x.clamp(max=0)) / (1.0 + torch.exp(-torch.abs(x)))


def _silu(x: Array) -> Array:
    root = torch.exp(0.5 * x)  # exp(x) would be subnormal before the product is
    return x.clamp(min=torch.finfo(x.dtype).min) * root * root
