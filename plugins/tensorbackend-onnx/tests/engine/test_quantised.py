"""Products with quantised matrices by `MatMulNBits`."""

from __future__ import annotations

import gc

import numpy
import pytest
import tensorbackend as tb

from tensorbackend_onnx.engine import OnnxRuntimeBackend
from tensorbackend_onnx.engine.quantised import _nothing

EXACT, ROUNDED = OnnxRuntimeBackend(), OnnxRuntimeBackend(accuracy_level=4)

Matrix = tuple[str, bool, int | None, tuple[int, ...], int]
"""Dtype, whether symmetric, block, shape and axis."""

MATRICES: list[Matrix] = [
    ("int4", True, 32, (64, 5), 0),
    ("int4", False, 16, (48, 3), 0),
    ("uint4", False, 32, (96, 7), 0),
    ("int4", True, None, (64, 5), 0),
    ("int4", True, 32, (5, 64), 1),
    ("int4", True, 32, (3, 64, 4), 1),
]
BYTES: list[Matrix] = [("int8", True, 32, (64, 5), 0), ("int8", False, 64, (64, 5), 0), ("int2", True, 16, (64, 4), 0)]


def products(matrix: Matrix, backend: tb.NumpyBackend) -> list[tb.Tensor]:
    """Three products by the engine, of which the second makes the session, and NumPy's."""
    dtype, symmetric, block, shape, axis = matrix
    x = tb.random.normal(tb.random.key(2), (3, shape[axis]))
    q = tb.quantize(tb.random.normal(tb.random.key(1), shape), dtype, axis=axis, block=block, symmetric=symmetric)
    own, given = tb.backend_copy((q, x), backend)
    found = [tb.quantized_dot(given, own) for _ in range(3)]
    packed = backend.packed[own]  # type: ignore[attr-defined] # of the engine's backend
    assert packed.kernel is not None
    assert (packed.kernel is _nothing) == (matrix in BYTES and backend is EXACT)
    assert {y.backend for y in found} == {backend}
    return [*found, tb.quantized_dot(x, q)]


@pytest.mark.parametrize("matrix", MATRICES + BYTES, ids=str)
def test_a_product_is_that_of_numpy(matrix: Matrix) -> None:
    *found, wanted = map(numpy.asarray, products(matrix, EXACT))
    for one in found:
        numpy.testing.assert_allclose(one, wanted, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("matrix", MATRICES + BYTES, ids=str)
def test_at_the_fourth_level_the_operand_has_8_bits(matrix: Matrix) -> None:
    first, _, third, wanted = map(numpy.asarray, products(matrix, ROUNDED))
    numpy.testing.assert_allclose(first, wanted, rtol=1e-5, atol=1e-4)
    assert numpy.max(abs(third - wanted)) < 0.03 * numpy.max(abs(wanted)) + 0.2


def test_a_matrix_that_is_written_to_is_packed_again() -> None:
    q, x = tb.backend_copy((tb.quantize(tb.ones((32, 2)), "int4", axis=0), tb.ones((1, 32))), EXACT)
    for _ in range(3):
        before = tb.quantized_dot(x, q)
    q.scales[...] = q.scales * 2.0
    for _ in range(3):
        assert tb.quantized_dot(x, q).tolist() == (before * 2.0).tolist()


def test_what_is_kept_goes_with_the_matrix() -> None:
    q, x = tb.backend_copy((tb.quantize(tb.ones((32, 2)), "int4", axis=0), tb.ones((1, 32))), EXACT)
    tb.quantized_dot(x, q)
    before = len(EXACT.packed)
    del q
    gc.collect()
    assert len(EXACT.packed) < before


def test_other_dtypes_traces_and_gradients_are_computed_by_parts() -> None:
    q, x = tb.backend_copy((tb.quantize(tb.ones((32, 2)), "int4", axis=0), tb.ones((1, 32))), EXACT)
    assert tb.quantized_dot(x.astype("f64"), q).dtype is tb.float64
    slope = tb.grad(lambda x: tb.sum(tb.quantized_dot(x, q)))(x)
    numpy.testing.assert_allclose(numpy.asarray(slope), 2.0, rtol=1e-6)
    numpy.testing.assert_allclose(
        numpy.asarray(tb.jit(lambda x: tb.quantized_dot(x, q))(x)), numpy.asarray(tb.quantized_dot(x, q)), rtol=1e-6
    )
