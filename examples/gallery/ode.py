# %% [markdown]
# # An adaptive ODE solver in a `while_loop`
#
# Prey and predators follow the equations of Lotka and Volterra. A Runge-Kutta
# method chooses its own steps, so the number of steps depends on data.
#
# What is learned here:
#
# - `tb.while_loop` with an `axis` runs as long as each example needs: every
#   orbit has its own time and its own step,
# - the carried value may be any tree of tensors, and `tb.tree_map` does
#   arithmetic with trees,
# - the loop runs inside `tb.scan`, `tb.jit` and `tb.jvp`, so the solution has a
#   derivative by a rate.

# %%
from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib import pyplot as plt

import tensorbackend as tb

ORBITS = 4
TIMES = 80
TOLERANCE = 1e-6
LIMIT = 40  # steps between two times: a loop with a limit has a gradient

# %% [markdown]
# ## The equations
#
# Prey breed and are eaten; predators starve without prey. All tensors have an
# axis `orbit`, one entry for each start.


# %%
class Populations(NamedTuple):
    """The state, and also its rate of change."""

    prey: tb.Tensor  # f64[orbit]
    predators: tb.Tensor  # f64[orbit]


def slope(state: Populations, eating: tb.Tensor) -> Populations:
    """Return the rates of change; a predator meets `eating` prey."""
    met = eating * state.prey * state.predators
    return Populations(state.prey - met, 0.75 * met - state.predators)


# %% [markdown]
# ## One step
#
# The method of Bogacki and Shampine has an order of 3, and one of order 2 that
# estimates the error. `plus` adds multiples of slopes to a state, member by
# member.


# %%
def plus(
    state: Populations, *terms: tuple[tb.Tensor | float, Populations]
) -> Populations:
    """Return the state plus terms, each a factor and a slope."""
    for factor, change in terms:
        state = tb.tree_map(
            lambda value, slope, factor=factor: value + factor * slope,
            state,
            change,
        )
    return state


class Progress(NamedTuple):
    """Where an orbit is, its next step, and how many steps it has tried."""

    time: tb.Tensor  # f64[orbit]
    step: tb.Tensor  # f64[orbit]
    tried: tb.Tensor  # s64[orbit]
    state: Populations


def advance(now: Progress, end: tb.Tensor, eating: tb.Tensor) -> Progress:
    """Try one step, not past the end; keep it if its error is small."""
    h = tb.minimum(now.step, end - now.time)
    k1 = slope(now.state, eating)
    k2 = slope(plus(now.state, (h / 2, k1)), eating)
    k3 = slope(plus(now.state, (3 * h / 4, k2)), eating)
    after = plus(now.state, (2 * h / 9, k1), (h / 3, k2), (4 * h / 9, k3))
    k4 = slope(after, eating)
    other = plus(
        now.state, (7 * h / 24, k1), (h / 4, k2), (h / 3, k3), (h / 8, k4)
    )
    error = (
        tb.maximum(
            tb.abs(after.prey - other.prey),
            tb.abs(after.predators - other.predators),
        )
        / TOLERANCE
    )
    kept = error <= 1
    state = tb.tree_map(
        lambda new, old: tb.where(kept, new, old), after, now.state
    )
    factor = tb.clip(0.9 * tb.maximum(error, 1e-10) ** (-1 / 3), 0.2, 5.0)
    # A step that was cut off at the end says nothing about later steps.
    step = tb.where(kept & (h < now.step), now.step, h * factor)
    return Progress(
        tb.where(kept, now.time + h, now.time), step, now.tried + 1, state
    )


# %% [markdown]
# ## The loop
#
# The condition has one bool for each orbit. Orbits that have arrived wait,
# unchanged. `scan` stops at each of the times.


# %%
def solve(
    start: Populations, times: tb.Tensor, eating: tb.Tensor
) -> tuple[Populations, tb.Tensor]:
    """Return the populations, `f64[time][orbit]`, and the numbers of steps."""

    def until(now: Progress, end: tb.Tensor) -> tuple[Progress, Populations]:
        arrived = tb.while_loop(
            lambda now: now.time < end - 1e-12,
            lambda now: advance(now, end, eating),
            now,
            axis="orbit",
            limit=LIMIT,
        )
        return arrived, arrived.state

    zeros = tb.zeros_like(start.prey)
    first = Progress(
        zeros, zeros + 0.01, tb.zeros_like(start.prey, dtype="s64"), start
    )
    last, path = tb.scan(until, first, times, axis="time")
    return path, last.tried


start = Populations(
    tb.linspace(0.5, 1.3, ORBITS, dtype="f64", name="orbit"),
    tb.full(ORBITS, 0.5, dtype="f64", names=("orbit",)),
)
times = tb.linspace(0.0, 12.0, TIMES + 1, dtype="f64", name="time")[1:]
eating = tb.asarray(1.0, dtype="f64")
path, tried = tb.jit(solve)(start, times, eating)
print(path.prey.template)
print("steps:", *tried.tolist())

# %% [markdown]
# ## Is it right?
#
# Without rounding and truncation this quantity stays as it is along an orbit:


# %%
def invariant(state: Populations) -> tb.Tensor:
    """Return what an orbit conserves."""
    return (
        0.75 * state.prey
        - tb.log(state.prey)
        + state.predators
        - tb.log(state.predators)
    )


drift = tb.max(tb.abs(invariant(path) - invariant(start)))
print(f"within {TOLERANCE * 100:.0e}: {bool(drift < TOLERANCE * 100)}")

# %% [markdown]
# ## The derivative by a rate
#
# How do the populations change if predators meet a little more prey? `jvp`
# pushes a tangent through all loops, beside the solution. The reverse, `grad`,
# works too: it keeps the states of all steps, and therefore needs the limit.

# %%
solution = partial(solve, start, times)
tangents = tb.jvp(solution, (eating,), (tb.ones_like(eating),))[1]
changes = tangents[0]
print(
    "by the rate, at the end:",
    *(f"{change:.4f}" for change in changes.prey[-1].tolist()),
)

# %%
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.5), layout="constrained"
)
left.plot(np.asarray(path.prey), np.asarray(path.predators))
left.set(xlabel="prey", ylabel="predators")
left.set_title("orbits")
right.plot(np.asarray(times), np.asarray(changes.prey))
right.set(xlabel="time")
right.set_title("change of the prey by the rate")
plt.show()
