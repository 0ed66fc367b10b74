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
