"""The components by NumPy's eigenvectors of a covariance matrix, and the means of digits by pandas' groups."""

import numpy
import pandas

from .conftest import Runner


def test_the_components_are_eigenvectors_of_the_covariance(
    on_both: Runner,
) -> None:
    values = on_both("digits_pca")
    images = numpy.asarray(values["images"]).reshape(-1, 64)
    centred = images - images.mean(axis=0)
    variances, vectors = numpy.linalg.eigh(centred.T @ centred)
    vectors = vectors[:, :-13:-1]
    found = numpy.asarray(values["components"]).reshape(12, 64).T
    numpy.testing.assert_allclose(numpy.abs(numpy.sum(found * vectors, axis=0)), 1, rtol=1e-9)
    explained = variances[:-13:-1] / variances.sum()
    numpy.testing.assert_allclose(numpy.asarray(values["explained"]), explained, rtol=1e-9)
    again = centred @ vectors @ vectors.T + images.mean(axis=0)
    numpy.testing.assert_allclose(numpy.asarray(values["again"]).reshape(-1, 64), again, atol=1e-9)

    scores = pandas.DataFrame(centred @ found)
    means = scores.groupby(numpy.asarray(values["digits"])).mean().to_numpy()
    numpy.testing.assert_allclose(numpy.asarray(values["means"]), means, atol=1e-9)
    distances = numpy.linalg.norm(scores.to_numpy()[:, None] - means, axis=2)
    assert numpy.asarray(values["nearest"]).tolist() == distances.argmin(axis=1).tolist()
