"""A library of two methods, written once: its users pass arrays of NumPy, JAX, PyTorch or CuPy, and get theirs back.

Run it for the arrays of each library that is installed: `python examples/for_any_library.py`.
"""

import math
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy

import tensorbackend as tb


def covariance(logs: tb.Tensor, x: tb.Tensor, y: tb.Tensor) -> tb.Tensor:
    """How values at two places vary together: by less, the farther the places are from each other."""
    height, width = tb.exp(logs[0]), tb.exp(logs[1])
    distance = (x[:, None] - y[None, :]) / width
    return height**2 * tb.exp(-(distance**2) / 2)


def factor(logs: tb.Tensor, place: tb.Tensor) -> tb.Tensor:
    """The Cholesky factor of the covariance of what is seen, with its noise."""
    return tb.linalg.cholesky(covariance(logs, place, place) + tb.exp(logs[2]) ** 2 * tb.eye(place.size))


@tb.for_arrays
def misfit(logs: Any, place: Any, seen: Any) -> Any:
    """The negative logarithm of the likelihood of a Gaussian process, by the logarithms of height, width and noise."""
    half = factor(logs, place)
    white = tb.linalg.triangular_solve(half, seen, lower=True)
    return tb.sum(white**2) / 2 + tb.sum(tb.log(tb.take_diagonal(half))) + place.size * math.log(2 * math.pi) / 2


@tb.for_arrays
def predicted(logs: Any, place: Any, seen: Any, grid: Any) -> dict[str, Any]:
    """The mean of the process on a grid, and its standard deviation there."""
    half = factor(logs, place)
    across = tb.linalg.triangular_solve(half, covariance(logs, place, grid), lower=True)
    mean = tb.matrix_transpose(across) @ tb.linalg.triangular_solve(half, seen, lower=True)
    return {"mean": mean, "deviation": tb.sqrt(tb.exp(2 * logs[0]) - tb.sum(across**2, axis=0))}


def distances(points: tb.Tensor, centres: tb.Tensor) -> tb.Tensor:
    """The square of the distance of each point from each centre."""
    return tb.sum((points[:, None, :] - centres[None, :, :]) ** 2, axis=2)


@tb.for_arrays
def spread(centres: Any, points: Any) -> Any:
    """What k-means minimizes: the mean square of the distance of a point from the nearest centre."""
    return tb.mean(tb.min(distances(points, centres), axis=1))


@tb.for_arrays
def k_means(points: Any, centres: Any, steps: int = 10) -> tuple[Any, Any]:
    """The centres after some steps of k-means, and the number of the nearest one for each point."""
    for _ in range(steps):
        nearest = tb.argmin(distances(points, centres), axis=1)
        centres = tb.segment_mean(points, nearest, size=centres.shape[0])
    return centres, tb.argmin(distances(points, centres), axis=1)


def fitted(array: Callable[[Any], Any], steps: int = 3) -> Any:
    """The results for arrays of one library."""
    place, points = numpy.linspace(-3.0, 3.0, 20), numpy.random.default_rng(0).normal(size=(30, 2))
    logs, seen = array(numpy.array([0.0, 0.0, -1.0])), array(numpy.sin(2 * place))
    found = predicted(logs, array(place), seen, array(place[::4] + 0.1))
    return misfit(logs, array(place), seen), found["mean"], k_means(array(points), array(points[:3]), steps)[0]


if __name__ == "__main__":
    libraries = {"numpy": "asarray", "jax.numpy": "asarray", "torch": "from_numpy", "cupy": "asarray"}
    for name, convert in libraries.items():
        if find_spec(name.partition(".")[0]) is not None:
            library = __import__(name, fromlist=[convert])
            loss, mean, _ = fitted(getattr(library, convert))
            print(f"{type(mean).__module__}.{type(mean).__name__}: misfit {float(loss):.6f}, first mean {mean[0]:.6f}")
