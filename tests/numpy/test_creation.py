"""Arrays that functions of the NumPy namespace make."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np

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


@pytest.mark.parametrize(
    "rows",
    [
        "[x, x]", "[x[0], x[1]]", "[x.T, x.T]", "[x[0], i]", "[i > 1, i]", "[x[0].astype('f4'), x[0]]", "[z, z]",
        "[x[0, 0], 1]", "[x[0], [1, 2]]", "[[x[0], x[1]], [x[1], x[0]]]", "[x[0], x[0]]", "[]", "[x, x[:1]]",
    ],
)  # fmt: skip
@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_an_array_of_arrays_is_new_and_as_in_numpy(rows: str, backend: str) -> None:
    def made(np: Any) -> Any:
        x = np.array([[1.0, 2.0], [3.0, 4.0]])
        try:
            stacked = np.array(eval(rows, {"x": x, "i": np.array([1, 2]), "z": np.array(2.5)}))
        except ValueError:
            return "refused"
        found = str(stacked.dtype), stacked.shape, numpy.asarray(stacked).tolist(), np.shares_memory(stacked, x)
        stacked[...] = 7
        return *found, numpy.asarray(x).tolist()

    with tb.default_backend(backend):
        assert made(np) == made(numpy)


def test_an_array_of_traced_arrays() -> None:
    x = np.array([1.0, 2.0])
    assert tb.grad(lambda x: np.sum(np.array([x, 2 * x]) * np.array([x, x])))(x).tolist() == [6.0, 12.0]
    assert tb.jit(lambda x: np.array([x[0], x[1]]))(x).tolist() == [1.0, 2.0]
