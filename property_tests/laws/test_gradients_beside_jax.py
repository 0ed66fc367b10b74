"""Derivatives of functions of rows at hard points, against JAX in double precision.

Hard points are rows with ties, zeros, equal elements, whole numbers, magnitudes from 1e-150 to 1e150, and rows in which
one element is NaN or infinite. Gradients, tangents and second derivatives are judged wherever JAX's are finite, within
what a rounding of the row changes in JAX's; elementwise ops have a law of their own, `test_gradients_at_hard_points`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.testing import profile

Array = Any
Function = Callable[[Any], Any]
Directional = Callable[[Any, Any], Any]
"""A function of a row and a direction."""

ROWS, SIZE = 44, 5
ZEROS = ("ties", "zeros", "nothing", "whole")
"""The kinds of rows in which elements are 0."""

WEIGHTS = np.cos(np.arange(1.0, 200.0))


def kinds(random: np.random.Generator) -> dict[str, Callable[[], Array]]:
    """A row of each kind."""

    def normal() -> Array:
        return random.normal(size=SIZE)

    def holding(element: float) -> Array:
        row = normal()
        row[random.integers(SIZE)] = element
        return row

    return {
        "normal": normal,
        "ties": lambda: random.integers(-1, 2, SIZE) * 1.0,
        "zeros": lambda: normal() * (random.random(SIZE) < 0.4),
        "nothing": lambda: np.zeros(SIZE),
        "equal": lambda: np.full(SIZE, random.choice([-1, 1]) * 10.0 ** random.uniform(-20, 20)),
        "whole": lambda: random.integers(-4, 5, SIZE) * 1.0,
        "large": lambda: normal() * 10.0 ** random.integers(3, 150),
        "small": lambda: normal() * 10.0 ** -random.integers(3, 150).astype(float),
        "mixed": lambda: normal() * 10.0 ** random.uniform(-100, 100, SIZE),
        "nan": lambda: holding(np.nan),
        "infinite": lambda: holding(random.choice([-np.inf, np.inf])),
    }


KINDS = tuple(kinds(np.random.default_rng(0)))


class Twin(NamedTuple):
    """One function of a row in both libraries."""

    ours: Function
    theirs: Function
    apart: tuple[str, ...] = ()
    """The kinds of rows at which the two differ by convention."""


def centred(x: Any, mean: Any, size: Any, epsilon: float) -> Any:
    return (x - mean) / (size + epsilon) ** 0.5


BACK = slice(None, None, -1)
nn, linalg = tb.nn, tb.linalg
SEGMENTS = np.array([1, 0, 1, 3, 1])

# JAX gives the slope 1 of |x| at 0, where ours is 0, and divides extremes by halves where ours go to all equal ones.
TWINS: dict[str, Twin] = {
    "logsumexp": Twin(tb.logsumexp, jax.nn.logsumexp),
    "softmax": Twin(tb.softmax, jax.nn.softmax),
    "log_softmax": Twin(tb.log_softmax, jax.nn.log_softmax),
    "masked_softmax": Twin(
        lambda x: nn.masked_softmax(x, x > 0), lambda x: jax.nn.softmax(x, where=x > 0), ("nothing", "nan", "equal")
    ),
    "cross_entropy": Twin(
        lambda x: nn.sparse_cross_entropy(x, tb.asarray(2)), lambda x: jax.nn.logsumexp(x) - x[2], ("infinite",)
    ),
    "logaddexp": Twin(lambda x: tb.logaddexp(x, x[BACK]), lambda x: jnp.logaddexp(x, x[BACK]), ("infinite",)),
    "sum": Twin(tb.sum, jnp.sum),
    "mean": Twin(tb.mean, jnp.mean),
    "prod": Twin(tb.prod, jnp.prod),
    "max": Twin(tb.max, jnp.max),
    "min": Twin(tb.min, jnp.min),
    "var": Twin(tb.var, jnp.var, ("equal",)),  # of which JAX's mean is rounded, so that derivatives are not 0
    "std": Twin(lambda x: tb.std(x, correction=1), lambda x: jnp.std(x, ddof=1)),
    "covariance": Twin(
        lambda x: tb.covariance(tb.stack([x, x * x], axis=-1), correction=1),
        lambda x: jnp.cov(jnp.stack([x, x * x])),
        ("nan", "infinite"),
    ),
    "weighted_mean": Twin(
        lambda x: tb.weighted_mean(x, tb.abs(x) + 1), lambda x: jnp.average(x, weights=abs(x) + 1), ZEROS
    ),
    "median": Twin(tb.median, jnp.median),
    "quantile": Twin(lambda x: tb.quantile(x, 0.3), lambda x: jnp.quantile(x, 0.3)),
    "norm": Twin(linalg.vector_norm, jnp.linalg.norm),
    "norm 1": Twin(lambda x: linalg.vector_norm(x, ord=1), lambda x: jnp.linalg.norm(x, ord=1), (*ZEROS, "nan")),
    "norm 3": Twin(lambda x: linalg.vector_norm(x, ord=3), lambda x: jnp.linalg.norm(x, ord=3)),
    "norm -1": Twin(
        lambda x: linalg.vector_norm(x, ord=-1), lambda x: jnp.linalg.norm(x, ord=-1), (*ZEROS, "infinite", "mixed")
    ),
    "greatest": Twin(lambda x: linalg.vector_norm(x, ord=np.inf), lambda x: jnp.linalg.norm(x, ord=np.inf), ZEROS),
    "cumulative_sum": Twin(tb.cumulative_sum, jnp.cumsum),
    "cumulative_prod": Twin(tb.cumulative_prod, jnp.cumprod),
    "cumulative_max": Twin(tb.cumulative_max, jax.lax.cummax, (*ZEROS, "equal", "nan")),
    "sort": Twin(tb.sort, jnp.sort),
    "top_k": Twin(lambda x: tb.top_k(x, 2)[0], lambda x: jax.lax.top_k(x, 2)[0], ("zeros",)),
    "element at argmax": Twin(lambda x: tb.take(x, tb.argmax(x)), lambda x: x[jnp.argmax(x)]),
    "clip": Twin(lambda x: tb.clip(x, -0.5, 1.5), lambda x: jnp.clip(x, -0.5, 1.5)),
    "clip to the middle": Twin(
        lambda x: tb.clip(x, tb.min(x) / 2, tb.max(x) / 2),
        lambda x: jnp.clip(x, x.min() / 2, x.max() / 2),
        ("nothing",),
    ),
    "maximum": Twin(lambda x: tb.maximum(x, x[BACK]), lambda x: jnp.maximum(x, x[BACK])),
    "where": Twin(
        lambda x: tb.where(x > 0, tb.log(tb.where(x > 0, x, 1.0)), x),
        lambda x: jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1.0)), x),
    ),
    "diff": Twin(lambda x: tb.diff(x) ** 2, lambda x: jnp.diff(x) ** 2),
    "quotients": Twin(lambda x: x / x[BACK], lambda x: x / x[BACK]),
    "squares": Twin(lambda x: x**2, lambda x: x**2),
    "cubes": Twin(lambda x: x**3.0, lambda x: x**3.0),
    "inverses": Twin(lambda x: x**-1, lambda x: x**-1),
    "roots": Twin(lambda x: tb.sqrt(x * x + 1), lambda x: jnp.sqrt(x * x + 1)),
    "powers": Twin(lambda x: (1 + x * x) ** x, lambda x: (1 + x * x) ** x),
    "atan2": Twin(
        lambda x: tb.atan2(x, x[BACK]), lambda x: jnp.arctan2(x, x[BACK]), ("large", "small", "mixed", "equal")
    ),
    "hypot": Twin(lambda x: tb.hypot(x, x[BACK]), lambda x: jnp.hypot(x, x[BACK]), (*ZEROS, "equal", "infinite")),
    "layer_norm": Twin(
        lambda x: nn.layer_norm(x, axis=0), lambda x: centred(x, x.mean(), x.var(), 1e-5), ("large", "mixed", "equal")
    ),
    "rms_norm": Twin(
        lambda x: nn.rms_norm(x, axis=0, epsilon=1e-5),
        lambda x: centred(x, 0.0, (x * x).mean(), 1e-5),
        ("large", "mixed"),
    ),
    "segment_max": Twin(
        lambda x: tb.segment_max(x, tb.asarray(SEGMENTS), size=4)[:2],
        lambda x: jax.ops.segment_max(x, SEGMENTS, 4)[:2],
        (*ZEROS, "equal"),
    ),
    "segment_logsumexp": Twin(
        lambda x: tb.segment_logsumexp(x, tb.asarray(SEGMENTS), size=4)[:2],
        lambda x: jnp.stack([x[1], jax.nn.logsumexp(x[jnp.array([0, 2, 4])])]),
        ("infinite", "nan"),
    ),
    "segment_sum": Twin(
        lambda x: tb.segment_sum(x * x, tb.asarray(SEGMENTS), size=4), lambda x: jax.ops.segment_sum(x * x, SEGMENTS, 4)
    ),
    "windows": Twin(
        lambda x: tb.window_sum(x * x, 2, strides=2), lambda x: (x * x)[:4:2] + (x * x)[1:4:2], ("nan", "infinite")
    ),
    "outer": Twin(lambda x: tb.tanh(x[:, None] - x[None, :]), lambda x: jnp.tanh(x[:, None] - x[None, :])),
    "product": Twin(
        lambda x: tb.tanh(tb.matmul(tb.outer(x, x), x)), lambda x: jnp.tanh(jnp.outer(x, x) @ x), ("large", "mixed")
    ),
    "einsum": Twin(
        lambda x: tb.einsum("i,i,j->j", x, x, x), lambda x: jnp.einsum("i,i,j->j", x, x, x), ("infinite", "nan")
    ),
    "det": Twin(
        lambda x: linalg.det(tb.reshape(x[:4], (2, 2))), lambda x: x[0] * x[3] - x[1] * x[2], ("nan", "infinite")
    ),
    "solve": Twin(
        lambda x: linalg.solve(tb.reshape(x[:4], (2, 2)) + 9 * tb.eye(2, dtype="f64"), x[3:]),
        lambda x: jnp.linalg.solve(x[:4].reshape(2, 2) + 9 * jnp.eye(2), x[3:]),
        ("large", "mixed", "equal", "nan", "infinite"),
    ),
    "complex magnitudes": Twin(
        lambda x: tb.abs(tb.complex(x, x[BACK])), lambda x: abs(jax.lax.complex(x, x[BACK])), ZEROS
    ),
    "complex products": Twin(
        lambda x: tb.imag(tb.complex(x, x + 1) * tb.complex(x[BACK], x)),
        lambda x: jnp.imag(jax.lax.complex(x, x + 1) * jax.lax.complex(x[BACK], x)),
        ("infinite", "nan"),
    ),
    "spectrum": Twin(
        lambda x: tb.real(tb.fft.fft(x)) ** 2, lambda x: jnp.real(jnp.fft.fft(x)) ** 2, ("infinite", "nan")
    ),
    "take": Twin(lambda x: tb.take(x, tb.asarray([0, 0, 3])), lambda x: x[jnp.array([0, 0, 3])]),
}


def rows_of(seed: int) -> tuple[list[str], Array, Array]:
    """The kinds of rows, the rows, and directions."""
    random = np.random.default_rng(seed)
    made = kinds(random)
    names = [KINDS[number % len(KINDS)] for number in range(ROWS)]
    return names, np.stack([made[name]() for name in names]), random.normal(size=(ROWS, SIZE))


def losses(twin: Twin, shape: tuple[int, ...]) -> tuple[Function, Function]:
    weights = WEIGHTS[: int(np.prod(shape))].reshape(shape)
    ours = tb.asarray(weights)
    return (lambda x: tb.sum(twin.ours(x) * ours)), (lambda x: jnp.sum(twin.theirs(x) * weights))


def derivatives(twin: Twin, shape: tuple[int, ...]) -> Iterator[tuple[str, int, Directional, Directional]]:
    """Each derivative as functions of a row and a direction, with its order."""
    ours, theirs = losses(twin, shape)
    grad = jax.grad(theirs)
    yield "gradient", 1, lambda x, v: tb.grad(ours)(x), lambda x, v: grad(x)
    yield "tangent", 1, lambda x, v: tb.jvp(ours, (x,), (v,))[1], lambda x, v: jax.jvp(theirs, (x,), (v,))[1]

    def turned(x: Any, v: Any) -> Any:
        return jax.jvp(grad, (x,), (v,))[1]

    yield "second derivative", 2, lambda x, v: tb.grad(lambda x: tb.sum(tb.grad(ours)(x) * v))(x), turned
    yield "tangent of the gradient", 2, lambda x, v: tb.jvp(tb.grad(ours), (x,), (v,))[1], turned


def judged(got: Array, wanted: Array, near: Array, floor: Array) -> Array:
    """Where a derivative is wrong; `near` is the one that is wanted next to the point."""
    got, wanted, near = (x.reshape(ROWS, -1) for x in (got, wanted, near))
    sure = np.isfinite(wanted) & np.isfinite(near)
    size = np.max(np.where(sure, abs(wanted), 0), axis=1, keepdims=True)
    with np.errstate(invalid="ignore", over="ignore"):
        allowed = 1e-9 * size + 100 * abs(near - wanted) + 1e-12 * floor[:, None] + 1e-290
        return np.any(sure & ~(abs(got - wanted) <= allowed), axis=1)


@pytest.mark.parametrize("name", TWINS)
def test_derivatives_at_hard_points(name: str) -> None:
    twin = TWINS[name]

    @profile(1)
    @given(st.integers(0, 1 << 20))
    def right(seed: int) -> None:
        names, x, v = rows_of(seed)
        apart = np.isin(names, twin.apart)
        x[apart] = v[apart]  # so that no call refuses its data
        with jax.enable_x64(True), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)
            values = np.asarray(jax.vmap(twin.theirs)(x)).reshape(ROWS, -1)
            shape = jax.eval_shape(twin.theirs, x[0]).shape
            held = np.isfinite(values).all(axis=1) | np.isin(names, ["nan", "infinite"])
            finite = np.nan_to_num(abs(values), posinf=0).max(axis=1)
            most = np.nan_to_num(abs(x), posinf=1, nan=1).max(axis=1)
            for what, order, ours, theirs in derivatives(twin, shape):
                got = np.asarray(tb.vmap(ours)(tb.asarray(x), tb.asarray(v)))
                wanted = np.asarray(jax.vmap(theirs)(x, v))
                near = np.asarray(jax.vmap(theirs)(x * (1 + 2**-50), v))  # keeps ties and zeros
                floor = finite * np.maximum(1.0, np.where(most > 0, most, 1.0) ** -order)
                wrong = judged(got, wanted, near, floor) & held
                assert not wrong.any(), (
                    what,
                    *((names[k], x[k], v[k], got[k], wanted[k]) for k in np.flatnonzero(wrong)[:2]),
                )

    right()
