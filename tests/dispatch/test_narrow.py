"""Which ops take tensors of narrow dtypes, and what the others say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.dtypes import DType
from tensorbackend.errors import DTypeError, OutOfRangeError, UnsupportedOp

BACKENDS = ("binary", "numpy", "jax")


def example(dtype: DType, backend: str) -> tuple[tb.Tensor, Any]:
    """A tensor of 2 by 3 numbers that each dtype holds, and the same as a NumPy array."""
    array = np.array([[1, 1, 2], [2, 1, 1]] if dtype.kind != "int" else [[1, 1, -1], [-1, 1, 1]]).astype(dtype.dtype)
    return tb.asarray(array, backend=backend), array.astype(np.float32)


REFUSED: dict[str, Callable[[tb.Tensor], Any]] = {
    "add": lambda x: x + x,
    "multiply": lambda x: x * 2,
    "equal": lambda x: x == x,
    "exp": tb.exp,
    "sum": tb.sum,
    "sort": tb.sort,
    "softmax": tb.softmax,
    "max": tb.max,
    "isnan": tb.isnan,
    "cumulative_sum": tb.cumulative_sum,
    "count_nonzero": tb.nonzero,
    "unique_values": tb.unique_values,
    "matmul": lambda x: x @ x.T,
}


@pytest.mark.parametrize("name", REFUSED)
def test_ops_that_compute_name_the_cast_to_write(name: str) -> None:
    texts = set()
    for backend in (*BACKENDS, "template"):
        x = example(tb.int4, "numpy")[0] if backend != "template" else tb.template((2, 3), "int4")
        x = x if backend in ("numpy", "template") else x.backend_copy(backend)
        if name in ("count_nonzero", "unique_values") and backend == "template":
            continue
        with pytest.raises(DTypeError, match=r"expected a dtype to compute with, got dtype=int4; .*astype") as caught:
            REFUSED[name](x)
        texts.add(str(caught.value))
    assert len(texts) == 1
    assert "such as astype(x, 'int8')" in texts.pop()


def test_nothing_is_promoted_silently() -> None:
    x = example(tb.float8_e5m2, "numpy")[0]
    with pytest.raises(DTypeError, match=r"left=float8_e5m2, right=float32; cast the narrow one"):
        tb.concat([x, tb.ones((2, 3))])
    with pytest.raises(DTypeError, match="a numeric dtype"):
        tb.sum(tb.ones(3), dtype="float8_e5m2")
    with pytest.raises(OutOfRangeError, match="an integer from -8 to 7 for int4"):
        tb.full((2,), 8, dtype="int4")
    with pytest.raises(DTypeError):
        tb.where(tb.asarray([True, True, True]), example(tb.int4, "numpy")[0], 1.5)


def test_a_backend_without_narrow_dtypes_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = tb.get_backend("numpy")
    monkeypatch.setattr(type(backend), "dtypes", frozenset(tb.dtypes.ALL_DTYPES))
    with pytest.raises(UnsupportedOp, match="int4"):
        tb.zeros((2,), dtype="int4")


def test_a_method_without_an_option_leaves_such_calls_to_the_default() -> None:
    """A plugin's method may be older than an option of the op."""

    def ctc_forward(self: Any, out: Any, scores: Any, labels: Any, frames: Any, counts: Any, *, blank: int) -> Any:
        calls.append(blank)
        return tuple(np.zeros(template.shape, "f4") for template in out)

    calls: list[int] = []
    backend = type("Older", (type(tb.get_backend("numpy")),), {"name": "older", "ctc_forward": ctc_forward})()
    logits, labels = tb.ones((1, 3, 3), backend=backend), tb.asarray([[1, 2]], backend=backend)
    expected = tb.nn.ctc_loss(tb.ones((1, 3, 3)), tb.asarray([[1, 2]]), repeats=False)

    def loss(logits: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.nn.ctc_loss(logits, labels, repeats=False))

    for call in (loss, tb.jit(loss), lambda x: tb.value_and_grad(loss)(x)[0]):
        assert call(logits).item() == pytest.approx(expected.item())
    assert not calls
    assert tb.nn.ctc_loss(logits, labels).item() == 0.0
    assert calls
