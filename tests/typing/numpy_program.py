"""Annotations of a NumPy program: arrays with a dtype, without one, and what is taken as an array."""

from typing import TYPE_CHECKING, Any, assert_type

import tensorbackend.numpy as np
import tensorbackend.numpy.typing as npt


def halve(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    y: npt.NDArray[np.float64] = x / 2
    return y


def total(x: npt.ArrayLike, dtype: npt.DTypeLike = None) -> np.ndarray:
    return np.asarray(np.sum(np.asarray(x, dtype)))


halves: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = halve(np.ones(3))
total([halves, [1, 2, 3]], "f4")
assert_type(halves, np.ndarray[tuple[int, ...], np.dtype[np.float64]])
assert_type(total([1, 2]), np.ndarray[Any, Any])


order = np.argsort(halves)
joined = np.concatenate([halves[order], np.sort([3.0, 1.0])])
counts, edges = np.histogram(joined, bins=3)
(places,) = np.nonzero(joined > 0)
chosen = np.where(joined > 0, joined, 0.0)
assert_type(np.cumsum(joined).shape, tuple[int, ...])
assert_type(counts.tolist(), Any)
assert_type(np.where(joined > 0), tuple[np.ndarray[Any, Any], ...])
assert_type(np.unique(joined), np.ndarray[Any, Any])
for each in (order, joined, edges, places, chosen, joined.argsort()):
    assert_type(each, np.ndarray[Any, Any])
for each in (np.linspace(0, 1, 3) + 1, -joined, joined > 0, 2 * joined, np.exp(joined), np.add(joined, 1)):
    assert_type(each, np.ndarray[Any, Any])
assert_type(np.atleast_1d(3.0), np.ndarray[Any, Any])
number: float = np.exp(2.0)
array: np.ndarray[Any, Any] = np.sum(joined)
if TYPE_CHECKING:
    np.zeross(3)  # type: ignore[attr-defined] # a wrong name is found
