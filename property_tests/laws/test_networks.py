"""Functions of neural networks on every backend against BinaryBackend, and their gradients against differences.

They have no call generators as ops have, like those of `test_sequences`: each is made of many ops.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, COMPLEX_OF, DType, bool_
from tensorbackend.testing import Divergence, Invocation, Judgement, assert_equal, divergences_of, judge, profile
from tensorbackend.testing.calls import Generator
from tensorbackend.testing.generators import integers
from tensorbackend.testing.generators.fourier import numbers
from tensorbackend.testing.strategies import Draw, shapes, tensors

from .test_gradient_values import Problem, differentiable, traced

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy,jax").split(",")
FLOATING = [dtype for dtype in ALL_DTYPES if dtype.is_floating]

# Parts of calls


def of(draw: Draw, dtype: DType, values: Any = None, **sizes: int) -> tb.Tensor:
    """Return a tensor whose axes have these names and sizes."""
    return draw(tensors(dtype, tuple(sizes.values()), names=tuple(sizes), tame=True, values=values))


def turned(draw: Draw, dtype: DType, values: Any = None, **sizes: int) -> tb.Tensor:
    """Return a tensor with these axes in random order."""
    return of(draw, dtype, values, **{name: sizes[name] for name in draw(st.permutations(list(sizes)))})


def small(draw: Draw, dtype: DType, **sizes: int) -> tb.Tensor:
    """Return small elements, whose short sums and products are exact in every dtype; sometimes without names."""
    halves = st.integers(-2, 2).map(lambda number: number / 2)
    values = halves if dtype.is_inexact else st.integers(0, 2) if dtype.is_integer else st.booleans()
    x = of(draw, dtype, values, **sizes)
    return x if draw(st.booleans()) else x.rename(*(None,) * x.ndim)


def some(draw: Draw, **options: Any) -> dict[str, Any]:
    """Return a random subset of the options."""
    return {name: value for name, value in options.items() if draw(st.booleans())}


def batches(draw: Draw) -> dict[str, int]:
    """Return a batch axis of size 2, or none."""
    return draw(st.sampled_from([{}, {"batch": 2}]))


# Convolution


def convolved(draw: Draw) -> tuple[dict[str, int], dict[str, int], dict[str, Any]]:
    """Return the sizes of the axes along which windows slide, the sizes of the kernel's axes, and options."""
    rank = draw(st.integers(1, 2))
    space = {f"space{axis}": draw(st.integers(2, 4)) for axis in range(rank)}
    pairs = tuple((draw(st.integers(-1, 1)), draw(st.integers(0, 2))) for _ in range(rank))
    options = some(
        draw,
        strides=draw(st.sampled_from([2, (2,) * rank, {"space0": 2}])),
        padding=draw(st.sampled_from(["same", "valid", pairs])),
        dilation=2,
    )
    return space, {name: draw(st.integers(1, 2)) for name in space}, options


def conv(draw: Draw, dtype: DType) -> Invocation:
    """Features in one group or two, with the axes in any order."""
    space, window, options = convolved(draw)
    groups, share, out = (draw(st.integers(1, 2)) for _ in range(3))
    x = turned(draw, dtype, **batches(draw), feature=groups * share, **space)
    kernel = of(draw, dtype, unit=groups * out, feature=share, **window)
    bias = [small(draw, dtype, unit=groups * out)] if draw(st.booleans()) else []
    return Invocation("nn.conv", (x, kernel, *bias), {**options, "axis": "feature", "groups": groups})


def conv_transpose(draw: Draw, dtype: DType) -> Invocation:
    """Features in one group or two, with the axes in any order."""
    space, window, options = convolved(draw)
    groups, share, out = (draw(st.integers(1, 2)) for _ in range(3))
    x = turned(draw, dtype, **batches(draw), feature=groups * share, **space)
    kernel = of(draw, dtype, feature=groups * share, unit=out, **window)
    bias = [small(draw, dtype, unit=groups * out)] if draw(st.booleans()) else []
    return Invocation("conv_transpose", (x, kernel, *bias), {**options, "axis": "feature", "groups": groups})


def pooled(draw: Draw, dtype: DType) -> tuple[tb.Tensor, Any, dict[str, Any]]:
    """Return an operand, a window as sizes for all axes or by name for some, and options."""
    space, window, options = convolved(draw)
    x = of(draw, dtype, **space)
    return x, draw(st.sampled_from([window, tuple(window.values()), {"space0": 2}])), options


def max_pool(draw: Draw, dtype: DType) -> Invocation:
    """Windows that overlap and windows that do not."""
    x, window, options = pooled(draw, dtype)
    return Invocation("max_pool", (x, window), options)


def mean_pool(draw: Draw, dtype: DType) -> Invocation:
    """Windows as for `max_pool`; the mean includes the padding or not."""
    x, window, options = pooled(draw, dtype)
    return Invocation("mean_pool", (x, window), {**options, "include_padding": draw(st.booleans())})


# Normalisation


def scales(draw: Draw, dtype: DType, features: int) -> tuple[tb.Tensor | None, ...]:
    """Return a scale and an offset, each of which may be `None`."""
    return tuple(small(draw, dtype, feature=features) if draw(st.booleans()) else None for _ in range(2))


def group_norm(draw: Draw, dtype: DType) -> Invocation:
    """Groups of one feature, as in instance normalisation, and of several features."""
    groups, share = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    x = turned(
        draw, dtype, batch=draw(st.sampled_from([2, 1, 0])), time=draw(st.integers(1, 3)), feature=groups * share
    )
    options = {"groups": groups, "axis": "feature", "batch": draw(st.sampled_from(["batch", ("batch", "time"), ()]))}
    return Invocation("group_norm", (x, *scales(draw, dtype, groups * share)), options)


def batch_norm(draw: Draw, dtype: DType) -> Invocation:
    """Training and inference, with and without a mask."""
    features, time = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    x = turned(draw, dtype, batch=draw(st.sampled_from([2, 1, 0])), time=time, feature=features)
    kept = draw(st.sampled_from([dtype, tb.float32]))
    options = {
        "statistics": tb.nn.Statistics(*(small(draw, kept, feature=features) for _ in range(2))),
        "training": draw(st.booleans()),
        "axis": "feature",
        **some(draw, momentum=0.5, mask=draw(tensors(bool_, x.shape, names=x.names))),
    }
    return Invocation("batch_norm", (x, *scales(draw, dtype, features)), options)


def batch_norm_of_kept_statistics(draw: Draw, dtype: DType) -> Invocation:
    """Statistics that do not move: moving ones have no gradient on purpose."""
    call = batch_norm(draw, dtype)
    return call._replace(options={**call.options, "momentum": 0.0})


# Positions


def rotary(draw: Draw, dtype: DType) -> Invocation:
    """Axes in any order, with and without positions."""
    time = draw(st.sampled_from([3, 1, 0]))
    x = turned(draw, dtype, **batches(draw), time=time, unit=draw(st.sampled_from([4, 2, 4, 0, 4, 3])))
    positions = [integers(draw, (time,), 0, 50, names=("time",))] if draw(st.booleans()) else []
    options = some(draw, base=10.0, interleaved=True)
    return Invocation("rotary", (x, *positions), {**options, "time": "time", "axis": "unit"})


def sinusoidal_positions(draw: Draw, dtype: DType) -> Invocation:
    """Integer and floating positions."""
    shape = draw(shapes(most=2, largest=3))
    positions = integers(draw, shape, 0, 50) if dtype.is_integer else draw(tensors(dtype, shape, tame=True))
    options = some(draw, base=10.0, interleaved=True, name="feature", dtype=draw(st.sampled_from(FLOATING)))
    return Invocation("sinusoidal_positions", (positions, draw(st.sampled_from([4, 2, 4, 0, 4, 3]))), options)


# Attention


def attended(draw: Draw, dtype: DType, heads: dict[str, int]) -> tuple[tb.Tensor, tb.Tensor, tb.Tensor, dict[str, Any]]:
    """Return queries, keys, values and options."""
    batch, unit = batches(draw), draw(st.integers(1, 3))
    queries, keys = draw(st.integers(1, 3)), draw(st.sampled_from([2, 3, 1, 3, 0]))
    query = of(draw, dtype, **batch, **heads, time=queries, unit=unit)
    key = of(draw, dtype, **batch, **heads, time=keys, unit=unit)
    value = of(draw, dtype, **batch, **heads, time=keys, feature=draw(st.integers(1, 2)))
    mask = of(draw, bool_, time=queries, key=keys).rename(None, None)
    bias = small(draw, dtype, time=queries, key=keys).rename(None, None)
    return query, key, value, some(draw, mask=mask, bias=bias, causal=True, scale=0.5)


def attention_weights(draw: Draw, dtype: DType) -> Invocation:
    """Masked, biased and causal attention, with the axes in any order."""
    query, key, _, options = attended(draw, dtype, {})
    order = draw(st.permutations(range(query.ndim)))
    query, key = (tb.permute_dims(x, order) for x in (query, key))
    return Invocation("attention_weights", (query, key), {**options, "time": "time", "axis": "unit"})


def attention(draw: Draw, dtype: DType) -> Invocation:
    """Attention with and without heads; keys and values with and without names."""
    query, key, value, options = attended(draw, dtype, draw(st.sampled_from([{}, {"head": 2}])))
    if draw(st.booleans()):
        key, value = (x.rename(*(None,) * x.ndim) for x in (key, value))
    return Invocation("attention", (query, key, value), options)


def multi_head_attention(draw: Draw, dtype: DType) -> Invocation:
    """Self-attention and attention to a memory, with and without positions."""
    heads, queries, keys = draw(st.integers(1, 2)), 2, draw(st.sampled_from([2, 3]))
    features, units = 2, heads * 2
    sizes = dict.fromkeys(("query", "key", "value"), (features, units)) | {"output": (units, features)}
    parameters = {}
    for name, (rows, columns) in sizes.items():
        parameters[name] = small(draw, dtype, rows=rows, columns=columns).rename(None, None)
        if draw(st.booleans()):
            parameters[f"{name}_bias"] = small(draw, dtype, columns=columns).rename(None)
    batch = batches(draw)
    x = of(draw, dtype, **batch, time=queries, feature=features)
    memory = [of(draw, dtype, **batch, time=keys, feature=features)] if draw(st.booleans()) else []
    mask = of(draw, bool_, time=queries, key=keys if memory else queries).rename(None, None)
    options = some(draw, mask=mask, causal=True, rotate=tb.nn.rotary)
    return Invocation("multi_head_attention", (parameters, x, *memory), {**options, "heads": heads})


# Recurrent layers


def stepped(
    draw: Draw, dtype: DType, gates: int, biases: Sequence[str], states: int
) -> tuple[list[Any], dict[str, Any]]:
    """Return inputs, parameters, sometimes an initial state, and options."""
    batch, time, features, units = batches(draw), draw(st.sampled_from([3, 1])), 2, draw(st.sampled_from([2, 1]))
    x = turned(draw, dtype, **batch, time=time, feature=features)
    parameters = {
        "input": small(draw, dtype, feature=features, gate=gates * units),
        "recurrent": small(draw, dtype, unit=units, gate=gates * units),
        **some(draw, **{name: small(draw, dtype, gate=gates * units) for name in biases}),
    }
    along = {name: batch[name] for name in x.names if name in batch}
    options = some(
        draw,
        lengths=integers(draw, tuple(along.values()), 0, time, names=tuple(along)),
        mask=of(draw, bool_, **along, time=time),
        reverse=True,
    )
    state = [small(draw, dtype, **along, unit=units) for _ in range(states)]
    return [x, parameters, state], {**options, "time": "time", "axis": "feature"}


def lstm(draw: Draw, dtype: DType) -> Invocation:
    """Sequences of full and of shorter lengths, in either direction."""
    (x, parameters, state), options = stepped(draw, dtype, 4, ["bias"], 2)
    initial_state = [tb.nn.LSTMState(*state)] if draw(st.booleans()) else []
    return Invocation("lstm", (x, parameters, *initial_state), options)


def gru(draw: Draw, dtype: DType) -> Invocation:
    """Sequences of full and of shorter lengths, in either direction."""
    (x, parameters, state), options = stepped(draw, dtype, 3, ["bias", "recurrent_bias"], 1)
    initial_state = [tb.nn.GRUState(*state)] if draw(st.booleans()) else []
    return Invocation("gru", (x, parameters, *initial_state), options)


# Signals


def framed(draw: Draw, dtype: DType) -> dict[str, Any]:
    """Return the sizes of frames and transforms, and a window."""
    length = draw(st.integers(1, 4))
    custom_window = small(draw, dtype, time=length)
    window = draw(st.sampled_from(["hann", "hamming", "blackman", "rectangular", custom_window]))
    options = some(draw, fft_length=length + draw(st.integers(0, 2)), window=window)
    return {**options, "frame_length": length, "frame_step": draw(st.integers(1, 3))}


def stft(draw: Draw, dtype: DType) -> Invocation:
    """Signals along any axis, some of them shorter than a frame."""
    x = turned(draw, dtype, numbers(dtype), **batches(draw), time=draw(st.integers(3, 7)))
    return Invocation("stft", (x,), {**framed(draw, dtype), "axis": "time", **some(draw, name="frequency")})


def istft(draw: Draw, dtype: DType) -> Invocation:
    """Arbitrary spectra, some of which no signal has."""
    options = framed(draw, dtype)
    count = options.get("fft_length", options["frame_length"]) // 2 + 1
    sizes = {"time": draw(st.sampled_from([3, 2, 1, 0])), "frequency": count}
    batch = batches(draw)
    kind = COMPLEX_OF.get(dtype, dtype)
    x = of(draw, kind, numbers(kind), **(batch | sizes if draw(st.booleans()) else sizes | batch))
    return Invocation("istft", (x,), {**options, "axis": "time", **some(draw, size=draw(st.integers(0, 9)))})


GENERATORS: list[Generator] = [
    conv, conv_transpose, max_pool, mean_pool, group_norm, batch_norm, rotary, sinusoidal_positions, attention_weights,
    attention, multi_head_attention, lstm, gru, stft, istft,
]  # fmt: skip

QUERIES = tb.tensor([[False, False, False], [False, False, False], [False, False, True]], backend="binary")
CUT_OFF = Divergence(
    reason="integers cut off floats that differ by an ulp, such as 1 and 0.99999994",
    # NumPy 2.5 on Python 3.12 gives 1 as the last element, BinaryBackend gives 0.
    witness=Invocation("attention", (QUERIES, QUERIES, tb.tensor([[False, True]] * 3, backend="binary")), {}),
    judgement=Judgement(absolute=1),
    ops=("attention",),
    when=lambda call, reference: isinstance(reference, list) and reference[0].dtype.is_integer,
)


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_agrees_with_the_reference(backend: str, generator: Generator) -> None:
    dtypes = st.sampled_from(FLOATING) | st.sampled_from(FLOATING) | st.sampled_from(ALL_DTYPES)

    @profile(2 if backend == "jax" else 10)  # XLA compiles each op for each shape
    @given(dtypes.flatmap(st.composite(generator)))
    def check_agreement(call: Invocation) -> None:
        judge(call, backend, [*divergences_of(tb.get_backend(backend)), CUT_OFF])

    check_agreement()


@pytest.mark.parametrize("backend", BACKENDS)
def test_mel_filters_agree_with_the_reference(backend: str) -> None:
    kinds = st.fixed_dictionaries(
        {"sample_rate": st.sampled_from([16000, 44100.0])},
        optional={
            "lowest": st.sampled_from([20.0, 1500.0]),
            "highest": st.sampled_from([3000.0, 7999.5]),
            "slaney": st.just(True),
            "dtype": st.sampled_from(FLOATING),
            "names": st.just(("frequency", "filter")),
        },
    )

    @profile(3 if backend == "jax" else 10)
    @given(st.sampled_from([2, 9]), st.sampled_from([1, 4]), kinds)
    def agrees(frequencies: int, filters: int, options: dict[str, Any]) -> None:
        matrices = []
        for backend_name in (backend, "binary"):
            with tb.default_backend(backend_name):
                matrices.append(tb.nn.mel_filters(frequencies, filters, **options))
        assert matrices[0].backend.name == backend
        assert_equal(*matrices)

    agrees()


@pytest.mark.parametrize(
    "generator", [batch_norm_of_kept_statistics if generator is batch_norm else generator for generator in GENERATORS]
)
def test_gradients_are_central_differences(generator: Generator) -> None:
    @profile(3)
    @given(st.composite(generator)(tb.float64), st.integers(0, 1 << 20))
    def agree(call: Invocation, seed: int) -> None:
        with tb.precision(64):
            problem = differentiable(Problem(call, seed))
            loss = traced(problem.loss, problem.points)
            gradient = traced(tb.grad(problem.loss), problem.points)
            problem.assert_slope(gradient(problem.points), lambda x: loss(x)[0], "first")

    agree()
