# %% [markdown]
# # A Gaussian process
#
# A function is known at a few places, with noise. A Gaussian process says what
# it may be between them, and maximum likelihood chooses how smooth it is.
#
# What is learned here:
#
# - `tb.vmap` twice makes a matrix from a function of two points,
# - `tb.linalg.cholesky` and `triangular_solve` solve, and have gradients,
# - `tb.random.multivariate_normal` draws whole functions by a key.

# %%
import math
from typing import NamedTuple

import numpy as np
from matplotlib import pyplot as plt

import tensorbackend as tb

POINTS = 25
PLACES = 120

# %% [markdown]
# ## The data

# %%
for_place, for_noise, for_draw = tb.random.split(tb.random.key(3), 3)
place = tb.sort(
    tb.random.uniform(
        for_place,
        (POINTS,),
        minval=-3.0,
        maxval=3.0,
        dtype="f64",
        names=("point",),
    )
)
seen = tb.sin(2 * place) * place + 0.2 * tb.random.normal(
    for_noise, (POINTS,), dtype="f64", names=("point",)
)
grid = tb.linspace(-4.0, 4.0, PLACES, dtype="f64", name="place")

# %% [markdown]
# ## The kernel
#
# The covariance of two values of the function depends on the distance of their
# places. The function below is of two numbers; `vmap` over the second number
# and then over the first makes it one of two vectors, and their names become
# the matrix's.


# %%
class Logs(NamedTuple):
    """Logarithms of the parameters."""

    height: tb.Tensor
    width: tb.Tensor
    noise: tb.Tensor


def kernel(logs: Logs, x: tb.Tensor, y: tb.Tensor) -> tb.Tensor:
    """Return the covariance of the values at two places."""
    return tb.exp(2 * logs.height - (x - y) ** 2 / (2 * tb.exp(2 * logs.width)))


pairs = tb.vmap(
    tb.vmap(kernel, in_axes=(None, None, 0)), in_axes=(None, 0, None)
)


def factor(logs: Logs) -> tb.Tensor:
    """Return the Cholesky factor of the covariance of what is seen."""
    covariance = pairs(logs, place, place.rename("other"))
    return tb.linalg.cholesky(
        covariance + tb.exp(2 * logs.noise) * tb.eye(POINTS, dtype="f64")
    )


# %% [markdown]
# ## The likelihood
#
# `minimize` takes the named tuple of parameters as it is, and its gradient
# passes the Cholesky factor.


# %%
def misfit(logs: Logs) -> tb.Tensor:
    """Return minus the log likelihood of what is seen."""
    lower = factor(logs)
    white = tb.linalg.triangular_solve(lower, seen, lower=True)
    return (
        tb.sum(white**2) / 2
        + tb.sum(tb.log(tb.linalg.diagonal(lower)))
        + POINTS / 2 * math.log(2 * math.pi)
    )


zero = tb.asarray(0.0, dtype="f64")
minimum = tb.optimize.minimize(misfit, Logs(zero, zero, zero - 1))
found = minimum.x
before = misfit(Logs(zero, zero, zero - 1))
print(f"misfit: {before:.3f} before, {minimum.value:.3f} after")
for name, value in found._asdict().items():
    print(f"{name}: {tb.exp(value):.3f}")

# %% [markdown]
# ## What the function may be


# %%
def posterior(logs: Logs) -> tuple[tb.Tensor, tb.Tensor]:
    """Return the mean and the covariance of the function on the grid."""
    lower = factor(logs)
    across = tb.linalg.triangular_solve(
        lower, pairs(logs, place, grid), lower=True
    )
    white = tb.linalg.triangular_solve(lower, seen, lower=True)
    mean = across.T @ white
    return mean, pairs(
        logs, grid, grid.rename("other")
    ) - across.T @ across.rename(place="other")


mean, covariance = tb.jit(posterior)(found)
deviation = tb.sqrt(tb.linalg.diagonal(covariance)).rename("place")
jitter = 1e-8 * tb.eye(PLACES, dtype="f64")
draws = tb.random.multivariate_normal(
    for_draw, mean, covariance + jitter, (3,), names=("draw", "place")
)
print(mean.template, covariance.template, draws.template)
covered = tb.mean(tb.abs(tb.sin(2 * grid) * grid - mean) < 2 * deviation)
print(f"{covered:.0%} of the true function is within two standard deviations")

# %%
figure, axes = plt.subplots(figsize=(7, 4))
x, middle, width = np.asarray(grid), np.asarray(mean), 2 * np.asarray(deviation)
axes.fill_between(x, middle - width, middle + width, alpha=0.2)
axes.plot(x, middle)
axes.plot(x, np.asarray(draws).T, lw=0.7, alpha=0.7)
axes.plot(np.asarray(place), np.asarray(seen), "k.")
axes.set_title("the mean, two standard deviations, and three functions drawn")
plt.show()
