"""Oracles of short-time Fourier transforms and mel filters, and of initial weights."""

from __future__ import annotations

import math
from typing import Any

import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import COMPLEX_OF, DType, finfo
from tensorbackend.protocol import Backend
from tensorbackend.rules.accuracy import Bound
from tensorbackend.testing import Invocation
from tensorbackend.testing.strategies import Draw, tensors

from .matrices import SIDES
from .table import FLOATING, Recorder, law, named, reference, wide

EIGHTHS = st.integers(-40, 40).map(lambda number: number / 8)

WINDOWS = {
    "hann": lambda turn: 0.5 - 0.5 * math.cos(turn),
    "hamming": lambda turn: 0.54 - 0.46 * math.cos(turn),
    "blackman": lambda turn: 0.42 - 0.5 * math.cos(turn) + 0.08 * math.cos(2 * turn),
    "rectangular": lambda turn: 1.0,
}


def window_of(options: dict[str, Any]) -> Any:
    """The window of a frame; a named one is periodic."""
    window, size = options.get("window", "hann"), options["frame_length"]
    if isinstance(window, tb.Tensor):
        return wide(window)
    return numpy.array([WINDOWS[window](2 * math.pi * place / size) for place in range(size)])


def framed(draw: Draw, dtype: DType) -> dict[str, Any]:
    """The sizes of frames and transforms, and a window."""
    length = draw(st.integers(1, 6))
    options: dict[str, Any] = {"frame_length": length, "frame_step": draw(st.integers(1, 4))}
    options["window"] = draw(st.sampled_from([*WINDOWS, draw(tensors(dtype, (length,), values=EIGHTHS))]))
    if draw(st.booleans()):
        options["fft_length"] = length + draw(st.integers(0, 3))
    return options


def stft_call(draw: Draw, dtype: DType) -> Invocation:
    """Signals along any axis."""
    options = framed(draw, dtype)
    sizes = {"batch": draw(st.sampled_from([1, 2, 1, 2, 0])), "time": options["frame_length"] + draw(st.integers(0, 6))}
    order = draw(st.permutations(list(sizes)))
    x = draw(tensors(dtype, tuple(sizes[name] for name in order), names=order, values=EIGHTHS))
    at = order.index("time")
    options["axis"] = draw(st.sampled_from(["time", at, at - 2]))
    return Invocation("", (x,), {**options, "name": draw(st.sampled_from([None, "frequency"]))})


SPECTRA = Bound(32, "sums of products with a window, whose elements are rounded where their cosines cancel", "operand")


@reference("nn.stft", by="NumPy", draw=stft_call, raw=True, dtypes=FLOATING, bound=SPECTRA)
def stft(call: Invocation) -> Any:
    (x,), options = call.arguments, call.options
    at, length, step = x.names.index("time"), options["frame_length"], options["frame_step"]
    array = numpy.moveaxis(wide(x), at, -1)
    starts = range(0, array.shape[-1] - length + 1, step)
    frames = numpy.stack([array[..., start : start + length] * window_of(options) for start in starts], axis=-2)
    spectra = numpy.fft.rfft(frames, options.get("fft_length"))
    names = [*x.names[:at], "time", options["name"], *x.names[at + 1 :]]
    return named(numpy.moveaxis(spectra, (-2, -1), (at, at + 1)), names)


def istft_call(draw: Draw, dtype: DType) -> Invocation:
    """Spectra of which some belong to no signal."""
    options = framed(draw, dtype)
    count = options.get("fft_length", options["frame_length"]) // 2 + 1
    kind = COMPLEX_OF.get(dtype, tb.complex64)
    first = draw(st.booleans())
    sizes = {"time": draw(st.sampled_from([1, 2, 3, 4, 0])), "frequency": count}
    sizes = {"batch": 2, **sizes} if first else {**sizes, "batch": 2}
    x = draw(tensors(kind, tuple(sizes.values()), names=tuple(sizes), values=st.builds(complex, EIGHTHS, EIGHTHS)))
    at = int(first)
    options["axis"] = draw(st.sampled_from(["time", at, at - 3]))
    return Invocation("", (x,), {**options, "size": draw(st.none() | st.integers(0, 12))})


@reference("nn.istft", by="NumPy", draw=istft_call, raw=True, dtypes=[tb.float32, tb.float64])
def istft(call: Invocation) -> Any:
    (x,), options = call.arguments, call.options
    at, length, step = x.names.index("time"), options["frame_length"], options["frame_step"]
    array = numpy.moveaxis(wide(x), (at, at + 1), (-2, -1))
    count, window = array.shape[-2], window_of(options)
    whole = (count - 1) * step + length if count else 0
    total, weight = numpy.zeros((*array.shape[:-2], whole)), numpy.zeros(whole)
    waves: Any = numpy.fft.irfft(array, options.get("fft_length", length)) if count else None
    for frame in range(count):
        run = slice(frame * step, frame * step + length)
        total[..., run] += waves[..., frame, :length] * window
        weight[run] += window * window
    # The least squares: each element is the mean of what the frames say, weighted with the squares of the window.
    signal = numpy.where(weight > 1e-10, total / numpy.where(weight > 1e-10, weight, 1), 0)
    size = whole if options["size"] is None else options["size"]
    signal = numpy.pad(signal, [(0, 0)] * (signal.ndim - 1) + [(0, max(0, size - whole))])[..., :size]
    names = [name for name in x.names if name != "frequency"]
    return named(numpy.moveaxis(signal, -1, at), names)


def mel(hertz: float, slaney: bool) -> float:
    """The pitch in mel (O'Shaughnessy 1987; Slaney 1998)."""
    if slaney:
        return hertz / (200 / 3) if hertz < 1000 else 15 + 27 * math.log(hertz / 1000, 6.4)
    return 2595 * math.log10(1 + hertz / 700)


def hertz(pitch: float, slaney: bool) -> float:
    """The frequency of a pitch, by bisection."""
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if mel(middle, slaney) < pitch else (low, middle)
    return low


@law("nn.mel_filters", by="brute force")
def mel_filters(draw: Draw, run: Any, backend: Backend) -> None:
    frequencies, filters = draw(st.sampled_from([2, 9, 33])), draw(st.sampled_from([1, 2, 4, 7]))
    options: dict[str, Any] = {
        "sample_rate": draw(st.sampled_from([16000, 44100.0])),
        "lowest": draw(st.sampled_from([0.0, 20.0, 1500.0])),
        "highest": draw(st.sampled_from([None, 3000.0, 7999.5])),
        "slaney": draw(st.booleans()),
        "dtype": draw(st.none() | st.sampled_from(FLOATING)),
        "names": draw(st.sampled_from([(None, None), ("frequency", "filter")])),
    }
    got = run(frequencies, filters, **options)
    slaney, half = options["slaney"], options["sample_rate"] / 2
    first, last = mel(options["lowest"], slaney), mel(options["highest"] or half, slaney)
    edges = [hertz(first + (last - first) * place / (filters + 1), slaney) for place in range(filters + 2)]
    want = numpy.zeros((frequencies, filters))
    for row in range(frequencies):
        at = half * row / (frequencies - 1)
        for column in range(filters):
            left, centre, right = edges[column : column + 3]
            height = max(0.0, min((at - left) / (centre - left), (right - at) / (right - centre)))
            want[row, column] = height * (2 / (right - left) if slaney else 1)
    assert got.dtype is (options["dtype"] or tb.float32)
    assert (got.shape, got.names) == (want.shape, options["names"])
    wrong = abs(wide(got) - want)
    least = 1e-13 + finfo(got.dtype).smallest_normal * finfo(got.dtype).eps
    assert (wrong <= least + finfo(got.dtype).eps * want).all(), f"{frequencies}, {filters}, {options}: got {got!r}"


# Initial weights

FAMILIES = {
    "glorot": (1.0, "fan_avg"),
    "he": (2.0, "fan_in"),
    "lecun": (1.0, "fan_in"),
}
MODES = {"inputs": "fan_in", "outputs": "fan_out", "mean": "fan_avg"}


@law("nn.variance_scaling", "nn.glorot_normal", "nn.glorot_uniform", "nn.he_normal", "nn.he_uniform",
     "nn.lecun_normal", "nn.lecun_uniform", by="JAX")  # fmt: skip
def weights(draw: Draw, run: Any, backend: Backend) -> None:
    # Few shapes, as JAX compiles its functions for each; by JAX in float32, by their moments in other dtypes.
    dtype = draw(st.sampled_from([None, tb.float32, tb.float64, tb.float16, tb.bfloat16]))
    shape = draw(st.sampled_from([(3, 5), (2, 3, 4)] if dtype in (None, tb.float32) else [(30, 50), (8, 15, 12)]))
    options: dict[str, Any] = {"dtype": dtype, "names": draw(st.sampled_from([None, ("a", "b", "c")[: len(shape)]]))}
    places = [len(shape) - 2, len(shape) - 1]
    if draw(st.booleans()):
        places = draw(st.permutations(range(len(shape))))[:2]
        options["inputs"], options["outputs"] = places[0], places[1] - len(shape)
        if options["names"] is not None and draw(st.booleans()):
            options["inputs"] = options["names"][places[0]]
    seed = draw(st.integers(0, 2**31 - 1))
    family, _, kind = run.name.removeprefix("nn.").partition("_")
    if family == "variance":
        scale, fan = draw(st.sampled_from([1.0, 2.0, 0.3])), draw(st.sampled_from(list(MODES)))
        kind = draw(st.sampled_from(["normal", "truncated normal", "uniform"]))
        options |= {"scale": scale, "fan": fan, "distribution": kind}
        mode = MODES[fan]
    else:
        scale, mode = FAMILIES[family]
        kind = {"normal": "truncated normal"}.get(kind, kind)
    got = run(tb.random.key(seed, backend=backend), shape, **options)
    assert (got.shape, got.names) == (shape, options["names"] or (None,) * len(shape))
    assert got.dtype is (dtype or tb.float32)
    result = wide(got)
    if dtype in (None, tb.float32):
        import jax  # as some Pythons lack it

        made: Any = jax.nn.initializers.variance_scaling(
            scale,
            mode,  # type: ignore[arg-type] # a text
            kind.replace(" ", "_"),
            *places,
        )
        want = numpy.asarray(made(jax.random.key(seed), shape, "float32")).astype(float)
        # The numbers of normal distributions are by another inverse of the error function.
        near = abs(result - want) <= 64 * finfo(tb.float32).eps * numpy.maximum(abs(want), 1 / 64)
        assert near.all(), f"{shape} {options}: expected {want}, got {got!r}"
        return
    size = math.prod(shape)
    fans = [size / shape[place] for place in reversed(places)]  # the size of the rest times that of the axis
    count = {"fan_in": fans[0], "fan_out": fans[1], "fan_avg": sum(fans) / 2}[mode]
    deviation = math.sqrt(scale / count)
    most = {"uniform": math.sqrt(3), "truncated normal": 2 / 0.87962566103423978, "normal": 6.0}[kind]
    assert abs(result).max() <= most * deviation * (1 + 2 * finfo(got.dtype).eps), f"{shape} {options}: got {got!r}"
    assert abs(result.mean()) <= 6 * deviation / math.sqrt(size), f"{shape} {options}: got {got!r}"
    assert abs(result.std() / deviation - 1) <= 6 / math.sqrt(2 * size), f"{shape} {options}: got {got!r}"


@law("nn.orthogonal", by="definition")
def orthogonal(draw: Draw, run: Any, backend: Backend) -> None:
    shape = tuple(draw(SIDES) for _ in range(draw(st.integers(2, 4))))
    scale, dtype = draw(st.sampled_from([1.0, 0.5, -2.0])), draw(st.sampled_from([None, *FLOATING]))
    names = draw(st.sampled_from([None, ("a", "b", "c", "d")[: len(shape)]]))
    at = draw(st.integers(0, len(shape) - 1))
    outputs = draw(st.sampled_from([at, at - len(shape), *([names[at]] if names else [])]))
    seed = draw(st.integers(0, 2**40))
    got = run(tb.random.key(seed, backend=backend), shape, scale=scale, outputs=outputs, dtype=dtype, names=names)
    assert (got.shape, got.names) == (shape, names or (None,) * len(shape))
    assert got.dtype is (dtype or tb.float32)
    matrix = numpy.moveaxis(wide(got), at, -1)
    matrix = matrix.reshape(math.prod(matrix.shape[:-1]), matrix.shape[-1])
    square = matrix.T @ matrix if len(matrix) >= matrix.shape[1] else matrix @ matrix.T
    wrong = abs(square - scale**2 * numpy.eye(len(square)))
    assert (wrong <= 32 * max(1, *matrix.shape) * finfo(got.dtype).eps * scale**2).all(), f"{shape}: got {got!r}"


@law("nn.hann", "nn.hamming", "nn.blackman", "nn.kaiser", by="SciPy")
def window_functions(draw: Draw, run: Recorder, backend: Backend) -> None:
    from scipy.signal import windows

    name = run.name.rpartition(".")[2]
    size, periodic = draw(st.integers(0, 20)), draw(st.booleans())
    more = (draw(st.sampled_from([0.0, 2.5, 14.0])),) if name == "kaiser" else ()
    dtype, axis = draw(st.sampled_from([None, "float64"])), draw(st.sampled_from([None, "time"]))
    out = run(size, *more, periodic=periodic, dtype=dtype, name=axis, backend=backend)
    assert out.names == (axis,)
    wanted = getattr(windows, name)(size, *more, sym=not periodic)
    numpy.testing.assert_allclose(out, wanted, rtol=0, atol=1e-14 if dtype else 1e-7)
