"""The networks of `phiml.nn`, with the structure of PhiML's on PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from math import prod
from typing import Any

import tensorbackend as tb

from .layers import Activation, Layer, Layers, Parameters, chain, double, flatten, halve, skip, softmax


class Network:
    """A network, called with a tensor that has the batch first and the channels last, as `math.native_call` passes."""

    def __init__(self, adapter: Any, parameters: Mapping[str, tb.Tensor], apply: Callable[..., tb.Tensor]) -> None:
        self.adapter = adapter
        self.parameters: Mapping[str, tb.Tensor] = parameters
        """The parameters by name."""
        self.apply = apply
        """The network as a function of parameters and a tensor."""

    def __call__(self, x: Any, **options: Any) -> tb.Tensor:
        return self.apply(self.parameters, self.adapter.as_tensor(x), **options)

    @contextmanager
    def substituted(self, parameters: Mapping[str, tb.Tensor]) -> Iterator[None]:
        """A context in which the network has other parameters, such as those of a trace."""
        held, self.parameters = self.parameters, parameters
        try:
            yield
        finally:
            self.parameters = held


def rank_of(in_spatial: int | Sequence[int]) -> int:
    """The number of spatial axes, which PhiML takes as a number or as their sizes."""
    return in_spatial if isinstance(in_spatial, int) else len(in_spatial)


def _conv_blocks(made: Layers, rank: int, sizes: Sequence[int], *options: Any) -> list[Layer]:
    """Convolutions with an activation between them."""
    return [made.block("Conv", rank, sizes, *options)]


def _residual_blocks(made: Layers, rank: int, sizes: Sequence[int], *options: Any) -> list[Layer]:
    """Blocks of two convolutions, each with its argument added to the result."""
    return [made.residual(f"Res{place}", rank, *ends, *options) for place, ends in enumerate(pairwise(sizes))]


def _keeping_resolution(name: str, blocks: Callable[..., list[Layer]]) -> Callable[..., Network]:
    """A function that makes networks of blocks which keep the resolution."""

    def method(
        self: Networks,
        in_channels: int,
        out_channels: int,
        layers: Sequence[int],
        batch_norm: bool = False,
        activation: Activation = "ReLU",
        in_spatial: int | Sequence[int] = 2,
        periodic: bool = False,
    ) -> Network:
        made, rank = Layers(self.adapter), rank_of(in_spatial)
        sizes = (in_channels, *(layers or [out_channels]))
        hidden = blocks(made, rank, sizes, batch_norm, activation, periodic)
        last = made.conv(f"{name}_out", rank, sizes[-1], out_channels, 1)
        return Network(self.adapter, made.parameters, chain(*hidden, last))

    method.__doc__ = f"{blocks.__doc__} They keep the resolution."
    return method


class Networks:
    """The functions of `phiml.nn` that make networks on an adapter. PhiML documents their parameters."""

    def __init__(self, adapter: Any) -> None:
        self.adapter = adapter

    def mlp(
        self,
        in_channels: int,
        out_channels: int,
        layers: Sequence[int],
        batch_norm: bool = False,
        activation: Activation = "ReLU",
        softmax: bool = False,
    ) -> Network:
        """Linear layers with an activation between them."""
        made = Layers(self.adapter)
        return Network(
            self.adapter,
            made.parameters,
            _dense(made, in_channels, out_channels, layers, batch_norm, activation, softmax),
        )

    def u_net(
        self,
        in_channels: int,
        out_channels: int,
        levels: int = 4,
        filters: int | Sequence[int] = 16,
        batch_norm: bool = True,
        activation: Activation = "ReLU",
        in_spatial: int | Sequence[int] = 2,
        periodic: bool = False,
        use_res_blocks: bool = False,
        down_kernel_size: int = 3,
        up_kernel_size: int = 3,
    ) -> Network:
        """A U-Net: convolutions at each of several resolutions, those of equal resolution connected."""
        sizes = (filters,) * levels if isinstance(filters, int) else tuple(filters)
        if len(sizes) != levels:
            raise ValueError(f"u_net: expected a number of filters for each of {levels} levels, got filters={filters}")
        made, rank = Layers(self.adapter), rank_of(in_spatial)

        def block(name: str, inputs: int, middle: int, outputs: int, size: int) -> Layer:
            if use_res_blocks:
                return made.residual(name, rank, inputs, outputs, batch_norm, activation, periodic, size)
            return made.block(name, rank, (inputs, middle, outputs), batch_norm, activation, periodic, size)

        first = block("inc", in_channels, sizes[0], sizes[0], down_kernel_size)
        downs, ups = [], []
        for level in range(1, levels):
            downs.append(block(f"down{level}", sizes[level - 1], sizes[level], sizes[level], down_kernel_size))
            joined, outputs = sizes[-level] + sizes[-level - 1], sizes[-level - 1]
            ups.append(block(f"up{level}", joined, joined // 2, outputs, up_kernel_size))
        last = made.conv("outc", rank, sizes[0], out_channels, 1)

        def apply(parameters: Parameters, x: tb.Tensor) -> tb.Tensor:
            x = first(parameters, x)
            finer = []
            for down in downs:
                finer.append(x)
                x = down(parameters, halve(parameters, x))
            for up in ups:
                x = up(parameters, tb.concat([finer.pop(), double(x)], axis=-1))
            return last(parameters, x)

        return Network(self.adapter, made.parameters, apply)

    conv_net = _keeping_resolution("Conv", _conv_blocks)
    res_net = _keeping_resolution("Res", _residual_blocks)

    def conv_classifier(
        self,
        in_features: int,
        in_spatial: Sequence[int],
        num_classes: int,
        blocks: Sequence[int] = (64, 128, 256, 256, 512, 512),
        block_sizes: Sequence[int] = (2, 2, 3, 3, 3),
        dense_layers: Sequence[int] = (4096, 4096, 100),
        batch_norm: bool = True,
        activation: Activation = "ReLU",
        softmax: bool = True,
        periodic: bool = False,
    ) -> Network:
        """Blocks of convolutions, each of which ends at half the resolution, then linear layers."""
        made, rank = Layers(self.adapter), len(in_spatial)
        if len(block_sizes) < len(blocks):
            raise ValueError(
                f"conv_classifier: expected a size for each of blocks={blocks}, got block_sizes={block_sizes}"
            )
        layers, inputs = [], in_features
        for place, (outputs, count) in enumerate(zip(blocks, block_sizes, strict=False)):
            sizes = (inputs, *(outputs,) * count)
            layers += [made.block(f"conv{place + 1}", rank, sizes, batch_norm, activation, periodic), halve]
            inputs = outputs
        entries = prod(size // 2 ** len(blocks) for size in in_spatial) * inputs
        dense = _dense(made, entries, num_classes, dense_layers, batch_norm, activation, softmax)
        return Network(self.adapter, made.parameters, chain(*layers, flatten, dense))

    def invertible_net(self, num_blocks: int = 3, construct_net: Any = "u_net", **construct_kwargs: Any) -> Network:
        """A network with an inverse, `net(y, backward=True)`, of coupling blocks that consist of four networks each."""
        if "in_channels" in construct_kwargs:
            construct_kwargs.setdefault("out_channels", construct_kwargs["in_channels"])
        construct = self._residual_mlp if construct_net == "mlp" else construct_net
        construct = getattr(self, construct) if isinstance(construct, str) else construct
        parameters: dict[str, tb.Tensor] = {}
        couplings = []
        for place in range(num_blocks):
            parts = []
            for part in ("s1", "t1", "s2", "t2"):
                network, prefix = construct(**construct_kwargs), f"coupling_block{place + 1}.{part}."
                parameters |= {prefix + name: x for name, x in network.parameters.items()}
                parts.append(_prefixed(prefix, network.apply))
            couplings.append((parts, place % 2 == 0))

        def apply(parameters: Parameters, x: tb.Tensor, backward: bool = False) -> tb.Tensor:
            for parts, reverse in reversed(couplings) if backward else couplings:
                x = _coupled(parts, parameters, x, _checkerboard(x, reverse), backward)
            return x

        return Network(self.adapter, parameters, apply)

    def _residual_mlp(
        self,
        in_channels: int,
        layers: Sequence[int],
        batch_norm: bool = False,
        activation: Activation = "ReLU",
        softmax: bool = False,
        out_channels: int | None = None,
    ) -> Network:
        if softmax or out_channels not in (None, in_channels):
            given = f"softmax={softmax}, in_channels={in_channels}, out_channels={out_channels}"
            raise ValueError(f"invertible_net: expected as many outputs as inputs and no softmax, got {given}")
        made = Layers(self.adapter)
        blocks = made.dense_blocks((in_channels, *layers, in_channels), batch_norm, activation)
        return Network(self.adapter, made.parameters, skip(chain(*blocks)))


def _dense(
    made: Layers,
    inputs: int,
    outputs: int,
    layers: Sequence[int],
    batch_norm: bool,
    activation: Activation,
    with_softmax: bool,
) -> Layer:
    sizes = (inputs, *layers)
    parts = [*made.dense_blocks(sizes, batch_norm, activation), made.dense("linear_out", sizes[-1], outputs)]
    return chain(*parts, *([softmax] if with_softmax else []))


def _prefixed(prefix: str, apply: Layer) -> Layer:
    """A layer whose parameters have longer names."""

    def run(parameters: Parameters, x: tb.Tensor) -> tb.Tensor:
        own = {name.removeprefix(prefix): value for name, value in parameters.items() if name.startswith(prefix)}
        return apply(own, x)

    return run


def _checkerboard(x: tb.Tensor, reverse: bool) -> tb.Tensor:
    """1 where the sum of the positions is odd, or even with `reverse`; without spatial axes, that of the channel."""
    axes = range(1, x.ndim - 1) if x.ndim > 2 else (1,)
    odd = tb.asarray(reverse, backend=x.backend)
    for axis in axes:
        shape = [1] * x.ndim
        shape[axis] = x.shape[axis]
        odd = odd ^ tb.reshape(tb.arange(x.shape[axis], backend=x.backend) % 2 == 1, tuple(shape))
    return tb.astype(odd, x.dtype)


def _coupled(parts: Sequence[Layer], p: Parameters, x: tb.Tensor, mask: tb.Tensor, backward: bool) -> tb.Tensor:
    s1, t1, s2, t2 = parts
    other = 1 - mask
    if backward:
        first, second = x * mask, x * other
        second = other * (second - t1(p, first)) * tb.exp(-s1(p, first))
        return mask * (first - t2(p, second)) * tb.exp(-s2(p, second)) + second
    first, second = x * mask, x * other
    first = mask * (first * tb.exp(s2(p, second)) + t2(p, second))
    return first + other * (second * tb.exp(s1(p, first)) + t1(p, first))
