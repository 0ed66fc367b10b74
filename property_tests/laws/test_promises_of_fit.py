"""`fit` keeps its promise: drawn networks take at most what it promises for a drawn limit, op by op and compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.backends.array_module.convolution import ArrayConvolution
from tensorbackend.costs.candidates import EXHAUSTIVE_CALLS, Recomputation, choose_recomputation
from tensorbackend.testing import profile
from tests.peak_memory import peak_memory

Weights = Sequence[tb.Tensor]
Layer = Callable[[tb.Tensor, Weights], tb.Tensor]

LEAST = 0.5
"""Of what it promises, a network takes at least this share: a promise of much more is of no use."""


class Kind(NamedTuple):
    """A layer of rows of a width, and the shapes of its weights."""

    layer: Layer
    shapes: Callable[[int], tuple[tuple[int, ...], ...]]


def dense(x: tb.Tensor, w: Weights) -> tb.Tensor:
    return x + tb.tanh(x @ w[0]) @ w[1]


def rectified(x: tb.Tensor, w: Weights) -> tb.Tensor:
    return tb.maximum(x @ w[0], 0.0)


def normalised(x: tb.Tensor, w: Weights) -> tb.Tensor:
    centred = x - tb.mean(x, axis=1, keepdims=True)
    return centred / tb.sqrt(tb.mean(tb.square(centred), axis=1, keepdims=True) + 1e-5) * w[0]


def gated(x: tb.Tensor, w: Weights) -> tb.Tensor:
    """Halves of a product are views."""
    gate, value = tb.split(x @ w[0], 2, axis=1)
    return tb.sigmoid(gate) * value


def narrowed(x: tb.Tensor, w: Weights) -> tb.Tensor:
    """Return a part of a product, which holds all of it."""
    return (x @ w[0])[:, : x.shape[1]]


def joined(x: tb.Tensor, w: Weights) -> tb.Tensor:
    return tb.concat([x, tb.exp(-x * x)], axis=1) @ w[0]


def attention(x: tb.Tensor, w: Weights) -> tb.Tensor:
    heads = [tb.permute_dims(tb.reshape(x @ part, (-1, 32, 4, x.shape[1] // 4)), (0, 2, 1, 3)) for part in w]
    weights = tb.softmax(heads[0] @ heads[1].mT / sqrt(x.shape[1] / 4), axis=-1)
    return x + tb.reshape(tb.permute_dims(weights @ heads[2], (0, 2, 1, 3)), x.shape)


def convolved(x: tb.Tensor, w: Weights) -> tb.Tensor:
    images = tb.reshape(x, (-1, 8, 32, x.shape[1] // 8))
    return tb.reshape(tb.nn.silu(tb.conv(images, w[0], padding="same")), x.shape)


def filtered(x: tb.Tensor, w: Weights) -> tb.Tensor:
    images = tb.reshape(x, (-1, 8, 32, x.shape[1] // 8))
    return x + tb.reshape(tb.conv(images, w[0], padding="same"), x.shape)


def resampled(x: tb.Tensor, w: Weights) -> tb.Tensor:
    return tb.repeat(tb.take(x, tb.arange(0, x.shape[0], 2), axis=0), 2, axis=0) * w[0]


def square(width: int) -> tuple[tuple[int, ...], ...]:
    return ((width, width),)


KINDS = {
    "dense": Kind(dense, lambda width: ((width, 2 * width), (2 * width, width))),
    "rectified": Kind(rectified, square),
    "normalised": Kind(normalised, lambda width: ((width,),)),
    "gated": Kind(gated, lambda width: ((width, 2 * width),)),
    "narrowed": Kind(narrowed, lambda width: ((width, 2 * width),)),
    "joined": Kind(joined, lambda width: ((2 * width, width),)),
    "attention": Kind(attention, lambda width: square(width) * 3),
    "convolved": Kind(convolved, lambda width: ((8, 8, 3, 3),)),
    "filtered": Kind(filtered, lambda width: ((8, 8, 3, 3),)),
    "resampled": Kind(resampled, lambda width: ((width,),)),
}


class Network(NamedTuple):
    """Layers, one after another, of rows of a width."""

    layers: tuple[str, ...]
    rows: int
    width: int

    def step(self) -> Callable[..., Any]:
        """Return value and gradient of the sum of squares."""
        layers = [tb.checkpoint(KINDS[name].layer) for name in self.layers]

        def loss(weights: Any, x: tb.Tensor) -> tb.Tensor:
            for layer, own in zip(layers, weights, strict=True):
                x = layer(x, own)
            return tb.sum(x * x)

        return tb.value_and_grad(loss)

    def arguments(self) -> tuple[Any, tb.Tensor]:
        generator = numpy.random.default_rng(0)

        def drawn(*shape: int) -> tb.Tensor:
            return tb.asarray(generator.normal(0, 0.1, shape).astype("float32"), backend="numpy")

        weights = [tuple(drawn(*shape) for shape in KINDS[name].shapes(self.width)) for name in self.layers]
        return weights, drawn(self.rows, self.width)


networks = st.builds(
    Network,
    st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=5).map(tuple),
    st.sampled_from([1024, 2048]),
    st.sampled_from([64, 128]),
)

deep_networks = st.builds(
    Network,
    st.lists(st.sampled_from(sorted(KINDS)), min_size=EXHAUSTIVE_CALLS + 1, max_size=EXHAUSTIVE_CALLS + 2).map(tuple),
    st.just(1024),
    st.just(64),
)


def taken(function: Callable[..., Any], *arguments: Any) -> int:
    """Return the bytes of a call and its arguments on NumPy, after calls that make programs."""
    own = sum(x.nbytes for x in tb.tree_leaves(arguments))
    return int(own + peak_memory(lambda: function(*arguments), calls_before=2))


def choice(network: Network, limit: int, optimised: bool) -> Recomputation:
    function, arguments = network.step(), network.arguments()
    return choose_recomputation(
        lambda: tb.dry_run(function, *arguments).shown_program(optimised), limit, sets_aside=True
    )


def broken(network: Network, share: float, optimised: bool) -> str | None:
    """Return how a promise is broken, for a limit between the lowest and the highest promise; `None` if it is kept."""
    lowest, highest = (choice(network, limit, optimised).promised for limit in (0, 1 << 50))
    limit = lowest + int(share * (highest - lowest))
    found = choice(network, limit, optimised)
    fitted = tb.fit(network.step(), limit, optimised=optimised)
    measured = taken(tb.jit(fitted) if optimised else fitted, *network.arguments())
    if LEAST * found.promised <= measured <= found.promised <= limit:
        return None
    return f"{network} with {sorted(found.chosen)} again: limit {limit}, promised {found.promised}, taken {measured}"


@pytest.mark.parametrize("optimised", [False, True], ids=["op by op", "compiled"])
def test_a_network_takes_no_more_than_promised(optimised: bool) -> None:
    @profile(12)
    @given(networks, st.sampled_from([0.0, 0.3, 0.6, 1.0]))
    def check(network: Network, share: float) -> None:
        assert broken(network, share, optimised) is None

    check()


@pytest.mark.parametrize("optimised", [False, True], ids=["op by op", "compiled"])
def test_a_higher_limit_never_costs_more(optimised: bool) -> None:
    """In networks of more layers than the search tries every choice of."""

    @profile(4)
    @given(deep_networks, st.lists(st.floats(0, 1), min_size=2, max_size=4, unique=True).map(sorted))
    def check(network: Network, shares: list[float]) -> None:
        lowest, highest = (choice(network, limit, optimised).promised for limit in (0, 1 << 50))
        found = [choice(network, lowest + int(share * (highest - lowest)), optimised) for share in shares]
        assert all(one.fits for one in found)
        flops = [one.after.flops for one in found]
        assert flops == sorted(flops, reverse=True)

    check()


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_layer_alone(kind: str) -> None:
    for share in (0.0, 1.0):
        assert broken(Network((kind,) * 2, 2048, 128), share, optimised=False) is None


def test_a_layer_that_takes_more_than_is_declared_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(vars(ArrayConvolution)["conv"], "__space__")
    assert broken(Network(("filtered",) * 2, 1024, 64), 1.0, optimised=False) is not None
