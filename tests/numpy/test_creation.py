"""Arrays that functions of the NumPy namespace make."""

from __future__ import annotations

import pytest

from .beside import assert_as_numpy

CALLS = """
np.vander(k.astype("i2"))
np.vander(k.astype("u1"), 5)
np.vander(k > 2, 2, increasing=True)
np.vander(k.astype("f2"), 3)
np.vander(c.astype("c8"))
np.vander(k.astype("u8"), 0)
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_vander_counts_in_numpys_dtype(call: str) -> None:
    assert_as_numpy(call)


CREATED = """
[np.zeros(s, d) for s in (0, 3, (2, 3), (), [2, 1]) for d in (float, int, bool, complex, None, np.float32, np.uint8)]
[np.empty(s, d).dtype == np.dtype(d) for s in (3, ()) for d in (float, int, np.float16, "i2")]
np.zeros(2, object).tolist() == [0, 0], np.zeros(2, str).tolist() == ["", ""]
np.zeros((2, -1))
np.zeros(2.5, int)
[np.full((2, 2), v) for v in (1, 1.5, True, 2j, np.float32(3), np.int8(4), 2**63, -1)]
np.full(2, 2**70).tolist() == [2**70, 2**70]
np.full((2, -1), 1)
[np.zeros_like(v) for v in (x, x.T, x[:, 1:], x[0, 0], x.astype("f4"), np.zeros((2, 3), order="F"), k > 2, c)]
np.zeros_like(np.asfortranarray(x)).flags.f_contiguous, np.zeros_like(x.T).flags.c_contiguous
"""


@pytest.mark.parametrize("call", CREATED.strip().splitlines())
def test_new_arrays(call: str) -> None:
    assert_as_numpy(call)
