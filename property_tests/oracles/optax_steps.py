"""Oracles of optimisers and averages: the steps that optax takes on the same parameters."""

from __future__ import annotations

from typing import Any

import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.optimize import GradientTransformation
from tensorbackend.protocol import Backend
from tensorbackend.testing.strategies import Draw

from .table import Recorder, law


def check_beside_optax(draw: Draw, backend: Backend, made: GradientTransformation, theirs: Any) -> None:
    """Run some steps on float32 parameters, a matrix among them, and compare with optax."""
    random = numpy.random.default_rng(draw(st.integers(0, 99)))
    ours: Any = {"matrix": random.normal(size=(2, 3)).astype("f4"), "vector": random.normal(size=3).astype("f4")}
    beside, their_state = dict(ours), theirs.init(ours)
    ours = {key: tb.asarray(x, backend=backend) for key, x in ours.items()}
    state = made.init(ours)
    for _ in range(3):
        gradients = {key: random.normal(size=ours[key].shape).astype("f4") for key in ours}
        moved = {key: tb.asarray(x, backend=backend) for key, x in gradients.items()}
        updates, state = made.update(moved, state, ours)
        their_updates, their_state = theirs.update(gradients, their_state, beside)
        for key in ours:
            numpy.testing.assert_allclose(updates[key], their_updates[key], rtol=1e-4, atol=1e-6)
            beside[key] = beside[key] + numpy.asarray(their_updates[key])
        ours = tb.optimize.apply_updates(ours, updates)


MASKS: list[Any] = [
    None,
    {"matrix": True, "vector": False},
    lambda parameters: {key: len(x.shape) > 1 for key, x in parameters.items()},
]


@law("optimize.scale_by_rms", by="optax")
def scale_by_rms(draw: Draw, run: Recorder, backend: Backend) -> None:
    import optax

    decay, epsilon, centered = (
        draw(st.sampled_from([0.9, 0.5])),
        draw(st.sampled_from([1e-8, 1e-3])),
        draw(st.booleans()),
    )
    theirs = optax.scale_by_stddev if centered else optax.scale_by_rms
    made = run(decay=decay, epsilon=epsilon, centered=centered)
    check_beside_optax(draw, backend, made, theirs(decay=decay, eps=epsilon))


@law("optimize.rmsprop", by="optax")
def rmsprop(draw: Draw, run: Recorder, backend: Backend) -> None:
    import optax

    decay, epsilon, centered = (
        draw(st.sampled_from([0.9, 0.5])),
        draw(st.sampled_from([1e-8, 1e-3])),
        draw(st.booleans()),
    )
    momentum, nesterov = draw(st.sampled_from([0.0, 0.5])), draw(st.booleans())
    made = run(0.5, decay=decay, epsilon=epsilon, centered=centered, momentum=momentum, nesterov=nesterov)
    options = {"decay": decay, "eps": epsilon, "centered": centered}
    check_beside_optax(draw, backend, made, optax.rmsprop(0.5, **options, momentum=momentum or None, nesterov=nesterov))


@law("optimize.lion", by="optax")
def lion(draw: Draw, run: Recorder, backend: Backend) -> None:
    import optax

    b1, b2, decay = (
        draw(st.sampled_from([0.9, 0.5])),
        draw(st.sampled_from([0.99, 0.5])),
        draw(st.sampled_from([1e-3, 0.5])),
    )
    mask = draw(st.sampled_from(MASKS))
    made = run(0.5, b1=b1, b2=b2, decay=decay, mask=mask)
    check_beside_optax(draw, backend, made, optax.lion(0.5, b1=b1, b2=b2, weight_decay=decay, mask=mask))


@law("optimize.adafactor", by="optax")
def adafactor(draw: Draw, run: Recorder, backend: Backend) -> None:
    import optax

    rate, least, exponent = (
        draw(st.sampled_from([None, 0.5])),
        draw(st.sampled_from([2, 128])),
        draw(st.sampled_from([0.8, 0.5])),
    )
    relative, clip = draw(st.booleans()), draw(st.sampled_from([None, 1.0, 0.5]))
    momentum, decay, mask = (
        draw(st.sampled_from([0.0, 0.5])),
        draw(st.sampled_from([0.0, 0.1])),
        draw(st.sampled_from(MASKS)),
    )
    made = run(
        rate, least=least, exponent=exponent, relative=relative, clip=clip, momentum=momentum, decay=decay, mask=mask
    )
    theirs = optax.adafactor(
        rate, min_dim_size_to_factor=least, decay_rate=exponent, multiply_by_parameter_scale=relative,
        clipping_threshold=clip, momentum=momentum or None, weight_decay_rate=decay or None, weight_decay_mask=mask,
    )  # fmt: skip
    check_beside_optax(draw, backend, made, theirs)


@law("optimize.moving_average", by="optax")
def moving_average(draw: Draw, run: Recorder, backend: Backend) -> None:
    import optax

    decay, debias = draw(st.sampled_from([0.9, 0.0, 0.5])), draw(st.booleans())
    check_beside_optax(draw, backend, run(decay, debias=debias), optax.ema(decay, debias=debias))
