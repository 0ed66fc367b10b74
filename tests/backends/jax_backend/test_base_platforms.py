"""The kernels for other platforms, run on this machine's CPU."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.backends.jax_backend import JaxBackend
from tensorbackend.errors import TensorBackendError, UnsupportedOp
from tensorbackend.protocol.core import Core
from tensorbackend.testing import check_pairs, check_row, divergences_of, names
from tensorbackend.testing.source import public


@pytest.fixture
def elsewhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[JaxBackend]:
    """JAX on this machine, with the kernels for the platform that the test names."""
    present = {key: Core._instances.pop(key) for key in list(Core._instances) if key[0] is JaxBackend}
    monkeypatch.setattr(JaxBackend, "platform", property(lambda backend: request.param))
    yield JaxBackend()
    for key in [key for key in Core._instances if key[0] is JaxBackend]:
        del Core._instances[key]
    Core._instances.update(present)


on = pytest.mark.parametrize
GPU = on("elsewhere", ["gpu"], indirect=True)
TPU = on("elsewhere", ["tpu"], indirect=True)
OPS_OF_KERNELS = ["conv", "divide", "sqrt", "matmul", "sum", "sparse_matvec"]
WITHOUT_FLOAT64 = [
    "gamma_inc_l",
    "gamma_inc_u",
    "floor_divide",
    "exp",
    "log",
    "cos",
    "atanh",
    "log2",
    "argmax",
    "arange",
    "linspace",
    "prod",
]


@on(
    ("elsewhere", "op"),
    [("gpu", op) for op in OPS_OF_KERNELS] + [("tpu", op) for op in (*OPS_OF_KERNELS, *WITHOUT_FLOAT64)],
    indirect=["elsewhere"],
)
def test_kernels(elsewhere: JaxBackend, op: str) -> None:
    dtypes = [tb.int32, tb.uint8, tb.float32, tb.complex64]
    pairs = list(check_pairs(elsewhere, [op], dtypes, examples=3))
    assert pairs
    assert not [(pair.dtype, pair.detail) for pair in pairs if pair.status == "fail"]


@GPU
@on(("first", "between"), [("f64", "f32"), ("f32", "bf16"), ("c128", "c64"), ("i32", "f16")])
def test_casts_in_programs_round(elsewhere: JaxBackend, first: str, between: str) -> None:
    x = tb.tensor([3.14159, 1e-3, 1234.5], dtype="f64", backend=elsewhere).astype(first)

    def cast_and_back(x: tb.Tensor) -> tb.Tensor:
        return tb.astype(tb.astype(x, between), "c128")

    expected = cast_and_back(x.backend_copy("binary")).tolist()
    assert tb.jit(cast_and_back)(x).tolist() == cast_and_back(x).tolist() == expected


@TPU
def test_its_divergences_are_needed_and_enough(elsewhere: JaxBackend) -> None:
    rows = [row for row in divergences_of(elsewhere) if row.device == "tpu"]
    assert {op for row in rows for op in row.ops} == {"gamma_inc_l", "gamma_inc_u", "floor_divide"}
    for row in rows:
        check_row(row, elsewhere)


@TPU
def test_incomplete_gamma_functions_of_large_and_of_tiny_numbers(elsewhere: JaxBackend) -> None:
    a = np.array([2147483647, 1e9, 1000, 30, 1e-38, 1e-20, 1e-6, 0.3], np.float32)
    x = np.array([2147483647, 1.00003e9, 990, 20, 0.1, 0.9, 5, 0.01], np.float32)
    tensors = [tb.asarray(each, backend=elsewhere) for each in (a, x)]
    upper, lower = np.asarray(tb.gamma_inc_u(*tensors)), np.asarray(tb.gamma_inc_l(*tensors))
    wanted = [tb.asarray(each.astype(np.float64), backend="binary") for each in (a, x)]
    assert np.allclose(upper, np.asarray(tb.gamma_inc_u(*wanted)), rtol=3e-5, atol=2e-38)
    assert np.allclose(lower, np.asarray(tb.gamma_inc_l(*wanted)), rtol=3e-5, atol=0)


@TPU
def test_remainders_by_the_smallest_divisors(elsewhere: JaxBackend) -> None:
    """The remainder of the quotient may be subnormal, where the sum with the divisor is not."""
    left = [-2.117538e34, 1.6702881e35, 3e-37, -3e-37, 2.5e32, 1e-38, 7.0]
    right = [6.3852883e-38, -1.8150617e-36, 1.9e-38, 1.9e-38, -1.3192274e-38, 3e-38, -1.2e-38]
    x, y = (np.asarray(values, "float32") for values in (left, right))
    found = np.asarray(tb.remainder(*(tb.asarray(values, backend=elsewhere) for values in (x, y))))
    wanted = np.remainder(x.astype("float64"), y.astype("float64")).astype("float32")
    normal = abs(wanted) >= np.finfo("float32").smallest_normal
    assert normal.sum() >= 4
    assert found[normal].tolist() == wanted[normal].tolist()


@TPU
def test_products_of_complex64_overflow_where_the_exact_ones_do(elsewhere: JaxBackend) -> None:
    parts = [0.0, -0.0, 1.0, -2.5, 3e38, -3.1e38, 2e19, math.inf, -math.inf, math.nan]
    numbers = [complex(real, imaginary) for real in parts for imaginary in parts]
    left, right = zip(*itertools.product(numbers, numbers), strict=True)
    for op, operands in (("multiply", (left, right)), ("square", (numbers,))):
        found, wanted = (
            np.asarray(getattr(tb, op)(*(tb.tensor(list(z), dtype="c64", backend=backend) for z in operands)))
            for backend in (elsewhere, "binary")
        )
        for part in ("real", "imag"):
            np.testing.assert_allclose(getattr(found, part), getattr(wanted, part), rtol=1e-5)


@TPU
def test_a_tpu_has_integers_of_64_bits_and_floats_of_32(elsewhere: JaxBackend) -> None:
    x = tb.asarray([1.0, 3.0, 2.0], backend=elsewhere)
    assert (tb.argmax(x).dtype, tb.sum(tb.arange(3, backend=elsewhere)).dtype) == (tb.int64, tb.int64)
    with pytest.raises(UnsupportedOp, match="a dtype that the backend 'jax' holds, got dtype=float64"):
        tb.asarray([1.0], dtype="float64", backend=elsewhere)
    with pytest.raises(UnsupportedOp) as error:
        tb.asarray([1.0], dtype="float64", backend="binary").backend_copy(elsewhere)
    assert "JAX_ENABLE_X64" not in str(error.value)


@TPU
def test_programs_for_a_tpu_have_nothing_that_it_lacks(elsewhere: JaxBackend) -> None:
    """It has no complex128, reads no bits of float64, and calls no function on the host."""
    import jax

    texts, lacking = 0, {}
    for name in names():
        for dtype in ("f32", "c64"):
            x = tb.tensor([[0.5, 0.25], [0.25, 2.0]], dtype=dtype, backend=elsewhere)
            try:
                public(name)(tb.template((2, 2), dtype))  # a dry run refuses in less time
                text = jax.jit(public(name)).lower(x).as_text()
            except (TensorBackendError, TypeError):  # an op with further arguments, or not of this dtype
                continue
            texts += 1
            if found := re.findall(r"complex<f64>|bitcast_convert.*f64|callback", text):
                lacking[name, dtype] = found[0]
    assert texts > 100
    assert not lacking
