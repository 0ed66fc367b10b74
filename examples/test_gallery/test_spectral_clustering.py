"""The graph, the eigenvectors and the clusters by SciPy."""

import numpy
from scipy.cluster.vq import kmeans2
from scipy.sparse.csgraph import laplacian
from scipy.spatial import KDTree

from .conftest import Runner, Values


def projections(values: Values) -> numpy.ndarray:
    """The sum of the projections on eigenvectors times their eigenvalues: equal eigenvalues have many eigenvectors."""
    vectors = numpy.asarray(values["vectors"])
    return vectors * numpy.asarray(values["eigenvalues"]) @ vectors.T


def moon_of_far(values: Values) -> int:
    """The moon of the point that is chosen as the second centre: all points of the other moon are equally far."""
    return int(values["far"]) // 100


def test_the_clusters_are_those_of_scipy(on_both: Runner) -> None:
    compared = {"vectors": projections, "far": moon_of_far}
    values = on_both("spectral_clustering", atol=1e-6, compared=compared)
    points = numpy.asarray(values["points"])
    graph = numpy.zeros((200, 200))
    _, nearest = KDTree(points).query(points, 11)
    numpy.put_along_axis(graph, nearest, 1, axis=1)
    graph = numpy.maximum(graph, graph.T) - numpy.eye(200)
    assert numpy.array_equal(numpy.asarray(values["graph"]), graph)

    eigenvalues, vectors = numpy.linalg.eigh(laplacian(graph, normed=True))
    numpy.testing.assert_allclose(numpy.asarray(values["eigenvalues"]), eigenvalues, atol=1e-12)
    places = vectors[:, :2] / numpy.linalg.norm(vectors[:, :2], axis=1, keepdims=True)
    _, labels = kmeans2(places, 2, minit="++", rng=0)
    found = numpy.asarray(values["labels"])
    assert numpy.array_equal(found, labels) or numpy.array_equal(found, 1 - labels)
    assert values["correct"] > 0.95
