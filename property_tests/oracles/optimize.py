"""Oracles of optimisers and schedules: the formulas of the papers in NumPy's double precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import DType, finfo
from tensorbackend.interchange import numpy_dtype
from tensorbackend.optimize import GradientTransformation
from tensorbackend.protocol import Backend
from tensorbackend.testing.strategies import Draw

from .table import INEXACT, Recorder, law, wide

Steps = Iterator[list[Any]]
"""The updates of the leaves in each step."""
Formula = Callable[[list[Any], Steps], Steps]
"""What a transformation does to the gradients of some parameters, leaf by leaf."""


# Transformations of gradients


def scaled(factor: float | Callable[[int], float], steps: Steps) -> Steps:
    for count, leaves in enumerate(steps):
        yield [(factor(count) if callable(factor) else factor) * leaf for leaf in leaves]


def accumulated(decay: float, nesterov: bool, steps: Steps) -> Steps:
    totals: Any = None
    for leaves in steps:
        totals = (
            leaves if totals is None else [leaf + decay * total for leaf, total in zip(leaves, totals, strict=True)]
        )
        yield [leaf + decay * total for leaf, total in zip(leaves, totals, strict=True)] if nesterov else totals


def adapted(b1: float, b2: float, epsilon: float, steps: Steps) -> Steps:
    first = second = None
    for count, leaves in enumerate(steps, 1):
        first, second = first or [0.0] * len(leaves), second or [0.0] * len(leaves)
        first = [b1 * mean + (1 - b1) * leaf for mean, leaf in zip(first, leaves, strict=True)]
        second = [b2 * mean + (1 - b2) * numpy.abs(leaf) ** 2 for mean, leaf in zip(second, leaves, strict=True)]
        roots = [numpy.sqrt(mean / (1 - b2**count)) for mean in second]
        yield [mean / (1 - b1**count) / (root + epsilon) for mean, root in zip(first, roots, strict=True)]


def decayed(decay: float, parameters: list[Any], steps: Steps) -> Steps:
    for leaves in steps:
        yield [leaf + decay * x for leaf, x in zip(leaves, parameters, strict=True)]


def norm(leaves: list[Any]) -> float:
    return math.hypot(*(part for leaf in leaves for x in numpy.ravel(leaf) for part in (x.real, x.imag)))


def clipped(most: float, steps: Steps) -> Steps:
    for leaves in steps:
        size = norm(leaves)
        yield [leaf if size <= most else leaf * (most / size) for leaf in leaves]


def falling(count: int) -> float:
    """What `optimize.exponential_decay(0.5, 2, 0.25)` is."""
    return 0.5 * float(0.25 ** (count / 2))


def drawn_rate(draw: Draw) -> tuple[Any, float | Callable[[int], float]]:
    """A rate, and its negative for a formula."""
    rate = draw(st.sampled_from([0.0, 0.1, 1.0, 1e-3]) | st.none())
    if rate is not None:
        return rate, -rate
    return tb.optimize.exponential_decay(0.5, 2, 0.25), lambda count: -falling(count)


def leaf(draw: Draw, dtype: DType, shape: tuple[int, ...], most: int = 30) -> tb.Tensor:
    """A tensor of numbers that the dtype holds: zeros, and magnitudes between powers of 10 where it holds them."""
    limits = finfo(dtype)
    powers = [
        power for power in (-most, -12, -4, 4, 12, most) if limits.smallest_normal < 10.0**power < limits.max / 100
    ]
    scales = st.sampled_from([1.0] * 4 + [10.0**power for power in powers])
    numbers = st.floats(0.125, 8).flatmap(lambda x: st.sampled_from([x, -x])) | st.just(0.0)
    size = math.prod(shape)
    count = 2 * size if dtype.is_complex else size
    array = numpy.array(draw(st.lists(numbers, min_size=count, max_size=count))) * draw(scales)
    if dtype.is_complex:
        array = array[:size] + 1j * array[size:]
    return tb.asarray(array.reshape(shape), dtype=dtype, backend="binary")


SHAPES: list[tuple[int, ...]] = [(3,), (), (2, 1), (0,)]


def drawn_tree(draw: Draw, dtype: DType, shapes: list[tuple[int, ...]], most: int = 30) -> dict[str, tb.Tensor]:
    return {f"x{place}": leaf(draw, dtype, shape, most) for place, shape in enumerate(shapes)}


SQUARED = 12
"""The largest power of 10 for Adam, which squares gradients in float32: those of 1e20 are infinite."""


def check_steps(draw: Draw, backend: Backend, made: GradientTransformation, formula: Formula, most: int = 30) -> None:
    """Run some steps in any dtype, with `tb.jit` and without, and compare each update with the formula's."""
    dtype = draw(st.sampled_from(INEXACT))
    shapes = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3))
    drawn = [drawn_tree(draw, dtype, shapes, most) for _ in range(draw(st.integers(2, 5)))]
    parameters, gradients = drawn[0], drawn[1:]

    def moved(tree: dict[str, tb.Tensor]) -> Any:
        return {key: tb.backend_copy(x, backend) for key, x in tree.items()}

    def arrays(absolute: bool, tree: dict[str, tb.Tensor]) -> list[Any]:
        return [numpy.abs(wide(x)) if absolute else wide(x) for x in tree.values()]

    update = tb.jit(made.update) if draw(st.booleans()) else made.update
    state = made.init(moved(parameters))
    with numpy.errstate(all="ignore"):
        wanted, terms = (
            formula(arrays(absolute, parameters), iter([arrays(absolute, tree) for tree in gradients]))
            for absolute in (False, True)
        )
        for tree, want, sizes in zip(gradients, wanted, terms, strict=True):
            updates, state = update(moved(tree), state, moved(parameters))
            for x, array, size in zip(updates.values(), want, sizes, strict=True):
                check_update(x, array, size, dtype)


def check_update(x: tb.Tensor, wanted: Any, size: Any, dtype: DType) -> None:
    """Within a rounding of the dtype, and those of a few steps in float32 or wider of terms that may cancel."""
    assert x.dtype is dtype
    assert x.shape == wanted.shape
    limits = finfo(dtype)
    working = min(float(limits.eps), 2.0**-23)
    subnormal = float(limits.smallest_normal) * float(limits.eps)
    # Moments that are subnormals in float32 are divided by epsilon, which may be 1e-8.
    bound = 0.51 * float(limits.eps) * numpy.abs(wanted) + 64 * working * numpy.abs(size) + subnormal + 1e-36
    off = numpy.abs(wide(x) - wanted)
    fits = numpy.abs(wanted) < float(limits.max)
    assert ((off <= bound) | ~fits).all(), (x, wanted, off / bound)
    assert (fits | ~numpy.isfinite(wide(x)) | (numpy.abs(wide(x)) > 0.99 * float(limits.max))).all(), (x, wanted)


@law("optimize.scale", by="NumPy")
def scale(draw: Draw, run: Recorder, backend: Backend) -> None:
    factor = draw(st.sampled_from([0.0, -1.0, 0.1, 2.0, -0.3]))
    check_steps(draw, backend, run(factor), lambda x, steps: scaled(factor, steps))


@law("optimize.scale_by_rate", by="NumPy")
def scale_by_rate(draw: Draw, run: Recorder, backend: Backend) -> None:
    rate, factor = drawn_rate(draw)
    check_steps(draw, backend, run(rate), lambda x, steps: scaled(factor, steps))


@law("optimize.trace", by="NumPy")
def trace(draw: Draw, run: Recorder, backend: Backend) -> None:
    decay, nesterov = draw(st.sampled_from([0.0, 0.5, 0.9])), draw(st.booleans())
    check_steps(draw, backend, run(decay, nesterov=nesterov), lambda x, steps: accumulated(decay, nesterov, steps))


@law("optimize.sgd", by="NumPy")
def sgd(draw: Draw, run: Recorder, backend: Backend) -> None:
    rate, factor = drawn_rate(draw)
    momentum, nesterov = draw(st.sampled_from([0.0, 0.5, 0.9])), draw(st.booleans())
    made = run(rate, momentum=momentum, nesterov=nesterov)
    check_steps(draw, backend, made, lambda x, steps: scaled(factor, accumulated(momentum, nesterov, steps)))


def drawn_moments(draw: Draw) -> dict[str, float]:
    return {
        "b1": draw(st.sampled_from([0.9, 0.0, 0.5])),
        "b2": draw(st.sampled_from([0.999, 0.0, 0.9])),
        "epsilon": draw(st.sampled_from([1e-8, 1e-3])),
    }


def drawn_dtype_of_moments(draw: Draw) -> dict[str, Any]:
    """An option that does not make the steps less exact."""
    return draw(st.sampled_from([{}, {"moments_dtype": None}, {"moments_dtype": "float64"}]))


@law("optimize.scale_by_adam", by="NumPy")
def scale_by_adam(draw: Draw, run: Recorder, backend: Backend) -> None:
    options = drawn_moments(draw)
    made = run(**options, **drawn_dtype_of_moments(draw))
    check_steps(draw, backend, made, lambda x, steps: adapted(**options, steps=steps), SQUARED)


@law("optimize.adam", by="NumPy")
def adam(draw: Draw, run: Recorder, backend: Backend) -> None:
    (rate, factor), options = drawn_rate(draw), drawn_moments(draw)
    made = run(rate, **options, **drawn_dtype_of_moments(draw))
    check_steps(draw, backend, made, lambda x, steps: scaled(factor, adapted(**options, steps=steps)), SQUARED)


@law("optimize.adamw", by="NumPy")
def adamw(draw: Draw, run: Recorder, backend: Backend) -> None:
    (rate, factor), options = drawn_rate(draw), drawn_moments(draw)
    decay = draw(st.sampled_from([0.01, 0.0, 0.5]))
    everything, mask = drawn_mask(draw)

    def formula(parameters: list[Any], steps: Steps) -> Steps:
        return scaled(factor, decayed(decay * everything, parameters, adapted(**options, steps=steps)))

    made = run(rate, **options, decay=decay, mask=mask, **drawn_dtype_of_moments(draw))
    check_steps(draw, backend, made, formula, SQUARED)


def drawn_mask(draw: Draw) -> tuple[bool, Any]:
    """Whether all parameters decay or none, and a mask that says so."""
    everything = draw(st.booleans())
    mask = lambda parameters: tb.tree_map(lambda x: everything, parameters)  # noqa: E731
    return everything, draw(st.sampled_from([None, mask])) if everything else mask


# Parts of optimisers


@law("optimize.accumulate", by="NumPy")
def accumulate(draw: Draw, run: Recorder, backend: Backend) -> None:
    """Of two gradients in a mean, by descent with momentum."""
    number = draw(st.integers(1, 3))
    made = run(tb.optimize.sgd(0.5, momentum=0.5), number)
    state, momentum, seen = made.init(tb.zeros(2, backend=backend)), numpy.zeros(2), []
    for _ in range(4):
        seen.append(numpy.array([draw(st.integers(-4, 4)) for _ in range(2)], "f4"))
        update, state = made.update(tb.asarray(seen[-1], backend=backend), state, None)
        wanted = numpy.zeros(2)
        if len(seen) == number:
            momentum, seen = numpy.mean(seen, axis=0) + 0.5 * momentum, []
            wanted = -0.5 * momentum
        numpy.testing.assert_allclose(update, wanted, rtol=1e-5, atol=1e-6)


@law("optimize.scale_loss", by="definition")
def scale_loss(draw: Draw, run: Recorder, backend: Backend) -> None:
    """A finite step is that of the transformation, another one none; the factor is a power of 2 that counts both."""
    initial, interval = draw(st.sampled_from([1.0, 2.0**15, 2.0**-3])), draw(st.integers(1, 3))
    inner = tb.optimize.trace(0.5)
    made = run(inner, initial=initial, interval=interval)
    update = tb.jit(made.update) if draw(st.booleans()) else made.update
    x = tb.zeros(2, backend=backend)
    state, plain = made.init(x), inner.init(x)
    factor, finite_steps = initial, 0
    for _ in range(draw(st.integers(1, 6))):
        spoilt = draw(st.sampled_from([None, None, math.inf, math.nan]))
        numbers = numpy.array(draw(st.lists(st.integers(-8, 8), min_size=2, max_size=2)), "f4")
        assert state.scale.item() == factor
        gradient = tb.asarray(numbers * factor if spoilt is None else [1.0, spoilt], dtype="float32", backend=backend)
        updates, state = update(gradient, state, x)
        if spoilt is not None:
            factor, finite_steps = factor / 2, 0
            assert updates.tolist() == [0, 0]
            continue
        expected, plain = inner.update(tb.asarray(numbers, backend=backend), plain, x)
        assert updates.tolist() == expected.tolist()
        finite_steps += 1
        if finite_steps >= interval:
            factor, finite_steps = factor * 2, 0


@law("optimize.add_decayed_weights", by="NumPy")
def add_decayed_weights(draw: Draw, run: Recorder, backend: Backend) -> None:
    decay = draw(st.sampled_from([0.0, 0.01, 0.5]))
    everything, mask = drawn_mask(draw)
    check_steps(draw, backend, run(decay, mask=mask), lambda x, steps: decayed(decay * everything, x, steps))


@law("optimize.clip_by_global_norm", by="NumPy")
def clip_by_global_norm(draw: Draw, run: Recorder, backend: Backend) -> None:
    most = draw(st.sampled_from([1.0, 1e-3, 100.0, 1e20]))
    check_steps(draw, backend, run(most), lambda x, steps: clipped(most, steps))


@law("optimize.chain", by="NumPy")
def chain(draw: Draw, run: Recorder, backend: Backend) -> None:
    parts: list[tuple[GradientTransformation, Formula]] = [
        (tb.optimize.scale(0.5), lambda x, steps: scaled(0.5, steps)),
        (tb.optimize.trace(0.9), lambda x, steps: accumulated(0.9, False, steps)),
        (tb.optimize.add_decayed_weights(0.25), lambda x, steps: decayed(0.25, x, steps)),
        (tb.optimize.scale_by_adam(epsilon=1e-3), lambda x, steps: adapted(0.9, 0.999, 1e-3, steps)),
    ]
    chosen = draw(st.lists(st.sampled_from(parts[:3]), max_size=3)) + draw(st.sampled_from([[], parts[3:]]))

    def formula(x: list[Any], steps: Steps) -> Steps:
        for _, part in chosen:
            steps = part(x, steps)
        return steps

    check_steps(draw, backend, run(*(made for made, _ in chosen)), formula, SQUARED)


@law("optimize.apply_updates", by="NumPy")
def apply_updates(draw: Draw, run: Recorder, backend: Backend) -> None:
    dtype = draw(st.sampled_from(INEXACT))
    shapes = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3))
    parameters, updates = (drawn_tree(draw, dtype, shapes) for _ in range(2))
    out = run(*({key: tb.backend_copy(x, backend) for key, x in tree.items()} for tree in (parameters, updates)))
    for x, parameter, step in zip(out.values(), parameters.values(), updates.values(), strict=True):
        assert x.template is parameter.template
        with numpy.errstate(over="ignore"):
            rounded = numpy.asarray(wide(parameter) + wide(step)).astype(numpy_dtype(dtype))
        numpy.testing.assert_array_equal(wide(x), rounded.astype(wide(x).dtype))


@law("optimize.global_norm", by="NumPy")
def global_norm(draw: Draw, run: Recorder, backend: Backend) -> None:
    tree = {
        f"x{place}": leaf(draw, draw(st.sampled_from(INEXACT)), draw(st.sampled_from(SHAPES)))
        for place in range(draw(st.integers(1, 3)))
    }
    special = draw(st.sampled_from([None] * 4 + [math.inf, math.nan]))
    if special is not None:
        tree["special"] = tb.asarray([special], backend="binary")
    out = run({key: tb.backend_copy(x, backend) for key, x in tree.items()})
    wanted = norm([wide(x) for x in tree.values()])
    assert out.shape == ()
    numpy.testing.assert_allclose(out.item(), wanted, rtol=2e-6)


# Schedules


def check_schedule(draw: Draw, backend: Backend, made: Any, formula: Callable[[float], float]) -> None:
    counts = draw(st.lists(st.integers(0, 40), min_size=1, max_size=4))
    for count in counts:
        dtype = draw(st.sampled_from(["int32", "int64", "uint8", "float32"]))
        rate = (tb.jit(made) if draw(st.booleans()) else made)(tb.asarray(count, dtype=dtype, backend=backend))
        assert rate.shape == ()
        numpy.testing.assert_allclose(rate.item(), formula(count), rtol=1e-5, atol=1e-6)


RATES = st.sampled_from([0.5, 1.0, 0.001])


@law("optimize.exponential_decay", by="definition")
def exponential_decay(draw: Draw, run: Recorder, backend: Backend) -> None:
    rate, steps, factor = draw(RATES), draw(st.integers(1, 20)), draw(st.sampled_from([0.5, 0.9, 1.0, 2.0]))
    check_schedule(
        draw, backend, run(rate, steps, factor), lambda count: rate * math.exp(count / steps * math.log(factor))
    )


@law("optimize.cosine_decay", by="definition")
def cosine_decay(draw: Draw, run: Recorder, backend: Backend) -> None:
    rate, steps, least = draw(RATES), draw(st.integers(1, 30)), draw(st.sampled_from([0.0, 0.001, 0.1]))

    def formula(count: float) -> float:
        return least + (rate - least) * math.cos(math.pi / 2 * min(count / steps, 1)) ** 2

    check_schedule(draw, backend, run(rate, steps, least=least), formula)


@law("optimize.warmup", by="definition")
def warmup(draw: Draw, run: Recorder, backend: Backend) -> None:
    rate, steps = draw(RATES), draw(st.integers(1, 20) | st.just(200))
    after, first = (rate, lambda count: rate) if draw(st.booleans()) else (
        tb.optimize.exponential_decay(0.5, 2, 0.25), lambda count: 0.5 * 0.25 ** (max(count - steps, 0) / 2)
    )  # fmt: skip
    check_schedule(draw, backend, run(after, steps), lambda count: min(count / steps, 1) * first(count))
