"""Products of the NumPy namespace, and the sum of a diagonal."""

from __future__ import annotations

import itertools
from typing import Any

import numpy
import opt_einsum
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.errors import OperandError

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
np.einsum("ij,ij->ij", x, np.ones((1, 4)))
np.einsum("...i,i...->i", x, np.ones((1, 3)))
np.einsum("ij,jk", np.ones((2, 1)), np.ones((3, 2)))
np.einsum("ij->j", m > 0, out=np.zeros(4))
np.einsum("i->", np.full(3, 100, np.int8), out=np.array(0))
np.einsum("i,i->", k, k, out=np.array(0, dtype=np.int8), dtype=float, casting="unsafe")
np.linalg.cond(np.zeros((2, 2)))
np.linalg.cond(np.array([[[1.0, 0], [0, 0]], [[1, 0], [0, 2]]]), 1)
np.linalg.qr(x, mode="r")
np.linalg.matrix_power(np.eye(3, k=1, dtype=int), 2**100)
np.linalg.matrix_power(s, 2**64 + 1)
np.linalg.cond(np.array([[[1.0, 0], [0, 0]], [[1, 0], [0, 2]]]))
np.linalg.matrix_rank(np.zeros((0, 0)))
np.linalg.matrix_rank(s, tol=1e-3, rtol=1e-3)
np.linalg.matrix_power(m[:, :3], 5)
np.linalg.matrix_power(m[:, :3], 0)
np.linalg.pinv(s, 1e-3, rtol=1e-3)
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS.split("\n")[1:-1])
def test_products_are_numpys(call: str) -> None:
    assert_as_numpy(call)


@pytest.mark.parametrize("subscripts", ["ij,ij->", "ij,ij->i", "ij,kj->ik", "ij,kj,ij->k"])
def test_opt_einsum_takes_arrays_next_to_numpys_and_tensors(subscripts: str) -> None:
    """It calls the functions of the package in which an array's class is; xarray calls it where it is installed."""
    values = [numpy.arange(6.0).reshape(2, 3) + shift for shift in range(subscripts.count(",") + 1)]
    wanted = numpy.einsum(subscripts, *values)
    makers: tuple[Any, ...] = (np.asarray, numpy.asarray, tb.asarray)
    for kinds in itertools.product(makers, repeat=len(values)):
        if np.asarray in kinds:
            operands = [kind(value) for kind, value in zip(kinds, values, strict=True)]
            found: Any = opt_einsum.contract(subscripts, *operands)
            assert not isinstance(found, tb.Tensor)
            numpy.testing.assert_allclose(numpy.asarray(found), wanted)


def test_tensordot_and_einsum_of_the_package_refuse_other_objects() -> None:
    other: Any = object()
    with pytest.raises(OperandError, match="tensordot: expected a tensor"):
        tb.tensordot(other, tb.ones(2), axes=1)
    with pytest.raises(OperandError, match="einsum: expected a tensor"):
        tb.einsum("i,i", other, tb.ones(2))
