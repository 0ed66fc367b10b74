# %% [markdown]
# # A Kalman filter that learns its noise
#
# Eight targets move through a plane, and a sensor sees their positions with an
# error. A Kalman filter estimates where they are, and maximum likelihood finds
# how noisy the motion and the sensor are.
#
# What is learned here:
#
# - `tb.scan` runs a recurrence along an axis that is chosen by its name,
# - `tb.vmap` makes a filter of many targets from the filter of one,
# - `tb.optimize.minimize` differentiates through both.

# %%
import math
from typing import NamedTuple

import numpy as np
from matplotlib import pyplot as plt

import tensorbackend as tb

TARGETS = 8
STEPS = 60

# %% [markdown]
# ## The model
#
# The state of a target is its position and velocity, `(x, y, vx, vy)`. In a
# step of time the velocity is added to the position, and random accelerations
# change both. The sensor sees the position. The two logarithms of standard
# deviations are what we do not know.


# %%
class Noise(NamedTuple):
    """Logarithms of standard deviations."""

    motion: tb.Tensor
    sensor: tb.Tensor


class Estimate(NamedTuple):
    """What a filter believes about one target."""

    mean: tb.Tensor  # f64[4]
    covariance: tb.Tensor  # f64[4][4]


eye = tb.eye(2, dtype="f64")
move = tb.kron(tb.asarray([[1.0, 1.0], [0.0, 1.0]], dtype="f64"), eye)
push = tb.kron(
    tb.asarray([[0.5], [1.0]], dtype="f64"), eye
)  # an acceleration during one step
see = tb.kron(tb.asarray([[1.0, 0.0]], dtype="f64"), eye)

# %% [markdown]
# Random numbers come from keys: the same key draws the same accelerations on
# every backend. The axes that live as long as the data have names; matrices
# inside the model do not need any.

# %%
truth = Noise(tb.asarray(-2.0, dtype="f64"), tb.asarray(0.0, dtype="f64"))
for_motion, for_sensor = tb.random.split(tb.random.key(0))
names = ("time", "target", "plane")
pushes = tb.exp(truth.motion) * tb.random.normal(
    for_motion, (STEPS, TARGETS, 2), dtype="f64", names=names
)
errors = tb.exp(truth.sensor) * tb.random.normal(
    for_sensor, (STEPS, TARGETS, 2), dtype="f64", names=names
)


def moved(state: tb.Tensor, pushed: tb.Tensor) -> tuple[tb.Tensor, tb.Tensor]:
    """Move all targets by one step of time."""
    state = state @ move.T + pushed.rename(plane=None) @ push.T
    return state, state


start = tb.zeros((TARGETS, 4), dtype="f64", names=("target", None))
_, path = tb.scan(moved, start, pushes, axis="time")
place = path[..., :2].rename("time", "target", "plane")
seen = place + errors
print(seen.template)

# %% [markdown]
# ## The filter of one target
#
# A step predicts, compares with what is seen, and corrects. It is written for
# one target at one time. `scan` repeats it along `time`, and `vmap` along
# `target`.


# %%
def log_likelihood(
    noise: Noise, seen: tb.Tensor
) -> tuple[tb.Tensor, tb.Tensor]:
    """Return the log likelihood of `f64[time][plane]`, and the estimates."""
    motion = tb.exp(2 * noise.motion) * push @ push.T
    sensor = tb.exp(2 * noise.sensor) * eye

    def step(
        last: Estimate, seen: tb.Tensor
    ) -> tuple[Estimate, tuple[tb.Tensor, Estimate]]:
        mean = move @ last.mean
        covariance = move @ last.covariance @ move.T + motion
        surprise = seen.rename(None) - see @ mean
        expected = see @ covariance @ see.T + sensor
        gain = tb.linalg.solve(expected, see @ covariance).T
        now = Estimate(
            mean + gain @ surprise, covariance - gain @ see @ covariance
        )
        squared = surprise @ tb.linalg.solve(expected, surprise)
        likelihood = -(
            squared + tb.linalg.slogdet(expected).logabsdet
        ) / 2 - math.log(2 * math.pi)
        return now, (likelihood, now)

    before = Estimate(tb.zeros(4, dtype="f64"), 10 * tb.eye(4, dtype="f64"))
    _, (likelihoods, estimates) = tb.scan(step, before, seen, axis="time")
    return tb.sum(likelihoods), estimates.mean[:, :2].rename("time", "plane")


filtered = tb.vmap(log_likelihood, in_axes=(None, "target"))


def misfit(noise: Noise) -> tb.Tensor:
    """Return minus the log likelihood of one observation, on average."""
    return -tb.sum(filtered(noise, seen)[0]) / (STEPS * TARGETS)


# %% [markdown]
# ## The noise, by maximum likelihood
#
# L-BFGS begins with both standard deviations at 1. The gradient passes the 60
# steps of the filter and its linear systems.

# %%
guess = Noise(tb.asarray(0.0, dtype="f64"), tb.asarray(0.0, dtype="f64"))
minimum = tb.optimize.minimize(misfit, guess)
found = minimum.x
motion, sensor = tb.exp(found.motion), tb.exp(found.sensor)
print(f"converged: {minimum.converged.item()}, misfit {minimum.value:.4f}")
print(f"motion: true {tb.exp(truth.motion):.3f}, found {motion:.3f}")
print(f"sensor: true {tb.exp(truth.sensor):.3f}, found {sensor:.3f}")

# %%
likelihoods, estimates = tb.jit(filtered)(found, seen)
print(estimates.template)
error = tb.sqrt(tb.mean((estimates.align_as(place) - place) ** 2))
print(f"error of a position: {tb.std(errors):.3f} seen, {error:.3f} filtered")

# %%
figure, axes = plt.subplots(figsize=(7, 4))
for target in range(3):
    color = f"C{target}"
    axes.plot(*np.asarray(seen[:, target].T), ".", color=color, alpha=0.5)
    axes.plot(*np.asarray(estimates[target].T), color=color)
    axes.plot(*np.asarray(place[:, target].T), "--", color=color, alpha=0.5)
axes.set_title("three targets: seen (dots), filtered (lines), true (dashed)")
plt.show()
