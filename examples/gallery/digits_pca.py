# %% [markdown]
# # Principal components of images, by names
#
# Images of digits have 64 pixels, but differ in fewer ways. Principal
# components find these ways, each an image of its own.
#
# What is learned here:
#
# - `tb.merge_axes` and `tb.split_axis` turn images into vectors and back, and
#   keep track of which axis is which,
# - `tb.dot` contracts axes by their names, so nothing is transposed,
# - a mistake in the axes is an error that shows both operands.

# %%
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import tensorbackend as tb
from tensorbackend.errors import NamesError

COMPONENTS = 12

# %% [markdown]
# ## The images
#
# These are 1,797 digits written by hand. `asarray` takes NumPy's arrays, and
# names their axes.

# %%
here = Path(__file__).parent if "__file__" in globals() else Path()
table = np.loadtxt(here.parent / "data" / "digits.csv.gz", delimiter=",")
images = tb.asarray(
    table[:, :64].reshape(-1, 8, 8) / 16, names=("image", "row", "column")
)
digits = tb.asarray(table[:, 64], dtype="s64", names=("image",))
print(images.template)

# %% [markdown]
# ## Components
#
# The singular vectors of the centred images are the directions in which they
# differ most. `svd` takes a matrix, so rows and columns of an image are merged
# before it, and split after it.

# %%
average = tb.mean(images, axis="image")
pixels = tb.merge_axes(images - average, ("row", "column"), name="pixel")
_, scales, directions = tb.linalg.svd(pixels, full_matrices=False)
components = tb.split_axis(
    directions[:COMPONENTS].rename("component", "pixel"),
    "pixel",
    {"row": 8, "column": 8},
)
explained = (scales**2 / tb.sum(scales**2))[:COMPONENTS]
print(components.template)
print(
    f"{COMPONENTS} components explain {tb.sum(explained):.1%} of the variance"
)

# %% [markdown]
# ## From images to components and back
#
# `dot` sums over the axes that it is told, whatever their positions.

# %%
scores = tb.dot(images - average, components, contract={"row", "column"})
again = tb.dot(scores, components, contract="component") + average
print(scores.template, "->", again.template)
lost = tb.mean((images - again) ** 2, axis=("row", "column"))
print(
    f"mean squared error of a pixel: {tb.mean(lost):.5f};",
    f"the worst image is {tb.argmax(lost):d}",
)

# %% [markdown]
# A product along two axes of length 8 runs in other libraries, also where one
# is a row and the other a column. Here it says so, before it computes anything:

# %%
try:
    images @ components.isel(component=0)
except NamesError as error:
    print(error)

# %% [markdown]
# ## The mean of each digit
#
# Means of groups are means of segments. The distances of one image to ten means
# are written for one image.

# %%
means = tb.segment_mean(scores, digits, size=10, axis="image").rename(
    "digit", "component"
)
distances = tb.vmap(
    lambda score: tb.sum((score - means) ** 2, axis="component"),
    in_axes="image",
)(scores)
nearest = tb.argmin(distances, axis="digit")
print(f"the right mean is nearest: {tb.mean(nearest == digits):.1%} of images")

# %%
figure, rows = plt.subplots(3, 8, figsize=(8, 3.3))
for column in range(8):
    rows[0, column].imshow(
        np.asarray(components[column]), cmap="RdBu", vmin=-0.4, vmax=0.4
    )
    rows[1, column].imshow(
        np.asarray(images[column]), cmap="gray_r", vmin=0, vmax=1
    )
    rows[2, column].imshow(
        np.asarray(again[column]), cmap="gray_r", vmin=0, vmax=1
    )
for axes in rows.flat:
    axes.set_axis_off()
figure.suptitle("components, digits, and digits from 12 components")
plt.show()
