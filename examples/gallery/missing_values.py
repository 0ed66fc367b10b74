# %% [markdown]
# # A time series with gaps
#
# A station has measured the temperature for sixty days, once an hour. Hours are
# missing, and a few values are wrong.
#
# What is learned here:
#
# - reductions such as `tb.nanmean` leave NaN out, along axes by their names,
# - `tb.split_axis` makes days and hours of one axis of time,
# - a gradient is finite where `tb.where` leaves NaN out before anything else,
#   so a model can be fitted to what there is.

# %%
import numpy as np
from matplotlib import pyplot as plt

import tensorbackend as tb

DAYS = 60

# %% [markdown]
# ## The data

# %%
for_noise, for_gaps, for_faults = tb.random.split(tb.random.key(5), 3)
shape, names = (DAYS * 24,), ("time",)
hours = tb.arange(DAYS * 24, dtype="f64", name="time")
day = 2 * tb.pi * hours / 24
truth = 12 + hours / 300 - 4 * tb.cos(day) + tb.sin(2 * day)
noise = tb.random.normal(for_noise, shape, dtype="f64", names=names)
missing = tb.random.bernoulli(for_gaps, 0.15, shape, names=names) | (
    (hours >= 500) & (hours < 530)
)
faulty = tb.random.bernoulli(for_faults, 0.01, shape, names=names)
seen = tb.where(
    missing, tb.nan, truth + 0.8 * noise + tb.where(faulty, 30.0, 0.0)
)
print(f"{seen.template}, {tb.mean(tb.isnan(seen)):.1%} missing")

# %% [markdown]
# ## What is wrong
#
# A fault is far from the median of its hour of the day, in units of the median
# deviation. Medians hardly notice faults. What is wrong becomes missing.

# %%
by_day = tb.split_axis(seen, "time", {"day": DAYS, "hour": 24})
middle = tb.nanmedian(by_day, axis="day", keepdims=True)
away = tb.abs(by_day - middle)
wrong = away > 8 * tb.nanmedian(away)
clean = tb.merge_axes(
    tb.where(wrong, tb.nan, by_day), ("day", "hour"), name="time"
)
found = tb.sum(wrong)
print(f"{found:d} values are wrong; {tb.sum(faulty & ~missing):d} were made so")
print(f"mean {tb.nanmean(seen):.3f} with them, {tb.nanmean(clean):.3f} without")

# %% [markdown]
# ## The course of a day

# %%
split = tb.split_axis(clean, "time", {"day": DAYS, "hour": 24})
hourly = tb.nanmean(split, axis="day")
spread = tb.nanstd(split, axis="day")
print(f"coldest at {tb.argmin(hourly):d} h, warmest at {tb.argmax(hourly):d} h")

# %% [markdown]
# ## Gaps
#
# `interp` draws lines between the values that there are. A running mean of a
# day divides the sum of what there is by how much there is; hours outside of
# the series count as missing.

# %%
valid = ~tb.isnan(clean)
filled = tb.interp(hours, hours[valid], clean[valid])


@tb.jit
def running_mean(x: tb.Tensor) -> tb.Tensor:
    """Return the mean of a day around each hour, of what there is."""
    known = ~tb.isnan(x)
    total = tb.window_sum(tb.where(known, x, 0.0), 25, padding="same")
    count = tb.window_sum(tb.astype(known, "f64"), 25, padding="same")
    return tb.divide(total, tb.where(count > 0, count, tb.nan))


smooth = running_mean(clean)
left = tb.sum(tb.isnan(smooth))
print(f"missing: {tb.sum(~valid):d}, after the running mean {left:d}")

# %% [markdown]
# ## A model of what there is
#
# A trend and two waves are fitted by L-BFGS to the values that there are. Where
# a value is missing, the difference is NaN, and so is its square's gradient,
# even if a later `nansum` leaves it out: 0 times NaN is NaN. So `where` leaves
# it out before the square.


# %%
def model(weights: tb.Tensor) -> tb.Tensor:
    """Return a constant, a trend and two waves at all hours."""
    waves = [tb.cos(day), tb.sin(day), tb.cos(2 * day), tb.sin(2 * day)]
    parts = tb.stack([tb.ones_like(hours), hours / 1000, *waves], name="part")
    return tb.dot(weights, parts, contract="part")


def misfit(weights: tb.Tensor) -> tb.Tensor:
    """Return the mean squared difference of what is known."""
    difference = tb.where(valid, model(weights) - clean, 0.0)
    return tb.sum(difference**2) / tb.sum(valid)


start = tb.zeros(6, dtype="f64", names=("part",))
slope = tb.grad(misfit)(start)
print("the gradient is finite:", tb.all(tb.isfinite(slope)).item())
minimum = tb.optimize.minimize(misfit, start, tolerance=1e-8)
weights, fitted = minimum.x, model(minimum.x)
print("weights:", *(f"{weight:.3f}" for weight in weights.tolist()))
print(
    f"off the truth by {tb.sqrt(tb.mean((fitted - truth) ** 2)):.3f} on average"
)

# %%
figure, axes = plt.subplots(figsize=(9, 3.5), layout="constrained")
week = slice(450, 620)
x = np.asarray(hours[week]) / 24
axes.plot(x, np.asarray(seen[week]), "k.", ms=3, label="seen")
axes.plot(x, np.asarray(filled[week]), lw=0.7, label="filled")
axes.plot(x, np.asarray(smooth[week]), label="running mean")
axes.plot(x, np.asarray(fitted[week]), label="model")
axes.set(xlabel="day", ylim=(0, 30))
axes.legend(ncols=4)
axes.set_title("a week with a gap")
plt.show()
