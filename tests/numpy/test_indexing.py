"""Keys of the NumPy namespace that need more than the quick path, and `x.flat`."""

from __future__ import annotations

import pytest

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
len(x.flat)
list(x.flat)
x.flat.copy()
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS.split("\n")[1:-1])
def test_keys_read_and_write_as_in_numpy(call: str) -> None:
    assert_as_numpy(call)
