"""Parts that the iterative methods share: the problem, its scale, its progress, and the loop.

Vectors have shape (..., n), and numbers for each example have shape (..., 1), so that they broadcast. Methods start
from x = 0, with systems that are scaled so that squares of elements neither overflow nor underflow. Powers of two are
exact: a solve takes the same steps for A and b of any scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final, NamedTuple, TypeAlias

from ..dtypes import DType, float32, float64
from ..expr.vmap import vmap
from ..expr.while_loops import while_loop
from ..ops.composite.contraction import matmul, vecdot
from ..ops.creation.filled import iota, zeros
from ..ops.elementwise.basic import astype, bitcast, conj, real, where
from ..ops.elementwise.binary import bitwise_and, logical_and, maximum, minimum
from ..ops.elementwise.transcendental import sqrt
from ..ops.reduction import max as max_
from ..ops.reduction import sum as sum_
from ..ops.shape import broadcast_to, reshape
from ..tensor import Tensor
from .linear import Form, Tensors

Function: TypeAlias = Callable[[Tensor], Tensor]

GROWTH = 1e10
"""A squared residual that grows by this factor has diverged."""


class Problem(NamedTuple):
    """A linear system as the methods see it."""

    apply: Function
    """The matrix, projected where there is a null space."""
    adjoint: Function
    """The conjugate transpose of the matrix."""
    precondition: Function | None
    b: Tensor
    """The right-hand side, which is the first residual; 0 for examples that need no iteration."""
    x0: Tensor
    """Zeros, in the shape of x."""
    goal: Tensor
    """The squared norm of a residual that is small enough."""
    most: Tensor
    """The most iterations, int32."""

    def preconditioned(self, x: Tensor) -> Tensor:
        """The preconditioner applied to x; x itself without one."""
        return x if self.precondition is None else self.precondition(x)


class Progress(NamedTuple):
    """The progress of the solution of each example."""

    going: Tensor
    iterations: Tensor
    residual: Tensor
    """The squared norm of the residual, as the method knows it; infinite where the method broke down."""


class Method(NamedTuple):
    """The start and the step of an iterative method. The first parts of a state are the progress and x."""

    start: tuple[Any, ...]
    step: Callable[[tuple[Any, ...]], tuple[Any, ...]]
    bound: Tensor
    """The squared residual beyond which the method has diverged."""
    finish: Callable[[tuple[Any, ...]], Tensor] | None = None
    """What makes x of the last state, if it is another x than that of the state."""


def dot(x: Tensor, y: Tensor) -> Tensor:
    """The inner product of vectors, conjugate in the first: shape (..., 1)."""
    if x.ndim == y.ndim == 1:
        return reshape(matmul(conj(x) if x.dtype.is_complex else x, y), (1,))
    return vecdot(x, y)[..., None]


def square(x: Tensor) -> Tensor:
    """The squared norm of vectors: real, shape (..., 1)."""
    product = dot(x, x)
    return real(product) if product.dtype.is_complex else product


def step_of(going: Tensor, numerator: Tensor, denominator: Tensor) -> Tensor:
    """The quotient, 0 for examples that are done. For a single example it may be NaN, which ends the loop."""
    return numerator / denominator if going.ndim == 1 else where(going, ratio(numerator, denominator), 0)


def ratio(numerator: Tensor, denominator: Tensor) -> Tensor:
    """The quotient, 0 where the denominator is 0."""
    nothing = denominator == 0
    return where(nothing, 0, numerator / where(nothing, 1, denominator))


def zero_if_done(going: Tensor, factor: Tensor) -> Tensor:
    """The factor, 0 for examples that are done. A single example continues with the loop, so its factor is kept."""
    return factor if going.ndim == 1 else where(going, factor, 0)


class Watch:
    """Computes the progress of a method from the squared norms of its residuals, of which `first` is the first."""

    def __init__(self, problem: Problem, first: Tensor) -> None:
        self.problem, self.bound = problem, first * GROWTH + problem.goal
        none = zeros(problem.most.shape, dtype=problem.most.dtype, like=problem.most)
        self.first = Progress(self._goes_on(none, first), none, first)

    def _goes_on(self, iterations: Tensor, residual: Tensor) -> Tensor:
        """Whether an example continues: its residual is not small enough, too large or NaN, and iterations remain."""
        open_ = logical_and(residual > self.problem.goal, residual <= self.bound)
        return logical_and(open_, iterations < self.problem.most)

    def __call__(self, before: Progress, residual: Tensor, broke: Tensor | None = None) -> Progress:
        """The progress after one more iteration; if the method `broke` down, the residual becomes infinite."""
        if broke is not None:
            residual = where(logical_and(broke, residual > self.problem.goal), _INFINITY, residual)
        if residual.ndim == 1:
            iterations = before.iterations + 1
            return Progress(self._goes_on(iterations, residual), iterations, residual)
        iterations = before.iterations + astype(before.going, before.iterations.dtype)
        residual = where(before.going, residual, before.residual)
        return Progress(logical_and(before.going, self._goes_on(iterations, residual)), iterations, residual)


_INFINITY = float("inf")


def iterate(method: Method, trajectory: Sequence[int] | None) -> tuple[Tensor, Progress]:
    """The solution and its progress at the end, or stacked for the numbers of iterations in a trajectory."""

    def goes_on(state: tuple[Any, ...]) -> Tensor:
        going = state[0].going
        return reshape(going, ()) if going.ndim == 1 else going.any()

    state = while_loop(goes_on, method.step, method.start, trajectory=trajectory)
    if method.finish is None:
        return state[1], state[0]
    return (method.finish if trajectory is None else vmap(method.finish))(state), state[0]


_EXPONENTS: Final[dict[DType, tuple[str, int]]] = {float32: ("int32", 23), float64: ("int64", 52)}
"""For each dtype of sizes an integer dtype of its width, and the number of bits below the exponent."""


class ScaledMatrix(NamedTuple):
    """A matrix divided by a power of two, so that its largest element is from 1 to 2."""

    apply: Function
    """The product of the scaled matrix with vectors."""
    adjoint: Function
    """The product of its conjugate transpose with vectors."""
    parts: tuple[Tensor, ...]
    """The tensors of the form, scaled; those of the user's function are not."""
    power: Tensor
    """The power of two, of shape (..., 1)."""
    size: Tensor
    """The root of the mean squared norm of the scaled rows, of shape (..., 1)."""


def power(sizes: Tensor) -> Tensor:
    """The power of two below each size or equal to it, or the nearest one that is a normal number, as its inverse is.

    That of 0, an infinity or NaN is one of the two at the ends: a division by it does not change them.
    """
    integers, width = _EXPONENTS[sizes.dtype]
    largest_exponent = 2 ** (sizes.dtype.bits - 1 - width) - 2
    bits = bitwise_and(bitcast(sizes, integers), (largest_exponent + 1) << width)
    return bitcast(minimum(maximum(bits, 1 << width), (largest_exponent - 1) << width), sizes.dtype)


def largest_magnitude(x: Tensor, count: int = 1) -> Tensor:
    """The maximum magnitude along the last `count` axes, of shape (..., 1)."""
    sizes = abs(x) if count == 1 else abs(_flat(x, count))
    return (max_ if sizes.shape[-1] else sum_)(sizes, axis=-1, keepdims=True)


def norm(x: Tensor) -> Tensor:
    """The norm of vectors, of shape (..., 1)."""
    unit = power(largest_magnitude(x))
    return sqrt(square(x * (1 / unit))) * unit


def _flat(x: Tensor, count: int) -> Tensor:
    """The tensor with its last `count` axes flattened into one."""
    return x if count == 1 else reshape(x, (*x.shape[: x.ndim - count], prod(x.shape[x.ndim - count :])))


def scale_system(form: Form, parts: tuple[Tensor, ...], b: Tensor, columns: int) -> ScaledMatrix:
    """The scaled matrix of a system with right-hand sides like b."""
    if not form.axes:
        return _scale_function(form, parts, b, columns)
    elements = [part for part in parts if part.dtype.is_inexact]
    unit = power(_largest([largest_magnitude(part, form.axes) for part in elements]))
    inverse = 1 / unit

    def divide_rows(x: Tensor) -> Tensor:
        return x * (inverse if form.axes == 1 else inverse[..., None])

    divided_parts = tuple([divide_rows(part) if part.dtype.is_inexact else part for part in parts])
    squares = [square(_flat(part, form.axes)) for part in divided_parts if part.dtype.is_inexact]
    total = squares[0] if len(squares) == 1 else squares[0] + squares[1]
    rows = max(b.shape[-1], 1)
    return ScaledMatrix(*_products(form, divided_parts, None), divided_parts, unit, sqrt(total / rows))


def _largest(sizes: list[Tensor]) -> Tensor:
    return sizes[0] if len(sizes) == 1 else maximum(sizes[0], sizes[1])


def _scale_function(form: Form, parts: tuple[Tensor, ...], b: Tensor, columns: int) -> ScaledMatrix:
    """The scaled form of a function. A product with a vector of signs estimates the size of its elements."""
    places = iota(columns, dtype="int32", backend=b.backend)
    signs = astype(where(places * places * -1640531527 < 0, -1, 1), b.dtype)  # no pattern that A may take to zero
    product = form(parts, broadcast_to(signs, (*b.shape[:-1], columns)))
    unit = power(largest_magnitude(product))
    inverse = 1 / unit
    size = sqrt(square(product * inverse) / max(b.shape[-1], 1))
    return ScaledMatrix(*_products(form, parts, inverse), parts, unit, size)


def _products(form: Form, parts: Tensors, inverse: Tensor | None) -> tuple[Function, Function]:
    """The products with a matrix and with its conjugate transpose, of vectors multiplied by a number."""

    def scaled_vector(x: Tensor) -> Tensor:
        return x if inverse is None else x * inverse

    def apply(x: Tensor) -> Tensor:
        return form(parts, scaled_vector(x))

    def adjoint(x: Tensor) -> Tensor:
        return conj(form.apply_transpose(parts, conj(scaled_vector(x))))

    return apply, adjoint


def scale_preconditioner(precondition: Callable[[Tensor], Tensor], r: Tensor) -> Function:
    """A preconditioner that maps the residual r to a vector of about the same size; its factor changes no iterate."""
    unit = power(largest_magnitude(precondition(r)))
    inverse = 1 / unit
    return lambda x: precondition(x) * inverse
