"""Optimisers over many steps, against the formulas of the papers in NumPy's float64 and complex128."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend import optimize
from tensorbackend.expr.trees import flatten
from tensorbackend.optimize import GradientTransformation
from tensorbackend.testing import profile

STEPS = 50
DTYPES = [tb.float16, tb.bfloat16, tb.float32, tb.float64, tb.complex64, tb.complex128]
Array = Any
Run = Iterator[Array]
"""The updates of a run, one for each gradient."""


def moved(rate: float | Callable[[int], float], directions: Run) -> Run:
    for count, direction in enumerate(directions):
        yield -(rate(count) if callable(rate) else rate) * direction


def momentum(decay: float, nesterov: bool, gradients: Run) -> Run:
    total: Array = 0.0
    for g in gradients:
        total = g + decay * total
        yield g + decay * total if nesterov else total


def adam(gradients: Run, b1: float = 0.9, b2: float = 0.999, epsilon: float = 1e-8) -> Run:
    first: Array = 0.0
    second: Array = 0.0
    for count, g in enumerate(gradients, 1):
        first = b1 * first + (1 - b1) * g
        second = b2 * second + (1 - b2) * numpy.abs(g) ** 2
        yield first / (1 - b1**count) / (numpy.sqrt(second / (1 - b2**count)) + epsilon)


def rms(gradients: Run, decay: float = 0.9, epsilon: float = 1e-8) -> Run:
    second: Array = 0.0
    for g in gradients:
        second = decay * second + (1 - decay) * numpy.abs(g) ** 2
        yield g / numpy.sqrt(second + epsilon)


def clipped(most: float, gradients: Run) -> Run:
    for g in gradients:
        norm = numpy.sqrt(numpy.sum(numpy.abs(g) ** 2))
        yield g if norm <= most else g * (most / norm)


def decayed(decay: float, x: Array, gradients: Run) -> Run:
    for g in gradients:
        yield g + decay * x


def cosine(count: int) -> float:
    return 0.01 + 0.09 * 0.5 * (1 + math.cos(math.pi * min(count / 30, 1.0)))


def warm(count: int) -> float:
    share, decays = min(count / 8, 1.0), max(count - 8, 0) / 10
    return share * 0.5 * float(0.25**decays)


# Each optimiser of ours, and what it does to gradients at fixed parameters.
CASES: dict[str, tuple[Callable[[], GradientTransformation], Callable[[Array, Run], Run]]] = {
    "sgd": (lambda: optimize.sgd(0.1), lambda x, g: moved(0.1, g)),
    "momentum": (lambda: optimize.sgd(0.1, momentum=0.9), lambda x, g: moved(0.1, momentum(0.9, False, g))),
    "nesterov": (
        lambda: optimize.sgd(0.1, momentum=0.9, nesterov=True),
        lambda x, g: moved(0.1, momentum(0.9, True, g)),
    ),
    "adam": (lambda: optimize.adam(1e-3), lambda x, g: moved(1e-3, adam(g))),
    "adam with other decays": (
        lambda: optimize.adam(0.1, b1=0.0, b2=0.5, epsilon=1e-4),
        lambda x, g: moved(0.1, adam(g, 0.0, 0.5, 1e-4)),
    ),
    "adamw": (lambda: optimize.adamw(1e-2, decay=0.1), lambda x, g: moved(1e-2, decayed(0.1, x, adam(g)))),
    "loss scaled": (lambda: optimize.scale_loss(optimize.sgd(0.1), initial=1.0), lambda x, g: moved(0.1, g)),
    "clipped": (lambda: optimize.clip_by_global_norm(0.5), lambda x, g: clipped(0.5, g)),
    "rmsprop": (lambda: optimize.rmsprop(0.1), lambda x, g: moved(0.1, rms(g))),
    "decayed": (
        lambda: optimize.chain(optimize.add_decayed_weights(0.25), optimize.sgd(0.1)),
        lambda x, g: moved(0.1, decayed(0.25, x, g)),
    ),
    "scaled": (lambda: optimize.scale(1e-6), lambda x, g: moved(-1e-6, g)),
    "chain": (
        lambda: optimize.chain(optimize.clip_by_global_norm(0.5), optimize.adamw(0.1, decay=0.01)),
        lambda x, g: moved(0.1, decayed(0.01, x, adam(clipped(0.5, g)))),
    ),
    "cosine": (lambda: optimize.adam(optimize.cosine_decay(0.1, 30, least=0.01)), lambda x, g: moved(cosine, adam(g))),
    "warmup": (
        lambda: optimize.sgd(optimize.warmup(optimize.exponential_decay(0.5, 10, 0.25), 8)),
        lambda x, g: moved(warm, g),
    ),
}

BESIDE_OPTAX = {"accumulate", "adafactor", "lion", "moving_average"}
"""Those that take signs, or wait for several gradients: their oracles compare steps with optax's."""

UNSQUARED = {"sgd", "momentum", "nesterov", "clipped", "decayed", "scaled", "warmup"}
"""The cases that do not square gradients, or scale them first."""

# Magnitudes of float32 and wider; those that a narrow dtype cannot hold become 0 or infinite in it, and are left out.
MAGNITUDES = [0.0, 1e-44, 1e-39, 1e-30, 1e-20, 1e-8, 6e-8, 1e-4, 3e-4, 1e-2, 1.0, 20.0, 300.0, 691.0, 6e4, 1e10, 1e17]
# Adam squares gradients in float32, as optax and PyTorch do: of a gradient beyond 1e19 the square is infinite there.
BEYOND = [1e20, 1e30]


def held(dtype: tb.DType, values: list[float] | list[complex]) -> tb.Tensor:
    """Finite numbers in a dtype."""
    x = tb.asarray(numpy.asarray(values, "complex128" if dtype.is_complex else "float64"))
    return tb.where(tb.isfinite(tb.astype(x, dtype)), tb.astype(x, dtype), tb.asarray(1, dtype=dtype))


def number(dtype: tb.DType, case: str = "adam") -> st.SearchStrategy[Any]:
    """A number whose magnitude is one of the list or between 0.1 and 10."""
    real = st.builds(
        lambda magnitude, factor: magnitude * factor,
        st.sampled_from([*MAGNITUDES, *(BEYOND if case in UNSQUARED else []), *[1.0] * len(MAGNITUDES)]),
        st.floats(0.1, 10).flatmap(lambda x: st.sampled_from([x, -x])),
    )
    return st.builds(complex, real, real) if dtype.is_complex else real


def wide(x: tb.Tensor) -> Array:
    return numpy.asarray(x.astype("complex128" if x.dtype.is_complex else "float64"))


def assert_close(ours: tb.Tensor, wanted: Array, terms: Array, case: str) -> None:
    """Within a rounding of the dtype, and the roundings of 50 steps in float32 or wider, of terms that may cancel."""
    limits = tb.finfo(ours.dtype)
    working = min(limits.eps, 2.0**-23)
    share = 200 * working + (1e-5 if case in ("cosine", "warmup") else 0)  # rates are float32
    subnormal = limits.smallest_normal * limits.eps
    of_state = STEPS * min(subnormal, 2.0**-149) / 1e-8  # moments that are subnormals, divided by epsilon
    bound = 0.51 * limits.eps * numpy.abs(wanted) + share * numpy.abs(terms) + subnormal + of_state
    fits = numpy.isfinite(wide(tb.astype(tb.asarray(wanted), ours.dtype)))
    off = numpy.abs(wide(ours) - wanted)
    assert numpy.all((off <= bound)[fits]), (ours, wanted, off / bound)


def test_every_transformation_has_a_case() -> None:
    """So that each runs with complex parameters too."""
    parts = {"trace": "sgd", "scale_by_adam": "adam", "scale_by_rate": "sgd", "scale_by_rms": "rmsprop"}
    named = {name for make, _ in CASES.values() for name in make.__code__.co_names}
    functions = [getattr(optimize, name) for name in dir(optimize) if not name.startswith("_")]
    makers = {
        function.__name__
        for function in functions
        if inspect.isfunction(function) and inspect.signature(function).return_annotation == "GradientTransformation"
    }
    assert {"sgd", "adam"} <= makers
    assert {parts.get(name, name) for name in makers} <= named | BESIDE_OPTAX


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_updates_are_those_of_the_formulas(case: str, dtype: tb.DType) -> None:
    make, formula = CASES[case]

    @profile(4)
    @given(st.data())
    def run(data: st.DataObject) -> None:
        count = data.draw(st.integers(1, 4))
        few = data.draw(st.lists(st.lists(number(dtype, case), min_size=count, max_size=count), min_size=1, max_size=5))
        drawn = [held(dtype, values) for values in few]
        gradients = [drawn[step % len(drawn)] for step in range(STEPS)]
        x = held(dtype, data.draw(st.lists(number(dtype), min_size=count, max_size=count)))
        transformation = make()
        step = tb.jit(transformation.update)
        state = transformation.init(x)
        templates = [leaf.template for leaf in flatten(state)[0]]
        with numpy.errstate(all="ignore"):
            updates = formula(wide(x), (wide(g) for g in gradients))
            terms = formula(numpy.abs(wide(x)), (numpy.abs(wide(g)) for g in gradients))
            for g, wanted, parts in zip(gradients, updates, terms, strict=True):
                update, state = step(g, state, x)
                assert update.template is g.template
                assert_close(update, wanted, parts, case)
        assert [leaf.template for leaf in flatten(state)[0]] == templates

    run()
