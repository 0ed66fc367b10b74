"""Functions of the NumPy namespace that give indices as arrays."""

from __future__ import annotations

import pytest

from .beside import assert_as_numpy

CALLS = """
np.unravel_index(7, (3, 4))
np.unravel_index(k, (3, 4), order='F')
np.unravel_index([0.5], (3, 4))
np.ravel_multi_index(([0, 2], [1, 3]), (3, 4))
np.ravel_multi_index(([0, 2], [1, 3]), (3, 4), order='F')
np.ravel_multi_index(([4, 2], [1, 9]), (3, 4), mode=('wrap', 'clip'))
np.ix_([0, 2], [True, False, True, True])
np.ix_([], [0])
np.ix_(x)
np.diag_indices(3)
np.diag_indices(2, ndim=3)
np.diag_indices_from(s)
np.diag_indices_from(x)
np.diag_indices_from(k)
np.tril_indices(3, -1)
np.triu_indices(3, 1, 4)
np.tril_indices_from(x)
np.triu_indices_from(x, 1)
np.triu_indices_from(t)
np.mask_indices(3, np.triu, 1)
list(np.ndindex(2, 3))
[place for place, _ in np.ndenumerate(x)]
[value for _, value in np.ndenumerate(x)]
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS.split("\n")[1:-1])
def test_places_are_numpys(call: str) -> None:
    assert_as_numpy(call)
