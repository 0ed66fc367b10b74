"""The selection of the adapter as RETURNN's backend, and what RETURNN does with our tensors."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import returnn.frontend as rf
import tensorbackend as tb
from making import I, Making, X
from returnn.frontend import _backend
from returnn.tensor import Dim, Tensor
from tensorbackend.errors import BackendError

import tensorbackend_returnn
from tensorbackend_returnn import TensorBackend
from tensorbackend_returnn.backend import ABSENT


def test_the_selected_backend_makes_tensors(over: str) -> None:
    assert tensorbackend_returnn.select_backend(over) is TensorBackend
    assert rf.get_selected_backend() == "tensorbackend"
    assert rf.zeros([Dim(2)]).raw_tensor.backend.name == over
    with tb.default_backend("binary"):
        tensorbackend_returnn.select_backend()
    assert rf.zeros([Dim(2)]).raw_tensor.backend.name == "binary"


def test_a_block_leaves_what_was_selected(over: str) -> None:
    tensorbackend_returnn.select_backend("numpy")
    with tensorbackend_returnn.selected(over):
        assert rf.zeros([Dim(2)]).raw_tensor.backend.name == over
    assert rf.zeros([Dim(2)]).raw_tensor.backend.name == "numpy"
    rf.select_backend_torch()
    with pytest.raises(ZeroDivisionError), tensorbackend_returnn.selected(over):
        _ = 1 / 0
    assert rf.get_selected_backend() == "torch"


def test_a_name_that_nothing_declares_is_refused() -> None:
    with pytest.raises(BackendError, match="nothing"):
        tensorbackend_returnn.select_backend("nothing")
    assert rf.get_selected_backend() == "torch"


def test_names_of_axes_are_left_out() -> None:
    tensorbackend_returnn.select_backend("numpy")
    x = rf.convert_to_tensor(tb.ones((2, 3), names=("batch", "time")))
    assert x.raw_tensor.names == (None, None)


def test_constants_of_a_trace_have_data(over: str) -> None:
    tensorbackend_returnn.select_backend(over)
    dim = Dim(3, name="dim")

    def double(raw: tb.Tensor) -> tb.Tensor:
        lengths = rf.full(dims=(), fill_value=2, dtype="int32")
        assert int(lengths.raw_tensor) == 2
        x = Tensor("x", [dim], "float32", raw_tensor=raw)
        doubled: tb.Tensor = (x * lengths + rf.range_over_dim(dim, dtype="float32")).raw_tensor
        return doubled

    raw = tb.asarray([1.0, 2.0, 3.0], dtype="f32", backend=over)
    assert tb.jit(double)(raw).tolist() == [2.0, 5.0, 8.0]


def test_a_model_is_dry_run() -> None:
    tensorbackend_returnn.select_backend("numpy")
    inputs, outputs = Dim(3, name="inputs"), Dim(2, name="outputs")
    model = rf.Linear(inputs, outputs)

    def forward(raw: tb.Tensor) -> tb.Tensor:
        activations: tb.Tensor = model(Tensor("x", [inputs], "float32", raw_tensor=raw)).raw_tensor
        return activations

    assert tb.dry_run(forward, "f32[3]").eager.flops >= 12


def test_an_operand_without_axes_widens_nothing(over: str) -> None:
    tensorbackend_returnn.select_backend(over)
    m = Making(over)
    x = m(X[:, 0], m.batch, m.feature)
    for scalar in (m(np.array(2.0)), m(np.array(2, np.int64)), 2.5, np.float64(3.0)):
        assert (x * scalar).dtype == "float32"
        assert (scalar * x).dtype == "float32"
    places = m(I, m.batch, m.time)
    assert (places + m(np.array(1, np.int64))).dtype == "int32"
    assert (places * 0.5).dtype == "float32"


def test_operands_that_both_lack_dims_are_refused_where_that_is_said() -> None:
    tensorbackend_returnn.select_backend("numpy")
    m = Making("numpy")
    a, b = m(X[:, 0, 0], m.batch), m(X[0, 0], m.feature)
    assert rf.combine(a, "+", b).dims_set == {m.batch, m.feature}
    for function, kind in ((TensorBackend.combine, "add"), (TensorBackend.compare, "less")):
        with pytest.raises(ValueError, match="expected an operand with all dims"):
            function(a, kind, b, allow_broadcast_all_sources=False)


def test_nan_beyond_lengths_changes_nothing(over: str) -> None:
    tensorbackend_returnn.select_backend(over)

    def reductions(fill: float) -> list[np.ndarray[Any, Any]]:
        m = Making(over)
        values = X.copy()
        values[1, 2] = fill
        x = m(values, m.batch, m.time, m.feature)
        results = [
            *(rf.reduce(x, mode=mode, axis=m.time) for mode in ("sum", "mean", "max", "min", "logsumexp", "argmax")),
            rf.matmul(x, x, reduce=m.time),
            rf.reduce_sum(rf.softmax(x, axis=m.time), axis=m.time),
            rf.top_k(x, axis=m.time, k=2)[0],
        ]
        return [np.asarray(tensor.raw_tensor) for tensor in results]

    for spoilt in (np.nan, 1e30):
        for a, b in zip(reductions(0.0), reductions(spoilt), strict=True):
            np.testing.assert_array_equal(a, b)


def test_what_is_absent_has_a_reason_and_is_refused() -> None:
    tensorbackend_returnn.select_backend("numpy")
    x = Making("numpy").x()
    calls: dict[str, tuple[Callable[[Any], Any], type[Exception]]] = {
        "get_tensor_dependencies": (lambda b: b.get_tensor_dependencies(x), NotImplementedError),
        "get_tensor_consumers": (lambda b: b.get_tensor_consumers(x), NotImplementedError),
        "while_loop": (lambda b: b.while_loop(lambda s: False, lambda s: s, 0), NotImplementedError),
        "reduce_distributed": (lambda b: b.reduce_distributed(x, mode="sum"), NotImplementedError),
        "sequence_mask_raw": (lambda b: b.sequence_mask_raw(x.raw_tensor), NotImplementedError),
        "cond": (lambda b: b.cond(x, lambda: 1, lambda: 2), AssertionError),  # "should not get here"
        "create_placeholder_raw": (lambda b: b.create_placeholder_raw(x), Exception),  # RETURNN raises nothing narrower
    }
    assert ABSENT.keys() - calls.keys() == {"sdpa_varlen_raw"}
    for call, error in calls.values():
        with pytest.raises(error) as caught:
            call(TensorBackend)
        assert type(caught.value) is error


def test_a_tensor_is_pickled(over: str) -> None:
    tensorbackend_returnn.select_backend(over)
    m = Making(over)
    again = pickle.loads(pickle.dumps(m(X[:, 0], m.batch, m.feature)))
    np.testing.assert_array_equal(np.asarray(again.raw_tensor), X[:, 0])


def test_the_code_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[1] / "README.md").read_text()
    first, training = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    namespace: dict[str, Any] = {}
    exec(first, namespace)
    y = np.asarray(namespace["model"](namespace["x"]).raw_tensor)
    assert namespace["slopes"]["bias"].tolist() == (2 * y).tolist()
    exec(training, namespace)
    assert (tmp_path / "model.001.pt").stat().st_size > 0


def test_it_imports_without_pytorch_and_jax() -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['jax'] = None\n"
        "import tensorbackend_returnn, returnn.frontend as rf\n"
        "tensorbackend_returnn.select_backend('numpy')\n"
        "from returnn.tensor import Dim\n"
        "x = rf.ones([Dim(3)])\n"
        "assert rf.reduce_sum(x, axis=x.dims).raw_tensor.item() == 3"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_table_of_backends_has_ours() -> None:
    tensorbackend_returnn.select_backend("numpy")
    assert _backend.get_backend_by_raw_tensor_type(tb.Tensor) is TensorBackend
