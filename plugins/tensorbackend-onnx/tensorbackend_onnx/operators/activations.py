"""Activation functions, and what normalises along an axis by exponentials."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import tensorbackend as tb
from tensorbackend import Tensor, nn
from tensorbackend.errors import ArgumentError, expected

from .clipping import clip
from .registry import MICROSOFT, Node, operator, rows
from .shape import by_channel

SELU_ALPHA, SELU_GAMMA = 1.67326319217681884765625, 1.05070102214813232421875


def hard_sigmoid(x: Tensor, *, alpha: float = 0.2, beta: float = 0.5) -> Tensor:
    """alpha x + beta, within 0 to 1, and constant from there on."""
    return clip(alpha * x + beta, 0, 1, flat=True)


ACTIVATIONS: dict[str, Callable[..., Tensor]] = {
    "Celu": lambda x, *, alpha=1.0: tb.maximum(x, 0) + tb.minimum(alpha * tb.expm1(x / alpha), 0),
    "Elu": nn.elu,
    "Gelu": lambda x, *, approximate="none": nn.gelu(x, approximate=approximate == "tanh"),
    "HardSigmoid": hard_sigmoid,
    "HardSwish": lambda x: x * hard_sigmoid(x, alpha=1 / 6),
    "LeakyRelu": lambda x, *, alpha=0.01: nn.leaky_relu(x, slope=alpha),
    "Mish": lambda x: x * tb.tanh(nn.softplus(x)),
    "Relu": nn.relu,
    "Selu": lambda x, *, alpha=SELU_ALPHA, gamma=SELU_GAMMA: gamma * nn.elu(x, alpha=alpha),
    "Softsign": lambda x: x / (1 + tb.abs(x)),
    "Swish": lambda x, *, alpha=1.0: nn.silu(x) if alpha == 1 else x * tb.sigmoid(alpha * x),
    "ThresholdedRelu": lambda x, *, alpha=1.0: tb.where(x > alpha, x, tb.zeros_like(x)),
}
"""Functions of each element, whose attributes are numbers."""

ALONG_AXES: dict[str, Callable[..., Tensor]] = {
    "Hardmax": lambda x, *, axis=-1: nn.one_hot(tb.argmax(x, axis=axis), x.shape[axis], axis=axis, dtype=x.dtype),
    "LogSoftmax": lambda x, *, axis=-1: nn.log_softmax(x, axis=axis),
    "Softmax": lambda x, *, axis=-1: nn.softmax(x, axis=axis),
}


def of_rows(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function along an axis as before opset 13: over all axes from that one on."""

    def compute(x: Tensor, *, axis: int = 1) -> Tensor:
        matrix = tb.reshape(x, (math.prod(x.shape[: axis % max(x.ndim, 1)]), -1)) if x.size else x
        return tb.reshape(function(matrix), x.shape)

    return compute


rows(ACTIVATIONS)
rows(ALONG_AXES, since=13)
rows({name: of_rows(function) for name, function in ALONG_AXES.items()})
rows(
    {
        "BiasGelu": lambda x, bias: nn.gelu(x + bias),
        "FastGelu": lambda x, bias=None: nn.gelu(x if bias is None else x + bias, approximate=True),
        "Gelu": lambda x: nn.gelu(x),
        "QuickGelu": partial(ACTIVATIONS["Swish"], alpha=1.702),
    },
    domain=MICROSOFT,
)


@operator("PRelu")
def prelu(x: Tensor, slope: Tensor, *, node: Node) -> Tensor:
    """Negative elements times a slope that broadcasts, or before opset 7 is that of each channel.

    At 0 the gradient is the slope, as PyTorch's.
    """
    if node.opset < 7 and slope.ndim == 1 and x.ndim > 2:
        slope = by_channel(slope, x.ndim)
    return tb.where(x > 0, x, slope * x)


FUSED: dict[str, Callable[..., Tensor]] = {
    "Clip": tb.clip,
    "HardSigmoid": lambda x, alpha, beta: hard_sigmoid(x, alpha=alpha, beta=beta),
    "LeakyRelu": lambda x, alpha: nn.leaky_relu(x, slope=alpha),
    "Relu": ACTIVATIONS["Relu"],
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
