"""Keys of the NumPy namespace that need more than the quick path, and `x.flat`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy
import pytest

import tensorbackend.numpy as np

from .beside import assert_as_numpy

CALLS = """
x[1, 2]
x[-1, ..., None]
x[np.int64(1)]
x[True]
x[[0, 2], 1:3]
x[[]]
x[np.array(1):]
x[m]
x[:, m[0]]
x[k % 3, [0, 1, 2]]
x[3]
x[0, 4]
x[1.0]
x['a']
x[[0.5]]
x[0, 0, 0]
x = x.astype('f4'); x[1, 2] = 1e39
x = x.astype('f4'); x[1:, 2] = -1e39
x = x.astype('f4'); y = x[1]; y[:2] = 1e39
x = x.astype('f2'); x[[0, 2]] = 70000.0
x = x.astype('f2'); x[np.array([0, 2])] = 70000.0
x = x.astype('c8'); x[0] = 1e39
x = x.astype('f4'); x[1, 2] = 10**40
x = x.astype('f2'); x[x > 3] = -2**70
x[0] = 10**400
x[[True, False]]
x[m] = 7
x[0] = x[:1]
x[0] = 1j
x[0] = [1, 2]
t[0, 0, 0] = np.nan
t[0] = 2.7
m[0] = 5
x.flat[5]
x.flat[2:5]
x.flat[[1, -1]]
x.flat[:] = [1, 2, 3]
x.flat[3] = []
y = x[:2]; y.resize(4, 2); y[3] = 7
y = x[:2]; y.resize(4, 3)
len(x.flat)
list(x.flat)
[(part.index, *part.coords, each) for part in [x.T.flat] for each in part]
for place, each in enumerate(x.flat): x.flat[place + 1 :] = each + place
x.flat.copy()
x.flat[2] = 7; x[:, 1:].flat[-1] = 8.5; x.T.flat[1] = 6
x.flat[6] = 1
x.flat[-7]
x.flat[2], x.T.flat[1], x[1:, ::2].flat[1]
f = x.flat; first = next(f); second = [(f.index, *f.coords, each) for each in f]; third = list(f)
f = x.flat; [next(f), next(f)]; x[...] = 0; rest = list(f)
k.flat[1] = 2.5; k.flat[2] = True; m.flat[0] = 7
x = x.astype('f4'); x.flat[1] = 1e39; x.flat[0] = 1.5
x.flags.writeable = False; x.flat[0] = 1
np.broadcast_to(x, (2, *x.shape)).flat[0] = 1
[row.sum() for row in x[1:, ::2]]
[row.shape for row in t]
[e for e in k]
iter(np.array(1.0))
for row in x: row *= 2
for row in x.T: row[0] = 9
for row in x[1:]: row[::2] = row[1::2]
for number, row in enumerate(x): x[2] = 7; row += number
for number, e in enumerate(k): k[2] = 9; x[0, number] = e
rows = list(x); x[1] = 0; x[2] = rows[1] + rows[0]
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS.split("\n")[1:-1])
def test_keys_read_and_write_as_in_numpy(call: str) -> None:
    assert_as_numpy(call)


BITS = [("float64", "float64", 5), ("float32", "int32", 1065353216), ("int8", "uint8", 200), ("int64", "float64", 1.0)]
KEYS_OF_SHARED: list[Any] = [..., 0, (0, 1), slice(1, None), (0, [0, 1]), (slice(None), 1), (1, 2, 0)]


def shared_view(space: Any, dtype: str) -> tuple[Any, Any]:
    """An array, and a view of it that shows each element twice."""
    x = space.arange(12).reshape(3, 4).astype(dtype)
    return x, space.broadcast_arrays(x, space.ones((2, 1, 1)))[0]


def written(space: Any, dtype: str, read: Callable[[Any], Any], key: Any, value: Any, again: bool) -> Any:
    x, shown = shared_view(space, dtype)
    view = read(shown)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        if again:
            view = view[...]
        view[key] = value
    return numpy.asarray(x).tolist()


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("key", KEYS_OF_SHARED, ids=str)
@pytest.mark.parametrize(("dtype", "bits", "value"), BITS)
def test_bits_of_elements_that_are_shown_twice_are_written_as_numpy_does(
    dtype: str, bits: str, value: Any, key: Any, again: bool
) -> None:
    ours, numpys = [written(space, dtype, lambda x: x.view(bits), key, value, again) for space in (np, numpy)]
    assert ours == numpys


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("key", KEYS_OF_SHARED, ids=str)
@pytest.mark.parametrize("part", ["real", "imag"])
def test_parts_of_elements_that_are_shown_twice_are_written_as_numpy_does(part: str, key: Any, again: bool) -> None:
    ours, numpys = [written(space, "complex128", attrgetter(part), key, 7.0, again) for space in (np, numpy)]
    assert ours == numpys
