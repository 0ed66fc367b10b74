# %% [markdown]
# # A backend in an afternoon: intervals
#
# How many digits of a result are right? A backend whose numbers are intervals
# answers for any program: it rounds every lower end down and every upper end
# up, so the true value is always between them.
#
# What is learned here:
#
# - a backend is a class with a method for each op that it computes itself; all
#   others are made of these,
# - each method gets the template of the result first, so it never works out
#   shapes, dtypes or names,
# - `grad`, named axes and composites such as `softmax` run on it at once, as
#   they are written in ops.

# %%
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

import tensorbackend as tb
from tensorbackend.dtypes import bool_, float64, int64
from tensorbackend.errors import UnsupportedOp
from tensorbackend.interchange import numpy_dtype

# %% [markdown]
# ## How intervals are held
#
# The payload of a tensor of shape `(2, 3)` is an array of shape `(2, 2, 3)`:
# lower ends, then upper ends. Three methods say how data comes in and goes out,
# and what is no data of a template.


# %%
class Transport(tb.Backend):
    """How data comes and goes; out goes the middle of each interval."""

    name = "interval"
    dtypes = frozenset({bool_, int64, float64})

    def from_binary(self, out: tb.Template, /, *, data: bytes) -> Any:
        """Make intervals without width."""
        array = np.frombuffer(data, numpy_dtype(out.dtype)).reshape(out.shape)
        return np.stack([array, array])

    def to_binary(self, x: tb.Tensor, limit: int, /) -> bytes:
        """Return the middles of the first elements."""
        return middle(x.data, x.dtype).reshape(-1)[:limit].tobytes()

    def violation(self, out: tb.Template, data: Any, /) -> str | None:
        """Say what is wrong with a payload."""
        expected = (2, *out.shape), numpy_dtype(out.dtype)
        found = getattr(data, "shape", None), getattr(data, "dtype", None)
        return None if found == expected else f"{found} in place of {expected}"


def middle(ends: Any, dtype: tb.DType) -> Any:
    """Return the middles of intervals, or the lower ends of exact numbers."""
    low, high = ends
    with np.errstate(invalid="ignore"):
        return low / 2 + high / 2 if dtype is float64 else low


# %% [markdown]
# ## Arithmetic
#
# A sum is between the sum of the lower ends, rounded down, and that of the
# upper ends, rounded up. A product is between the least and the greatest of
# four products. Integers and bools are exact.


# %%
def outward(low: Any, high: Any, ulps: int = 1) -> Any:
    """Round the lower ends down and the upper ends up."""
    for _ in range(ulps):
        low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
    return np.stack([low, high])


def ends_of(out: tb.Template, *inputs: tb.Tensor) -> list[Any]:
    """Return the ends of tensors, broadcast to the shape of the result."""
    shape = (2, *out.shape)
    return [
        np.broadcast_to(
            x.data.reshape(2, *(1,) * (out.ndim - x.ndim), *x.shape), shape
        )
        for x in inputs
    ]


def rising(function: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return the method of a function that rises; two ulps for its error."""

    def method(self: tb.Backend, out: tb.Template, x: tb.Tensor, /) -> Any:
        with np.errstate(all="ignore"):
            low, high = function(x.data)
        return outward(low, high, ulps=2)

    return method


class Arithmetic(tb.Backend):
    """What changes numbers."""

    exp, log, sqrt = rising(np.exp), rising(np.log), rising(np.sqrt)

    def add(self, out: tb.Template, x: tb.Tensor, y: tb.Tensor, /) -> Any:
        """Add lower to lower, upper to upper."""
        a, b = ends_of(out, x, y)
        return a + b if out.dtype is not float64 else outward(*(a + b))

    def multiply(self, out: tb.Template, x: tb.Tensor, y: tb.Tensor, /) -> Any:
        """Take the least and the greatest of four products."""
        (a, b), (c, d) = ends_of(out, x, y)
        if out.dtype is not float64:
            return np.stack([a * c, b * d])
        with np.errstate(all="ignore"):
            products = np.stack([a * c, a * d, b * c, b * d])
        exact = (a == b) & (np.abs(a) == 1) | (c == d) & (np.abs(c) == 1)
        low, high = products.min(axis=0), products.max(axis=0)
        return np.where(exact, np.stack([low, high]), outward(low, high))

    def divide(self, out: tb.Template, x: tb.Tensor, y: tb.Tensor, /) -> Any:
        """Multiply by the reciprocal; all numbers if y may be 0."""
        (a, b), (c, d) = ends_of(out, x, y)
        with np.errstate(all="ignore"):
            quotients = np.stack([a / c, a / d, b / c, b / d])
        low, high = outward(quotients.min(axis=0), quotients.max(axis=0))
        zero = (c <= 0) & (d >= 0)
        return np.stack(
            [np.where(zero, -np.inf, low), np.where(zero, np.inf, high)]
        )


# %% [markdown]
# ## Choices and shapes
#
# Comparisons are of the middles. What moves elements moves both ends alike.


# %%
def compared(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return the method of a comparison of two tensors."""

    def method(self: tb.Backend, out: tb.Template, *inputs: tb.Tensor) -> Any:
        found = function(
            *(
                middle(ends, x.dtype)
                for ends, x in zip(ends_of(out, *inputs), inputs, strict=True)
            )
        )
        return np.stack([found, found])

    return method


class IntervalBackend(Transport, Arithmetic):
    """The whole backend."""

    equal, less = compared(np.equal), compared(np.less)
    bitwise_and = compared(np.bitwise_and)
    floor_divide = compared(
        lambda x, y: np.floor_divide(x, np.where(y == 0, 1, y)) * (y != 0)
    )

    def select(self, out: tb.Template, *inputs: tb.Tensor) -> Any:
        """Choose by a condition."""
        return np.where(*ends_of(out, *inputs))

    def as_type(self, out: tb.Template, x: tb.Tensor, /) -> Any:
        """Convert both ends."""
        return x.data.astype(numpy_dtype(out.dtype))

    def reshape(self, out: tb.Template, x: tb.Tensor, /) -> Any:
        """Give both ends the shape."""
        return x.data.reshape(2, *out.shape)

    def take(
        self,
        out: tb.Template,
        x: tb.Tensor,
        indices: tb.Tensor,
        /,
        *,
        axis: int,
        mode: str,
    ) -> Any:
        """Take entries of both ends."""
        return np.take(x.data, indices.data[0], axis=axis + 1, mode="clip")


# %% [markdown]
# ## Does it hold?
#
# `bounds` reads the ends. A sum, a gradient and a system of equations are made
# of the ops above; what cannot be made of them says which op is missing.


# %%
def bounds(x: tb.Tensor) -> Any:
    """Return the lower and upper ends of a tensor of floats."""
    assert isinstance(x.backend, IntervalBackend)
    return x.data


def show(name: str, x: tb.Tensor) -> None:
    """Print the ends of one number."""
    low, high = bounds(x).reshape(2, -1)[:, 0]
    print(f"{name}: from {low:.17g} to {high:.17g}")


def third(x: tb.Tensor) -> tb.Tensor:
    """Return a number that floats cannot hold."""
    return tb.sum(x / 3, axis="point")


start = tb.asarray(
    [1.0, 2.0, 4.0], dtype="f64", names=("point",), backend=IntervalBackend
)
show("7 / 3", third(start))
show("gradient", tb.grad(lambda x: tb.exp(third(x)))(start))
try:
    tb.sin(start)
except UnsupportedOp as error:
    print(error)

# %% [markdown]
# ## A formula that fools floats
#
# Siegfried Rump made this formula. Float64 gives a number with 16 digits, none
# of which is right; the interval says so.


# %%
def rump(a: tb.Tensor, b: tb.Tensor) -> tb.Tensor:
    """Return Rump's polynomial, plus a / (2 b)."""
    a2, b2 = a * a, b * b
    b4 = b2 * b2
    b6, b8 = b4 * b2, b4 * b4
    inner = 11 * a2 * b2 - b6 - 121 * b4 - 2
    return 333.75 * b6 + a2 * inner + 5.5 * b8 + a / (2 * b)


def number(value: float, backend: Any = None) -> tb.Tensor:
    """Make a float64 on a backend."""
    return tb.asarray(value, dtype="f64", backend=backend)


plain = rump(number(77617.0), number(33096.0))
inside = rump(
    number(77617.0, IntervalBackend), number(33096.0, IntervalBackend)
)
low, high = bounds(inside)
print(f"float64: {plain:.15g}")
print(f"interval: from {low:.2g} to {high:.2g}, and the truth is -0.827396...")

# %% [markdown]
# ## How long is a forecast right?
#
# The logistic map is chaotic: each step may double an error. `scan` runs as it
# is written, and the width of the interval says after how many steps no digit
# is left.


# %%
def forecast(first: tb.Tensor, steps: int) -> tb.Tensor:
    """Return the states of the logistic map, `f64[step]`."""

    def step(x: tb.Tensor, _: None) -> tuple[tb.Tensor, tb.Tensor]:
        x = 3.9 * x * (1 - x)
        return x, x

    return tb.scan(step, first, length=steps)[1]


floats = forecast(number(0.5), 30)
low, high = bounds(forecast(number(0.5, IntervalBackend), 30))
width = np.maximum(high - low, 1e-17)
print(f"steps with six right digits: {int(np.argmax(width > 1e-6))}")
print(f"steps with one: {int(np.argmax(width > 0.1))}")

# %% [markdown]
# ## A system of equations
#
# Hilbert's matrix is nearly singular. `solve` has no method above, and yet
# runs: it is written in other ops.

# %%
size = 5
entries = [[1 / (i + j + 1) for j in range(size)] for i in range(size)]
hilbert = tb.asarray(entries, dtype="f64", backend=IntervalBackend)
solution = tb.linalg.solve(
    hilbert, tb.asarray([1.0] * size, dtype="f64", backend=IntervalBackend)
)
low, high = bounds(solution)
for each in zip(low, high, strict=True):
    print("from {:.9f} to {:.9f}".format(*each))

# %%
figure, axes = plt.subplots(figsize=(7, 3))
axes.semilogy(width)
axes.axhline(1e-6, color="k", lw=0.5)
axes.set(xlabel="step", ylabel="width of the interval")
axes.set_title("how far apart the ends of a forecast are")
plt.show()
