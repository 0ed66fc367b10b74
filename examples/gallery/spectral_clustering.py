# %% [markdown]
# # Spectral clustering
#
# Two moons of points lie so that no line divides them. The graph of their
# neighbours has two parts, and the eigenvectors of its Laplacian tell them
# apart.
#
# What is learned here:
#
# - two names for the two points of a pair keep a matrix of distances in order,
# - `tb.top_k` and `tb.nn.one_hot` make a graph of neighbours without a loop,
# - `tb.while_loop` repeats k-means until nothing changes, however long that
#   takes.

# %%
from typing import NamedTuple

import numpy as np
from matplotlib import pyplot as plt

import tensorbackend as tb

POINTS = 200
NEIGHBOURS = 10

# %% [markdown]
# ## Two moons

# %%
angle = tb.linspace(0.0, tb.pi, POINTS // 2, dtype="f64")
upper = tb.stack([tb.cos(angle), tb.sin(angle)], axis=1)
lower = tb.stack([1 - tb.cos(angle), 0.5 - tb.sin(angle)], axis=1)
moon = tb.arange(POINTS) // (POINTS // 2)
noise = tb.random.normal(tb.random.key(0), (POINTS, 2), dtype="f64")
points = (tb.concat([upper, lower]) + 0.07 * noise).rename("point", "plane")
print(points.template)

# %% [markdown]
# ## The graph
#
# Both axes of the matrix are of points, but they need two names: `point` and
# `other`. Each point is joined to its nearest neighbours, and the graph is made
# symmetric.


# %%
def joined(points: tb.Tensor) -> tb.Tensor:
    """Return 1 for each pair of near points, else 0: `f64[point][other]`."""
    others = points.rename(point="other")
    squared = tb.vmap(
        lambda x: tb.sum((others - x) ** 2, axis="plane"), "point"
    )
    nearest = tb.top_k(
        squared(points), NEIGHBOURS + 1, axis="other", largest=False
    )
    ranks = nearest.indices.rename(other="rank")
    near = tb.nn.one_hot(ranks, POINTS, name="other", dtype="f64")
    near = tb.sum(near, axis="rank")
    # Each point is the nearest to itself.
    eye = tb.eye(POINTS, dtype="f64")
    return tb.maximum(near, near.T.rename(*near.names)) - eye


graph = joined(points)
degree = tb.sum(graph, axis="other")
print(graph.template)
print(f"degrees from {tb.min(degree):.0f} to {tb.max(degree):.0f}")

# %% [markdown]
# ## The Laplacian
#
# Its eigenvectors with the smallest eigenvalues change little between points
# that are joined. Those of a graph in two parts are nearly constant on each
# part. `eigh` gives the eigenvalues in ascending order.

# %%
scale = tb.rsqrt(degree)
laplacian = tb.eye(POINTS, dtype="f64") - scale[:, None] * graph * scale.rename(
    "other"
)
eigenvalues, vectors = tb.linalg.eigh(laplacian)
print(
    "the smallest eigenvalues:",
    *(f"{abs(value):.4f}" for value in eigenvalues[:5].tolist()),
)
places = vectors[:, :2].rename("point", "coordinate")
places = places / tb.linalg.vector_norm(
    places, axis="coordinate", keepdims=True
)

# %% [markdown]
# ## k-means in a loop
#
# The loop ends when no centre moves. A cluster is a segment, and its centre the
# mean of its points.


# %%
class Clusters(NamedTuple):
    """The clusters, and whether they have changed in the last iteration."""

    centres: tb.Tensor  # f64[cluster][coordinate]
    labels: tb.Tensor  # s64[point]
    changed: tb.Tensor
    iterations: tb.Tensor


def improve(now: Clusters) -> Clusters:
    """Assign each point to the nearest centre, and move the centres."""
    squared = tb.vmap(
        lambda x: tb.sum((now.centres - x) ** 2, axis="coordinate"), "point"
    )
    labels = tb.argmin(squared(places), axis="cluster")
    centres = tb.segment_mean(places, labels, size=2, axis="point")
    changed = tb.any(labels != now.labels)
    return Clusters(
        centres.rename("cluster", "coordinate"),
        labels,
        changed,
        now.iterations + 1,
    )


def k_means(first: tb.Tensor) -> Clusters:
    """Return the clusters that are found from these centres."""
    unknown = tb.full(POINTS, -1, names=("point",))
    start = Clusters(first, unknown, tb.asarray(True), tb.asarray(0))
    return tb.while_loop(lambda now: now.changed, improve, start)


# Two points that are far from each other begin as centres.
far = tb.argmin(
    tb.dot(places, places[0].rename("coordinate"), contract="coordinate")
)
clusters = tb.jit(k_means)(tb.stack([places[0], places[far]], name="cluster"))
agree = tb.mean(clusters.labels.rename(None) == moon)
labels, correct = clusters.labels, tb.maximum(agree, 1 - agree)
print(f"{correct:.1%} of points are with their moon")

# %%
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.5), layout="constrained"
)
left.scatter(*np.asarray(points.T), c=np.asarray(labels), s=12, cmap="coolwarm")
left.set_title("the two clusters")
order = np.arange(10)
right.plot(order, np.asarray(eigenvalues[:10]), "o")
right.set_title("the smallest eigenvalues")
plt.show()
