"""The gamma distribution by rejection, with its derivative by the shape parameter, and what is made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..declarations.argument_errors import check_arguments
from ..dtypes import DTypeLike, finfo, float64
from ..errors import ShapeError, expected
from ..expr.grad.custom import custom_gradient
from ..expr.jit import jit
from ..expr.vmap import vmap
from ..expr.while_loops import while_loop
from ..ops.composite.random.checks import require
from ..ops.composite.random.continuous import exponential, normal, uniform
from ..ops.composite.random.threefry import split
from ..ops.composite.reduction.probabilities import softmax
from ..ops.creation.filled import full, iota, rename
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import add, logical_and, logical_or, maximum, minimum, multiply
from ..ops.elementwise.transcendental import exp, log, sqrt
from ..ops.indexing.slices import slice_basic
from ..ops.indexing.taking import take_at
from ..ops.shape import reshape
from ..ops.special import digamma, gamma_inc_l, gamma_inc_u, lgamma
from ..rules.accuracy import Bound, declare_bound
from ..template import NamesLike
from ..tensor import Tensor, TensorLike
from . import floating_kind, is_positive, named, spread_parameters, working_kind

BOUND = Bound(256, "accepted or rejected by functions with a few ulps each", "operand")

_SQUEEZE = 0.0331
"""Below 1 - 0.0331 x**4 a candidate is accepted without a logarithm, as in the paper."""


def _draw_one(key: Tensor, a: Tensor, logarithm: bool) -> Tensor:
    """One number of the gamma distribution, or its logarithm, by the method of Marsaglia and Tsang.

    Below 1 it is that for a + 1 times a power of a uniform number. Keys are split in the order of `jax.random`.
    """
    dtype = a.dtype
    whole = a >= 1
    d = where(whole, a, a + 1) - 1 / 3
    c = 1 / 3 / sqrt(d)

    def is_rejected(state: tuple[Tensor, ...]) -> Tensor:
        _, square, cube, u = state
        bound = square * 0.5 + d * (1 - cube + log(cube))
        return logical_and(u >= 1 - square * square * _SQUEEZE, log(u) >= bound)

    def next_normal(state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        keys = split(state[0])
        x = normal(slice_basic(keys, 1), (), dtype)
        return slice_basic(keys, 0), x, 1 + x * c

    def next_candidate(state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        keys = split(state[0], 3)
        first = slice_basic(keys, 1), full((), 0, dtype=dtype), full((), -1, dtype=dtype)
        _, x, v = while_loop(lambda state: state[2] <= 0, next_normal, first)
        return (
            slice_basic(keys, 0),
            multiply(x, x),
            multiply(multiply(v, v), v),
            uniform(slice_basic(keys, 2), (), dtype),
        )

    keys = split(key)
    first = slice_basic(keys, 0), *(full((), value, dtype=dtype) for value in (0, 1, 2))
    cube = while_loop(is_rejected, next_candidate, first)[2]
    of_boost = slice_basic(keys, 1)
    if logarithm:
        drawn = -exponential(of_boost, (), dtype)
        boost = where(logical_or(whole, drawn == 0), 0, drawn / a)
        # Of the least parameters it is below the smallest number of the dtype, and infinities have no difference.
        return maximum(log(d) + log(cube) + boost, -0.5 * float(finfo(dtype).max))
    boost = where(whole, 1, (1 - uniform(of_boost, (), dtype)) ** (1 / a))
    return d * cube * boost


def _draw(compiled: Callable[[Tensor, Tensor], Tensor], key: Tensor, a: Tensor) -> Tensor:
    """Numbers of the gamma distribution, each with a key of its own.

    The loops are compiled for few numbers of elements, as that takes half a second: 1000 elements are drawn as 1024,
    the last of which are the 1000th again.
    """
    flat = reshape(a, (-1,))
    count = flat.size
    if not count:
        return a
    step = max(16, 1 << count.bit_length() >> 4)  # at most an eighth more, or 15
    places = minimum(iota(-(-count // step) * step, backend=a.backend), count - 1)
    drawn = compiled(*(take_at(x, places, axis=0, mode="clip") for x in (split(key, count), flat)))
    return reshape(slice_basic(drawn, slice(0, count)), a.shape)


@jit
def _gamma(keys: Tensor, a: Tensor) -> Tensor:
    return vmap(lambda key, a: _draw_one(key, a, False))(keys, a)


@jit
def _log_gamma(keys: Tensor, a: Tensor) -> Tensor:
    return vmap(lambda key, a: _draw_one(key, a, True))(keys, a)


def _add_gradient(sampler: Callable[[Tensor, Tensor], Tensor], logarithm: bool) -> Callable[[Tensor, Tensor], Tensor]:
    """A sampler whose derivative by the shape parameter is that of the quantile at a fixed probability."""

    @custom_gradient
    def sample(key: Tensor, a: Tensor) -> Any:
        a = rename(a, *(None,) * a.ndim)  # so that other names compile nothing
        x = _draw(sampler, key, a)

        def pull(cotangent: Tensor) -> Any:
            # In float64, as a slope may be out of the range of the dtype where its weight is 0.
            wide, shape = astype(x, float64), astype(a, float64)
            if logarithm:
                slope = log_quantile_slope(shape, wide)
            else:
                zero = wide == 0
                slope = where(zero, 0.0, wide * log_quantile_slope(shape, log(where(zero, 1.0, wide))))
            return None, astype(astype(cotangent, float64) * slope, a.dtype)

        return x, pull

    return sample


standard_gamma = _add_gradient(_gamma, False)
standard_log_gamma = _add_gradient(_log_gamma, True)


def log_quantile_slope(a: Tensor, logarithm: Tensor) -> Tensor:
    """The derivative of a quantile's logarithm by the shape parameter, at a fixed probability, in float64.

    It is -dP/da / (x p(x)). Differences of five points compute dP/da, or dQ/da on the other side of the mean; their
    distance is a thousandth of the width on which P changes, so that the derivative has some ten digits. Near 0, where
    P is x**a / gamma(a + 1), it has a closed form.
    """
    near = logarithm < -100.0
    x = exp(where(near, 0.0, logarithm))
    step = minimum(a, sqrt(a)) * 1e-3
    upper = x >= a

    def tail(offset: int) -> Tensor:
        moved = a + step * float(offset)
        return where(upper, -gamma_inc_u(moved, x), gamma_inc_l(moved, x))

    first = tail(1) - tail(-1)
    second = tail(2) - tail(-2)
    by_a = (first * 8.0 - second) / (step * 12.0)
    density = exp(maximum(a * log(x) - x - lgamma(a), -700.0))
    closed = (digamma(a + 1.0) - logarithm) / a
    return where(near, closed, -(by_a / density))


_ABOVE_0 = ("a above 0", is_positive)


@declare_bound(BOUND)
@check_arguments
def gamma(
    key: TensorLike,
    /,
    a: TensorLike,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    *,
    names: NamesLike = None,
) -> Tensor:
    """Random numbers of the gamma distribution with a shape parameter and scale 1.

    Parameters
    ----------
    a : Tensor or scalar
        The shape parameter, above 0. Multiply the sample by a scale, or divide it by a rate.

    Returns
    -------
    Tensor
        The sample. Its gradient by `a` is that of the quantile at a fixed probability (implicit reparameterisation).

    References
    ----------
    Marsaglia and Tsang, "A simple method for generating gamma variables", ACM Transactions on Mathematical Software 26,
    2000. Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients", NeurIPS 2018.

    Examples
    --------
    >>> x = tb.random.gamma(tb.random.key(0), 3.0, (1000,), names=("n",))
    >>> x.template, abs(tb.mean(x).item() - 3) < 0.2
    (f32[n: 1000], True)
    """
    kind = floating_kind(dtype, a)
    key, (shape_parameter,) = spread_parameters(key, shape, working_kind(kind), a)
    require(*_ABOVE_0, a=(a, shape_parameter))
    return named(astype(standard_gamma(key, shape_parameter), kind), names, shape_parameter)


@declare_bound(BOUND)
@check_arguments
def beta(
    key: TensorLike,
    /,
    a: TensorLike,
    b: TensorLike,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    *,
    names: NamesLike = None,
) -> Tensor:
    """Random numbers of the beta distribution, from 0 to 1.

    Parameters
    ----------
    a, b : Tensor or scalar
        The parameters, above 0; the mean is a / (a + b).

    Returns
    -------
    Tensor
        The sample, with gradients by both parameters.

    Examples
    --------
    >>> x = tb.random.beta(tb.random.key(0), 2.0, 6.0, (1000,))
    >>> abs(tb.mean(x).item() - 0.25) < 0.02
    True
    """
    kind = floating_kind(dtype, a, b)
    key, (first, second) = spread_parameters(key, shape, working_kind(kind), a, b)
    require(*_ABOVE_0, a=(a, first))
    require("b above 0", is_positive, b=(b, second))
    keys = split(key)
    logs = [standard_log_gamma(slice_basic(keys, place), x) for place, x in enumerate((first, second))]
    largest = maximum(*logs)
    parts = [exp(each - largest) for each in logs]
    return named(astype(parts[0] / add(*parts), kind), names, first)


@declare_bound(BOUND)
@check_arguments
def dirichlet(
    key: TensorLike,
    /,
    alpha: TensorLike,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    *,
    names: NamesLike = None,
) -> Tensor:
    """Random probabilities of the Dirichlet distribution, which sum to 1 along the last axis.

    Parameters
    ----------
    alpha : Tensor
        The concentrations, above 0, along the last axis.
    shape : sequence of int, optional
        The shape of the leading axes; by default that of `alpha` without its last axis.
    names : sequence of str or None, optional
        The names of all axes of the sample; by default those of `alpha`.

    Returns
    -------
    Tensor
        The sample, with a gradient by the concentrations.

    Raises
    ------
    DataError
        For a concentration that is not above 0, whenever data can be read.
    DTypeError
        For a dtype that is not floating.
    ShapeError
        For an invalid key, an `alpha` without axes, and one that does not broadcast to the shape.

    Examples
    --------
    >>> alpha = tb.asarray([1.0, 2.0, 5.0], names=("class",))
    >>> p = tb.random.dirichlet(tb.random.key(0), alpha, (4,))
    >>> p.template, bool(tb.all_close(tb.sum(p, axis="class"), 1.0))
    (f32[4][class: 3], True)
    """
    sizes = getattr(alpha, "shape", ())
    if not sizes:
        remedy = "write tb.random.dirichlet(key, tb.asarray(alpha), shape)" if isinstance(alpha, list | tuple) else ""
        raise ShapeError(expected("concentrations along a last axis", remedy, alpha=alpha))
    whole = None if shape is None else (*shape, sizes[-1])
    kind = floating_kind(dtype, alpha)
    key, (concentrations,) = spread_parameters(key, whole, working_kind(kind), alpha)
    require("alpha above 0", is_positive, alpha=(alpha, concentrations))
    shares = softmax(standard_log_gamma(key, concentrations), axis=-1)
    return named(astype(shares, kind), names, concentrations)


@declare_bound(BOUND)
@check_arguments
def student_t(
    key: TensorLike,
    /,
    df: TensorLike,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    *,
    names: NamesLike = None,
) -> Tensor:
    """Random numbers of Student's t distribution.

    Parameters
    ----------
    df : Tensor or scalar
        The degrees of freedom, above 0.

    Returns
    -------
    Tensor
        The sample, with a gradient by `df`.

    Examples
    --------
    >>> x = tb.random.student_t(tb.random.key(0), 5.0, (1000,))
    >>> abs(tb.mean(x).item()) < 0.2
    True
    """
    kind = floating_kind(dtype, df)
    key, (freedom,) = spread_parameters(key, shape, working_kind(kind), df)
    require("df above 0", is_positive, df=(df, freedom))
    keys, half = split(key), freedom / 2
    sample = normal(slice_basic(keys, 0), freedom.shape, freedom.dtype)
    half = rename(half, *(None,) * half.ndim)
    spread = sqrt(half / standard_gamma(slice_basic(keys, 1), half))
    return named(astype(sample * spread, kind), names, freedom)
