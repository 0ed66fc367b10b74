"""Activation functions, and what normalises along an axis by exponentials."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import tensorbackend as tb
from tensorbackend import Tensor, nn
from tensorbackend.errors import ArgumentError, expected

from .registry import MICROSOFT, operator

SELU_ALPHA, SELU_GAMMA = 1.67326319217681884765625, 1.05070102214813232421875


@operator("Relu")
def relu(x: Tensor) -> Tensor:
    """Negative elements become 0."""
    return tb.maximum(x, 0)


@operator("LeakyRelu")
def leaky_relu(x: Tensor, *, alpha: float = 0.01) -> Tensor:
    """Negative elements times `alpha`."""
    return nn.leaky_relu(x, slope=alpha)


@operator("PRelu")
def prelu_by_channel(x: Tensor, slope: Tensor) -> Tensor:
    """Negative elements times a slope for each channel, before opset 7."""
    if slope.ndim == 1 and x.ndim > 2:
        slope = tb.reshape(slope, (-1, *(1,) * (x.ndim - 2)))
    return prelu(x, slope)


@operator("PRelu", since=7)
def prelu(x: Tensor, slope: Tensor) -> Tensor:
    """Negative elements times a slope that broadcasts."""
    return tb.where(x < 0, slope * x, x)


@operator("ThresholdedRelu")
def thresholded_relu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """Elements up to `alpha` become 0."""
    return tb.where(x > alpha, x, tb.zeros_like(x))


@operator("Shrink")
def shrink(x: Tensor, *, lambd: float = 0.5, bias: float = 0.0) -> Tensor:
    """Elements moved towards 0 by `bias`; those between -lambd and lambd become 0."""
    floats = x if tb.isdtype(x.dtype, "real floating") else x.astype(tb.float32)
    outside = tb.where(floats < -lambd, floats + bias, floats - bias)
    return tb.where(tb.abs(floats) > lambd, outside, tb.zeros_like(floats)).astype(x.dtype)


@operator("Elu")
def elu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """alpha (exp(x) - 1) for negative x."""
    return nn.elu(x, alpha=alpha)


@operator("Celu")
def celu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """alpha (exp(x / alpha) - 1) for negative x."""
    return tb.maximum(x, 0) + tb.minimum(alpha * tb.expm1(x / alpha), 0)


@operator("Selu")
def selu(x: Tensor, *, alpha: float = SELU_ALPHA, gamma: float = SELU_GAMMA) -> Tensor:
    """gamma times `elu`."""
    return gamma * nn.elu(x, alpha=alpha)


@operator("Softplus")
def softplus(x: Tensor) -> Tensor:
    """log(1 + exp(x))."""
    return nn.softplus(x)


@operator("Softsign")
def softsign(x: Tensor) -> Tensor:
    """x / (1 + abs(x))."""
    return x / (1 + tb.abs(x))


@operator("HardSigmoid")
def hard_sigmoid(x: Tensor, *, alpha: float = 0.2, beta: float = 0.5) -> Tensor:
    """alpha x + beta, within 0 to 1."""
    return tb.clip(alpha * x + beta, 0, 1)


@operator("HardSwish")
def hard_swish(x: Tensor) -> Tensor:
    """x times its hard sigmoid of slope 1/6."""
    return x * hard_sigmoid(x, alpha=1 / 6)


@operator("Mish")
def mish(x: Tensor) -> Tensor:
    """x tanh(softplus(x))."""
    return x * tb.tanh(nn.softplus(x))


@operator("Swish")
def swish(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """x sigmoid(alpha x)."""
    return nn.silu(x) if alpha == 1 else x * tb.sigmoid(alpha * x)


@operator("Gelu")
def gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    """x times the normal distribution function of x, or its approximation by tanh."""
    return nn.gelu(x, approximate=approximate == "tanh")


@operator("Gelu", domain=MICROSOFT)
def exact_gelu(x: Tensor) -> Tensor:
    """x times the normal distribution function of x."""
    return nn.gelu(x)


@operator("BiasGelu", domain=MICROSOFT)
def bias_gelu(x: Tensor, bias: Tensor) -> Tensor:
    """`gelu` of a sum."""
    return nn.gelu(x + bias)


@operator("FastGelu", domain=MICROSOFT)
def fast_gelu(x: Tensor, bias: Tensor | None = None) -> Tensor:
    """`gelu` by tanh, of a sum where there is a bias."""
    return nn.gelu(x if bias is None else x + bias, approximate=True)


@operator("QuickGelu", domain=MICROSOFT)
def quick_gelu(x: Tensor, *, alpha: float = 1.702) -> Tensor:
    """x sigmoid(alpha x)."""
    return x * tb.sigmoid(alpha * x)


@operator("Softmax", since=13)
def softmax(x: Tensor, *, axis: int = -1) -> Tensor:
    """Exponentials that add up to 1 along an axis."""
    return nn.softmax(x, axis=axis)


@operator("LogSoftmax", since=13)
def log_softmax(x: Tensor, *, axis: int = -1) -> Tensor:
    """The logarithm of `softmax`."""
    return nn.log_softmax(x, axis=axis)


@operator("Hardmax", since=13)
def hardmax(x: Tensor, *, axis: int = -1) -> Tensor:
    """1 at the first maximum along an axis, 0 elsewhere."""
    size = x.shape[axis]
    places = tb.reshape(tb.arange(size, like=x), (size, *(1,) * (x.ndim - 1 - axis % x.ndim)))
    return (tb.argmax(x, axis=axis, keepdims=True) == places).astype(x.dtype)


def _of_rows(x: Tensor, axis: int) -> Tensor:
    """The tensor as a matrix whose rows have the elements from an axis on, as before opset 13."""
    return tb.reshape(x, (math.prod(x.shape[: axis % max(x.ndim, 1)]), -1)) if x.size else x


@operator("Softmax")
def softmax_of_rows(x: Tensor, *, axis: int = 1) -> Tensor:
    """`softmax` over all axes from one on, before opset 13."""
    return tb.reshape(nn.softmax(_of_rows(x, axis)), x.shape)


@operator("LogSoftmax")
def log_softmax_of_rows(x: Tensor, *, axis: int = 1) -> Tensor:
    """The logarithm of `softmax_of_rows`."""
    return tb.reshape(nn.log_softmax(_of_rows(x, axis)), x.shape)


@operator("Hardmax")
def hardmax_of_rows(x: Tensor, *, axis: int = 1) -> Tensor:
    """`hardmax` over all axes from one on, before opset 13."""
    return tb.reshape(hardmax(_of_rows(x, axis)), x.shape)


FUSED: dict[str, Callable[..., Tensor]] = {
    "Clip": tb.clip,
    "HardSigmoid": lambda x, alpha, beta: hard_sigmoid(x, alpha=alpha, beta=beta),
    "LeakyRelu": lambda x, alpha: leaky_relu(x, alpha=alpha),
    "Relu": relu,
    "Sigmoid": tb.sigmoid,
    "Tanh": tb.tanh,
}
"""The activations that onnxruntime joins to the layer before, which take numbers of the node after the tensor."""


def fused(x: Tensor, activation: str, numbers: Sequence[float]) -> Tensor:
    """An activation by its name, with its numbers; none for an empty name."""
    if not activation:
        return x
    if activation not in FUSED:
        raise ArgumentError(expected(f"an activation among {list(FUSED)}", activation=activation))
    return FUSED[activation](x, *numbers)
