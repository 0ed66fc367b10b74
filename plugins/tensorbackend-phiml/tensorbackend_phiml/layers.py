"""Layers of networks: functions of parameters, which are tensors by name, and of a tensor whose channels are last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import phiml.math
import tensorbackend as tb
from phiml.math import batch, channel, spatial

Parameters = Mapping[str, tb.Tensor]
Layer = Callable[[Parameters, tb.Tensor], tb.Tensor]
Activation = str | Callable[[tb.Tensor], tb.Tensor]

ACTIVATIONS: dict[str, Callable[[tb.Tensor], tb.Tensor]] = {
    "ReLU": tb.nn.relu,
    "Sigmoid": tb.sigmoid,
    "tanh": tb.tanh,
    "SiLU": tb.nn.silu,
    "GeLU": tb.nn.gelu,
}
"""PhiML's names of activations."""


def chain(*layers: Layer) -> Layer:
    """Apply layers one after the other."""

    def apply(parameters: Parameters, x: tb.Tensor) -> tb.Tensor:
        for layer in layers:
            x = layer(parameters, x)
        return x

    return apply


def skip(layer: Layer, shortcut: Layer | None = None) -> Layer:
    """Add the argument, or the result of another layer for it, to the result of a layer."""

    def apply(parameters: Parameters, x: tb.Tensor) -> tb.Tensor:
        return layer(parameters, x) + (x if shortcut is None else shortcut(parameters, x))

    return apply


def activate(activation: Activation) -> Layer:
    """Apply an activation, given by PhiML's name or as a function of a tensor."""
    if isinstance(activation, str):
        if activation not in ACTIVATIONS:
            raise ValueError(f"expected an activation of {', '.join(ACTIVATIONS)}, or a function, got {activation!r}")
        activation = ACTIVATIONS[activation]
    function = activation
    return lambda parameters, x: function(x)


def softmax(parameters: Parameters, x: tb.Tensor) -> tb.Tensor:
    """Softmax along the channels."""
    return tb.nn.softmax(x, axis=-1)


def flatten(parameters: Parameters, x: tb.Tensor) -> tb.Tensor:
    """One axis for all positions and channels."""
    return tb.reshape(x, (x.shape[0], -1))


def halve(parameters: Parameters, x: tb.Tensor) -> tb.Tensor:
    """The maximum of every two entries along each spatial axis."""
    return tb.nn.max_pool(x, dict.fromkeys(range(1, x.ndim - 1), 2))


def double(x: tb.Tensor) -> tb.Tensor:
    """Twice the entries along each spatial axis, by PhiML's interpolation."""
    dims = [batch("batch"), *(spatial(f"axis{axis}") for axis in range(x.ndim - 2)), channel("vector")]
    return phiml.math.upsample2x(phiml.math.wrap(x, *dims)).native([dim.name for dim in dims])  # type: ignore[no-any-return]


class Layers:
    """Makes layers, and their parameters by the name of the layer.

    Weights are drawn from the uniform distribution of width 2 / sqrt(inputs) around 0, and biases are 0, as in PhiML's
    networks on PyTorch.
    """

    def __init__(self, adapter: Any) -> None:
        self.adapter = adapter
        self.parameters: dict[str, tb.Tensor] = {}

    def _add(self, name: str, tensor: Any) -> None:
        self.parameters[name] = tensor

    def _weights(self, name: str, shape: Sequence[int], inputs: int, outputs: int) -> None:
        adapter = self.adapter
        dtype = adapter.float_type
        bound = inputs**-0.5
        self._add(f"{name}.weight", adapter.random_uniform(tuple(shape), -bound, bound, dtype))
        self._add(f"{name}.bias", adapter.zeros((outputs,), dtype))

    def dense(self, name: str, inputs: int, outputs: int) -> Layer:
        """A linear layer of the channels."""
        self._weights(name, (inputs, outputs), inputs, outputs)
        return lambda parameters, x: tb.nn.dense(x, parameters[f"{name}.weight"], parameters[f"{name}.bias"])

    def conv(self, name: str, rank: int, inputs: int, outputs: int, size: int = 3, periodic: bool = False) -> Layer:
        """A convolution that keeps the sizes of the spatial axes, with zeros around them or periodic."""
        window = (size,) * rank
        self._weights(name, (outputs, inputs, *window), inputs * prod(window), outputs)
        width = ((size - 1) // 2, size // 2)

        def apply(parameters: Parameters, x: tb.Tensor) -> tb.Tensor:
            weights = parameters[f"{name}.weight"], parameters[f"{name}.bias"]
            if not periodic:
                return tb.nn.conv(x, *weights, padding=[width] * rank)
            return tb.nn.conv(tb.pad(x, [(0, 0), *[width] * rank, (0, 0)], mode="wrap"), *weights)

        return apply

    def norm(self, name: str, features: int) -> Layer:
        """Batch normalisation by the statistics of the batch, in evaluation too, as networks of PhiML have no mode."""
        adapter = self.adapter
        dtype = adapter.float_type
        self._add(f"{name}.weight", adapter.ones((features,), dtype))
        self._add(f"{name}.bias", adapter.zeros((features,), dtype))

        def apply(parameters: Parameters, x: tb.Tensor) -> tb.Tensor:
            axes = tuple(range(x.ndim - 1))
            centred = x - tb.mean(x, axis=axes, keepdims=True)
            scale = parameters[f"{name}.weight"] / tb.sqrt(tb.mean(centred**2, axis=axes, keepdims=True) + 1e-5)
            return centred * scale + parameters[f"{name}.bias"]

        return apply

    def block(
        self,
        name: str,
        rank: int,
        sizes: Sequence[int],
        batch_norm: bool,
        activation: Activation,
        periodic: bool,
        size: int = 3,
    ) -> Layer:
        """A convolution, batch normalisation and activation for each pair of sizes."""
        layers = []
        for place, (inputs, outputs) in enumerate(pairwise(sizes)):
            layers.append(self.conv(f"{name}.conv{place}", rank, inputs, outputs, size, periodic))
            layers += [self.norm(f"{name}.norm{place}", outputs)] if batch_norm else []
            layers.append(activate(activation))
        return chain(*layers)

    def residual(
        self,
        name: str,
        rank: int,
        inputs: int,
        outputs: int,
        batch_norm: bool,
        activation: Activation,
        periodic: bool,
        size: int = 3,
    ) -> Layer:
        """Two convolutions, and the argument added to their result, by a convolution of size 1 if the sizes differ."""
        layer = self.block(name, rank, (inputs, outputs, outputs), batch_norm, activation, periodic, size)
        if inputs == outputs:
            return skip(layer)
        shortcut = [self.conv(f"{name}.shortcut", rank, inputs, outputs, 1)]
        shortcut += [self.norm(f"{name}.shortcut_norm", outputs)] if batch_norm else []
        return skip(layer, chain(*shortcut))

    def dense_blocks(self, sizes: Sequence[int], batch_norm: bool, activation: Activation) -> list[Layer]:
        """A linear layer, activation and batch normalisation for each pair of sizes."""
        layers = []
        for place, (inputs, outputs) in enumerate(pairwise(sizes)):
            layers += [self.dense(f"linear{place}", inputs, outputs), activate(activation)]
            layers += [self.norm(f"norm{place}", outputs)] if batch_norm else []
        return layers
