# %% [markdown]
# # The bootstrap, by keys
#
# How sure is a correlation of 30 pairs? The bootstrap draws the pairs again and
# again, with replacement, and looks at how much the correlation changes.
#
# What is learned here:
#
# - a key decides what is drawn; `tb.random.split` makes thousands of
#   independent keys,
# - `tb.vmap` over keys computes a statistic of thousands of samples, from a
#   function that draws one,
# - the numbers are the same on every backend, and those of `jax.random`.

# %%
import numpy as np
from matplotlib import pyplot as plt

import tensorbackend as tb

SAMPLES = 4000

# %% [markdown]
# ## The data
#
# `multivariate_normal` draws pairs with a true correlation of 0.6.

# %%
for_data, for_bootstrap, for_shuffles = tb.random.split(tb.random.key(7), 3)
mean = tb.zeros(2, dtype="f64", names=("variable",))
covariance = tb.asarray([[1.0, 0.6], [0.6, 1.0]], dtype="f64")
pairs = tb.random.multivariate_normal(
    for_data, mean, covariance, (30,), names=("pair", "variable")
)
print(pairs.template)


def correlation(pairs: tb.Tensor) -> tb.Tensor:
    """Return the correlation of the two variables."""
    centred = pairs - tb.mean(pairs, axis="pair", keepdims=True)
    x, y = centred.isel(variable=0), centred.isel(variable=1)
    return tb.sum(x * y) / tb.sqrt(tb.sum(x**2) * tb.sum(y**2))


seen = correlation(pairs)
print(f"correlation {seen:.4f}")

# %% [markdown]
# ## Samples
#
# The function draws one sample by its key. `vmap` over the keys draws all of
# them at once; each key gets the numbers that it would get alone.


# %%
def sampled(key: tb.Tensor) -> tb.Tensor:
    """Return the correlation of as many pairs, drawn with replacement."""
    return correlation(tb.random.choice(key, pairs, (30,), axis="pair"))


keys = tb.random.split(for_bootstrap, SAMPLES)
correlations = tb.jit(tb.vmap(sampled))(keys)
print(
    correlations.template,
    "the third alone:",
    bool(tb.all_close(sampled(keys[2]), correlations[2], rtol=1e-12)),
)
low, high = tb.quantile(correlations, (0.025, 0.975)).tolist()
print(f"standard error {tb.std(correlations, correction=1):.4f}")
print(f"95 % interval by percentiles: {low:.4f} to {high:.4f}")

# %% [markdown]
# ## The jackknife
#
# Each pair is left out once. Another `vmap`, this time over the number of the
# pair. Shapes do not depend on that number, so `take` reads the 29 pairs after
# it, around the end.

# %%
others = tb.arange(1, 30, name="pair")
without = tb.vmap(
    lambda i: correlation(tb.take(pairs, (i + others) % 30, axis="pair"))
)(tb.arange(30))
bias = 29 * (tb.mean(without) - seen)
error = tb.sqrt(29 * tb.var(without))
print(f"bias {bias:.4f}, standard error {error:.4f} by the jackknife")

# %% [markdown]
# ## Could it be chance?
#
# If the variables had nothing to do with each other, the order of one of them
# would not matter. `permutation` draws orders.


# %%
def shuffled(key: tb.Tensor) -> tb.Tensor:
    """Return the correlation after a shuffle of one variable."""
    x, y = pairs.isel(variable=0), pairs.isel(variable=1)
    return correlation(
        tb.stack([x, tb.random.permutation(key, y)], axis=1, name="variable")
    )


by_chance = tb.jit(tb.vmap(shuffled))(tb.random.split(for_shuffles, SAMPLES))
p_value = (tb.sum(tb.abs(by_chance) >= tb.abs(seen)) + 1) / (SAMPLES + 1)
print(f"p value {p_value:.4f}")

# %%
figure, axes = plt.subplots(figsize=(7, 3.5))
axes.hist(
    np.asarray(by_chance), bins=60, density=True, alpha=0.6, label="shuffled"
)
axes.hist(
    np.asarray(correlations),
    bins=60,
    density=True,
    alpha=0.6,
    label="drawn again",
)
axes.axvline(seen.item(), color="k", lw=1)
axes.legend()
axes.set_title("correlations of 4,000 samples")
plt.show()
