# %% [markdown]
# # Poisson's equation twice: by a Fourier transform and by a sparse matrix
#
# The potential of charges on a periodic square solves a linear system with
# 4,096 unknowns. On such a square a Fourier transform diagonalises it; for
# coefficients that vary, a sparse matrix and conjugate gradients do the work.
#
# What is learned here:
#
# - `tb.fft` transforms along axes by their names,
# - `tb.sparse.from_function` finds the matrix of a stencil, so that the stencil
#   is written once, as a function,
# - `tb.solvers.solve` knows null spaces, and its solution has a gradient.

# %%
import numpy as np
from matplotlib import pyplot as plt

import tensorbackend as tb

SIZE = 64

# %% [markdown]
# ## The stencil
#
# Neighbours around the square: `roll` along an axis by its name. The
# conductivity is that of the edge between two cells.


# %%
def flow(
    potential: tb.Tensor, conductivity: tb.Tensor | float = 1.0
) -> tb.Tensor:
    """Return -div(conductivity grad potential), `f64[y][x]`."""
    total = tb.zeros_like(potential)
    for axis in ("y", "x"):
        after = conductivity * (tb.roll(potential, -1, axis=axis) - potential)
        total = total - (after - tb.roll(after, 1, axis=axis))
    return total * SIZE**2


# %% [markdown]
# ## The charges
#
# Their sum must be 0, as what flows out of one cell flows into others.

# %%
middles = (tb.arange(SIZE, dtype="f64") + 0.5) / SIZE
y, x = tb.aligned(middles.rename("y"), middles.rename("x"), outer=True)


def bump(at_y: float, at_x: float) -> tb.Tensor:
    """Return a smooth charge at a place."""
    return tb.exp(-((y - at_y) ** 2 + (x - at_x) ** 2) / 0.002)


charge = bump(0.3, 0.3) - bump(0.6, 0.7)
charge = charge - tb.mean(charge)
print(charge.template)

# %% [markdown]
# ## By a Fourier transform
#
# The transform turns differences of neighbours into factors. The factor of the
# mean is 0: a constant may be added to every solution, and we choose the one
# whose mean is 0.

# %%
frequency = tb.fft.fftfreq(SIZE, dtype="f64")
factor = 4 * tb.sin(tb.pi * frequency) ** 2 * SIZE**2
factors = tb.add(
    *tb.aligned(factor.rename("y"), factor.rename("x"), outer=True)
)


@tb.jit
def by_fourier(charge: tb.Tensor) -> tb.Tensor:
    """Solve on the periodic square with a conductivity of 1."""
    transformed = tb.fft.fftn(charge, axes=("y", "x"))
    return tb.real(
        tb.fft.ifftn(tb.divide_no_nan(transformed, factors), axes=("y", "x"))
    )


potential = by_fourier(charge)
residual = tb.max(tb.abs(flow(potential) - charge))
print(f"the residual is below 1e-10: {bool(residual < 1e-10)}")

# %% [markdown]
# ## By a sparse matrix
#
# `from_function` traces the stencil once. The tracer knows which entries each
# op moves, so no column is computed.

# %%
matrix = tb.sparse.from_function(flow, charge)
print(matrix)
flat = tb.merge_axes(charge, ("y", "x")).rename(None)
solution = tb.solvers.solve(
    matrix, flat, "cg", rtol=1e-10, null_space="constant"
)
by_matrix = tb.split_axis(solution.x, 0, {"y": SIZE, "x": SIZE})
print(
    f"converged: {solution.converged.item()},",
    f"after {solution.iterations // 10 * 10:d} iterations or a few more",
)
print(
    "both agree:",
    tb.all_close(by_matrix, potential, rtol=1e-6, atol=1e-10).item(),
)

# %% [markdown]
# ## A conductivity that varies
#
# The same function with another coefficient: a disc that conducts badly. The
# gradient says where a better conductor would lower the energy of the field
# most; it flows from the solution into the entries of the matrix.


# %%
def energy(conductivity: tb.Tensor) -> tuple[tb.Tensor, tb.Tensor]:
    """Return the energy of the field, and the potential."""
    matrix = tb.sparse.from_function(
        lambda u: flow(u, conductivity), charge.template
    )
    solution = tb.solvers.solve(
        matrix, flat, "cg", rtol=1e-10, null_space="constant"
    )
    return solution.x @ flat / (2 * SIZE**2), tb.split_axis(
        solution.x, 0, {"y": SIZE, "x": SIZE}
    )


conductivity = 1 - 0.9 * tb.sigmoid((0.15 - tb.hypot(y - 0.45, x - 0.5)) / 0.01)
value, around = energy(conductivity)
slope = tb.grad(lambda conductivity: energy(conductivity)[0])(conductivity)
print(f"energy {value:.4e}; {slope.template}")
step = 1e-3 * conductivity
foreseen = value + tb.sum(slope * step)
print(
    f"with 0.1 % more of it: {foreseen:.6e} foreseen,",
    f"{energy(conductivity + step)[0]:.6e} found",
)

# %%
figure, panels = plt.subplots(1, 3, figsize=(10, 3.3), layout="constrained")
for axes, field, title in zip(
    panels,
    (potential, around, slope),
    ("even", "around a disc", "energy by conductivity"),
    strict=True,
):
    axes.imshow(np.asarray(field), cmap="RdBu")
    axes.set_title(title)
    axes.set_axis_off()
plt.show()
