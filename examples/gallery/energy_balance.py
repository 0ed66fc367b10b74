# %% [markdown]
# # A climate model in xarray, fitted by its gradient
#
# How warm is it at each latitude? Sunlight comes in, heat goes out, and the
# air and the sea carry heat to the poles (Budyko, 1969; Sellers, 1969; North,
# 1975). The model is written in xarray, as a colleague might have written it:
# nothing in it is of this library. Two of its numbers are not known well, and
# are fitted to what is observed.
#
# What is learned here:
#
# - after `import tensorbackend.xarray`, transforms take and return xarray's
#   objects: gradients of a `DataArray`, unknowns in a `Dataset`, a
#   `DataArray` as the state of a loop,
# - the derivative of a result by each number of a field is a field with the
#   same coordinates.

# %%
import numpy as np
import xarray as xr
from matplotlib import pyplot as plt

import tensorbackend as tb
import tensorbackend.xarray

CELLS = 18
STEPS = 300

# %% [markdown]
# ## The model
#
# The coordinate is the sine of the latitude, so that cells of one size have one
# area. Ice reflects more than the sea, so a colder place takes up less heat.


# %%
def absorbed(temperature: xr.DataArray, sunlight: xr.DataArray) -> xr.DataArray:
    """Return the heat that is taken up, in W/m2."""
    ice = 0.5 * (1 - np.tanh((temperature + 10) / 8))
    return sunlight * (0.7 - 0.3 * ice)


def transported(
    temperature: xr.DataArray, diffusion: xr.DataArray
) -> xr.DataArray:
    """Return the heat that arrives from other latitudes."""
    flow = (1 - temperature.sine**2) * temperature.differentiate("sine")
    return diffusion * flow.differentiate("sine")


def one_step(
    temperature: xr.DataArray, sunlight: xr.DataArray, parameters: xr.Dataset
) -> xr.DataArray:
    """Return the temperatures a tenth of a year later."""
    lost = parameters.greenhouse + 2.09 * temperature
    gained = absorbed(temperature, sunlight) - lost
    gained = gained + transported(temperature, parameters.diffusion)
    return temperature + 0.01 * gained


# %% [markdown]
# ## What is known
#
# The sunlight of a year by latitude, and the temperatures, both as North gave
# them: a mean, and how much of the second Legendre polynomial.

# %%
sine = xr.DataArray(
    (np.arange(CELLS) + 0.5) * 2 / CELLS - 1, dims="sine", name="sine"
)
sine = sine.assign_coords(sine=sine.values)
poles = (3 * sine**2 - 1) / 2
sunlight = (335 * (1 - 0.477 * poles)).rename("sunlight")
observed = (14.9 - 28 * poles).rename("temperature")
start = xr.full_like(observed, 10.0).rename(None)  # as sums have no name
guess = xr.Dataset({"greenhouse": 203.3, "diffusion": 0.3})

# %% [markdown]
# ## The climate, as a loop
#
# The state of the loop is a `DataArray`. The whole run is one program, and its
# gradient another.


# %%
def climate(sunlight: xr.DataArray, parameters: xr.Dataset) -> xr.DataArray:
    """Return the temperatures after some decades."""
    return tb.fori_loop(
        0,
        STEPS,
        lambda _, now: one_step(now, sunlight, parameters),
        start,
    )


def misfit(scale: xr.Dataset) -> xr.DataArray:
    """Return the mean square error; the unknowns are factors of the guess."""
    error = climate(sunlight, guess * scale) - observed
    return (error**2).mean()


first = tb.jit(climate)(sunlight, guess)
print(first.sel(sine=[0, 0.9], method="nearest").round(1).values.tolist())

# %% [markdown]
# ## The fit
#
# The unknowns are a `Dataset`, and so is the gradient.

# %%
ones = xr.ones_like(guess)
slope = tb.jit(tb.grad(misfit))(ones)
print({name: round(float(part), 2) for name, part in slope.items()})
fit = tb.optimize.minimize(misfit, ones, max_iterations=60)
parameters = guess * fit.x.as_numpy()
final = tb.jit(climate)(sunlight, parameters)
print({name: round(float(part), 2) for name, part in parameters.items()})
error = fit.value**0.5
print(f"error: {error.item():.2f} degrees")

# %% [markdown]
# ## What if a latitude had more sunlight?
#
# The derivative of the mean temperature by the sunlight of each cell. Where ice
# may melt, one W/m2 more counts most.

# %%
warming = tb.jit(tb.grad(lambda light: climate(light, parameters).mean()))(
    sunlight
)
warming = warming.as_numpy() * CELLS
print(f"most at the sine {abs(warming.idxmax().values):.2f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2))
for values, label in ((observed, "observed"), (first, "guess"), (final, "fit")):
    left.plot(sine, values.as_numpy(), label=label)
left.set_xlabel("sine of the latitude")
left.set_title("temperature, °C")
left.legend()
right.plot(sine, warming)
right.set_xlabel("sine of the latitude")
right.set_title("warming by one more W/m2 there")
