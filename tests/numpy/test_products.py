"""Products of the NumPy namespace, and the sum of a diagonal."""

from __future__ import annotations

import pytest

from .beside import assert_as_numpy

CALLS = """
np.dot(x, x.T)
np.dot(x, k)
np.dot(3, x)
np.dot(x[:, :3], t)
np.dot(c, c)
np.vdot(c, c)
np.vdot(x, x)
np.inner(x, x)
np.inner(3, x)
np.outer(k, x)
np.outer(m, m)
np.outer(m, x)
np.kron(m, m)
np.tensordot(m, m.T, axes=1)
np.tensordot(m, m, axes=([0], [0]))
np.inner(m, m)
np.inner(m[0], m[1])
np.vdot(m, m)
np.dot(m, m.T)
np.dot(m, 2)
np.tensordot(x, t, axes=([0, 1], [1, 2]))
np.tensordot(x, x.T, axes=1)
np.einsum('ij,kj->ik', x, x)
np.einsum('ii', s)
np.einsum('ij->j', m)
np.einsum(x, [0, 1], x, [2, 1], [0, 2])
np.einsum('tij,ij->t', t, x, dtype=np.float32)
np.einsum('tij,ij->t', t, x, dtype=np.float32, casting='same_kind')
np.einsum('tij,ij->t', t, t[0], dtype=np.float64)
np.kron(x, k)
np.kron(k, t)
np.cross(k, [1, 2, 3])
np.cross(x[:, :3], x[:, 1:], axis=0)
np.cross([1, 2, 3], x)
np.trace(x)
np.trace(m)
np.trace(t, 1, 1, 2)
np.trace(t, dtype=np.float32)
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS.split("\n")[1:-1])
def test_products_are_numpys(call: str) -> None:
    assert_as_numpy(call)
