# %% [markdown]
# # Climate on a grid, in groups
#
# Thirty years of monthly temperatures on a grid of the Earth: what is usual for
# a month, where does it get warmer, and where does the weather follow the
# Pacific?
#
# What is learned here:
#
# - groups are segments: `tb.segment_mean` computes what `groupby` does
#   elsewhere,
# - means that are weighted by area, products and regressions go by the names of
#   axes,
# - `tb.aligned` brings tensors with different axes into one order.

# %%
import numpy as np
from matplotlib import pyplot as plt

import tensorbackend as tb

YEARS = 30
STEP = 5  # degrees

# %% [markdown]
# ## The data
#
# They are made up of a climate, a cycle of months, a trend that is stronger in
# the north, and an index that warms the Pacific. Vectors with different names
# multiply after `aligned(..., outer=True)`; `outer` below does that for three
# of them.

# %%
latitude = tb.arange(-90 + STEP / 2, 90, STEP, name="latitude")
longitude = tb.arange(STEP / 2, 360, STEP, name="longitude")
time = tb.arange(12 * YEARS, name="time")
month, year = time % 12, time // 12


def outer(*vectors: tb.Tensor) -> tb.Tensor:
    """Return the product of vectors of different axes."""
    first, *others = tb.aligned(*vectors, outer=True)
    for other in others:
        first = first * other
    return first


north = latitude * tb.pi / 180
everywhere, always = tb.ones_like(longitude), tb.ones_like(time, dtype="f32")
for_index, for_weather = tb.random.split(tb.random.key(1))
shocks = tb.random.normal(for_index, time.shape, names=("time",))
_, index = tb.scan(
    lambda last, shock: (now := 0.9 * last + 0.4 * shock, now),
    0.0,
    shocks,
    axis="time",
)
pacific = outer(
    tb.exp(-((latitude / 10) ** 2)), tb.exp(-(((longitude - 220) / 40) ** 2))
)
temperature = (
    outer(always, 28 - 45 * tb.sin(north) ** 2, everywhere)
    - outer(tb.cos(2 * tb.pi * month / 12), 15 * tb.sin(north), everywhere)
    + outer(time / 120, 0.2 + 0.2 * tb.sin(north), everywhere)
    + tb.multiply(*tb.aligned(index, 1.5 * pacific, outer=True))
)
weather = tb.random.normal(
    for_weather, temperature.shape, names=temperature.names
)
temperature = temperature + 0.7 * weather
print(temperature.template)

# %% [markdown]
# ## What is usual for a month
#
# The month is the segment of each time, and the result has an entry for each of
# the twelve. `take` reads the entry of each time; the axis of the indices takes
# the place of `month`, so the difference is one of equal names.

# %%
usual = tb.segment_mean(temperature, month, size=12, axis="time").rename(
    "month", "latitude", "longitude"
)
anomaly = temperature - tb.take(usual, month, axis="month")
print(usual.template)
warmest = tb.argmax(tb.mean(usual, axis="longitude"), axis="month") + 1
print(f"the warmest month: {warmest[0].item()} at the southern end,", end=" ")
print(f"{warmest[-1].item()} at the northern end")

# %% [markdown]
# ## The mean of the Earth
#
# A cell near a pole is small, so means are weighted by the cosine of the
# latitude.

# %%
weights = outer(tb.cos(north), everywhere)
of_earth = tb.weighted_mean(anomaly, weights, axis=("latitude", "longitude"))
yearly = tb.segment_mean(of_earth, year, size=YEARS).rename("year")
decades = tb.mean(
    tb.split_axis(yearly, "year", {"decade": -1, "year": 10}), axis="year"
)
print(
    "mean anomaly of each decade:",
    *(f"{value:.3f}" for value in decades.tolist()),
)

# %% [markdown]
# ## Where it gets warmer
#
# A regression on time at each place is a product along `time`, and so is one on
# the index.


# %%
def regression(values: tb.Tensor, on: tb.Tensor) -> tb.Tensor:
    """Return by how much values change for each unit of a series."""
    centred = on - tb.mean(on)
    return tb.dot(values, centred, contract="time") / tb.sum(centred**2)


trend = regression(anomaly, time / 120)
response = regression(anomaly, index)
print(trend.template)
zonal = tb.mean(trend, axis="longitude")
for name, at in {"south": 0, "north": -1}.items():
    print(f"trend in the far {name}: {zonal[at]:.2f} K per decade")
row, column = tb.unravel_index(tb.argmax(response), response.shape)
print(
    f"the index acts most at {latitude[row]:.1f} degrees north, "
    f"{longitude[column]:.1f} degrees east"
)

# %%
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 3), layout="constrained"
)
for axes, field, title in (
    (left, trend, "trend (K per decade)"),
    (right, response, "response to the index (K)"),
):
    drawn = axes.imshow(
        np.asarray(field),
        origin="lower",
        extent=(0, 360, -90, 90),
        cmap="inferno",
    )
    axes.set_title(title)
    figure.colorbar(drawn, ax=axes)
plt.show()
