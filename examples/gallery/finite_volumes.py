# %% [markdown]
# # A dam that breaks: finite volumes
#
# Water stands higher on one side of a dam than on the other. The dam is gone at
# once, and a shock runs one way while the surface falls on the other. Finite
# volumes follow both, and conserve water exactly.
#
# What is learned here:
#
# - `tb.scan` makes the steps of a scheme one loop, which `tb.jit` compiles as a
#   whole,
# - `tb.vmap` over the height of the water turns one dam into many,
# - `tb.grad` passes all steps: how much deeper does a gauge get for each metre
#   behind the dam?

# %%
from typing import NamedTuple

import numpy as np
from matplotlib import pyplot as plt

import tensorbackend as tb

CELLS = 200
STEPS = 160
LENGTH = 100.0  # m
GRAVITY = 9.81  # m/s^2
END = 5.0  # s

# %% [markdown]
# ## The equations of shallow water
#
# A state is the depth of the water and its momentum in each cell. A named tuple
# of tensors is a value like any other: loops carry it, and gradients have its
# structure.


# %%
class Water(NamedTuple):
    """The state of all cells, or what flows through all edges."""

    depth: tb.Tensor  # f64[cell], m
    momentum: tb.Tensor  # f64[cell], m^2/s


def flux(water: Water) -> Water:
    """Return what flows to the right."""
    speed = water.momentum / water.depth
    return Water(
        water.momentum, water.momentum * speed + GRAVITY / 2 * water.depth**2
    )


def fastest(water: Water) -> tb.Tensor:
    """Return the speed of the fastest wave in each cell."""
    return tb.abs(water.momentum / water.depth) + tb.sqrt(GRAVITY * water.depth)


# %% [markdown]
# ## One step
#
# Rusanov's flux at an edge is the mean of the fluxes of both sides, less a
# multiple of their difference that keeps shocks stable. At the walls the
# momentum is mirrored, so nothing leaves.


# %%
def step(water: Water, dt: tb.Tensor | float) -> Water:
    """Advance all cells by one step of time."""
    wide = Water(
        tb.pad(water.depth, {"cell": (1, 1)}, mode={"cell": "edge"}),
        tb.concat(
            [-water.momentum[:1], water.momentum, -water.momentum[-1:]],
            axis="cell",
        ),
    )
    left, right = (
        tb.tree_map(lambda x: x[:-1], wide),
        tb.tree_map(lambda x: x[1:], wide),
    )
    speed = tb.maximum(fastest(left), fastest(right))
    through = tb.tree_map(
        lambda from_left, from_right, low, high: (
            (from_left + from_right - speed * (high - low)) / 2
        ),
        flux(left),
        flux(right),
        left,
        right,
    )
    ratio = dt * CELLS / LENGTH
    return tb.tree_map(
        lambda x, edge: x - ratio * (edge[1:] - edge[:-1]), water, through
    )


def dam_break(behind: tb.Tensor) -> Water:
    """Return all states, `f64[time][cell]`; before the dam are 1 m of water."""
    middles = (
        (tb.arange(CELLS, dtype="f64", name="cell") + 0.5) * LENGTH / CELLS
    )
    depth = tb.where(middles < LENGTH / 2, behind, 1.0)
    start = Water(depth, tb.zeros_like(depth))

    def advance(water: Water, _: None) -> tuple[Water, Water]:
        water = step(water, END / STEPS)
        return water, water

    return tb.tree_map(
        lambda x: x.rename("time", "cell"),
        tb.scan(advance, start, length=STEPS)[1],
    )


# %% [markdown]
# ## Three dams at once
#
# `dam_break` takes one number. `vmap` runs it for an axis of them, and the axis
# keeps its name.

# %%
behind = tb.asarray([1.5, 2.0, 3.0], dtype="f64", names=("dam",))
water = tb.jit(tb.vmap(dam_break, in_axes="dam"))(behind)
print(water.depth.template)
volume = tb.sum(water.depth, axis="cell") * LENGTH / CELLS
before = (behind + 1) * LENGTH / 2
print(
    "water is conserved:",
    tb.all_close(volume, before.rename(None)[:, None], rtol=1e-13).item(),
)
courant = tb.max(fastest(water)) * END / STEPS * CELLS / LENGTH
print(f"a wave passes at most {courant:.2f} cells in a step")

# %% [markdown]
# ## A gauge
#
# The gauge is 15 m before the dam. The gradient of its last depth passes 160
# steps, and agrees with a difference.


# %%
def gauge(behind: tb.Tensor) -> tb.Tensor:
    """Return the depth 15 m before the dam at the end."""
    return dam_break(behind).depth[-1, int(0.65 * CELLS)]


depth, slope = tb.jit(tb.value_and_grad(gauge))(tb.asarray(2.0, dtype="f64"))
difference = (
    gauge(tb.asarray(2.0 + 1e-5, dtype="f64"))
    - gauge(tb.asarray(2.0 - 1e-5, dtype="f64"))
) / 2e-5
print(f"depth at the gauge {depth:.4f} m")
print(
    f"for each metre behind the dam {slope:.6f} m;",
    f"by a difference {difference:.6f} m",
)

# %%
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 3.5), layout="constrained"
)
cells = (np.arange(CELLS) + 0.5) * LENGTH / CELLS
left.plot(
    cells,
    np.asarray(water.depth[:, -1].T),
    label=[f"{high} m" for high in behind.tolist()],
)
left.legend(title="behind the dam")
left.set(xlabel="m", ylabel="depth (m)")
left.set_title("the water after 5 s")
right.imshow(
    np.asarray(water.depth[2]),
    origin="lower",
    aspect="auto",
    extent=(0, LENGTH, 0, END),
    cmap="Blues",
)
right.set(xlabel="m", ylabel="s")
right.set_title("depth over time, for 3 m")
plt.show()
