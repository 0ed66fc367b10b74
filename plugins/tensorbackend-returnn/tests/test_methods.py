"""Every method of the adapter has a call in `cases.py` and returns the expected value on each backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import returnn.frontend as rf
import tensorbackend as tb
import torch
from case_makers import Case
from cases import CASES
from making import Making
from returnn.frontend._backend import Backend as ReturnnBackend
from returnn.tensor import Tensor

import tensorbackend_returnn
from tensorbackend_returnn import TensorBackend
from tensorbackend_returnn.backend import ABSENT

METHODS = {
    name
    for kind in TensorBackend.__mro__[: TensorBackend.__mro__.index(ReturnnBackend)]
    for name, value in vars(kind).items()
    if not name.startswith("_") and isinstance(value, classmethod)
}
THEIRS = {
    name
    for name, value in vars(ReturnnBackend).items()
    if not name.startswith("_") and isinstance(value, classmethod | staticmethod)
}
DEFAULTS = {
    "activation",
    "apply_rope",
    "cast",
    "concat_seq_wise",
    "control_dependencies_raw",
    "format_graph_output",
    "get_tensor_layout",
    "identity_with_control_dependencies_raw",
    "is_valid_in_current_graph",
    "make_output_tensor",
    "name_scope_raw",
    "num_elements_of_shape",
    "rel_pos_self_attention",
    "repeat",
    "replace_dim",
    "runtime_sanity_checks",
    "safe_log",
    "scaled_dot_product_attention",
    "set_sparse_dim",
    "slice_update",
    "tensor_array_create",
    "tensor_array_get_item",
    "tensor_array_push_back",
}
"""Functions of RETURNN's protocol whose defaults, which call its other functions, are not overridden."""


def test_each_method_has_a_call() -> None:
    assert METHODS - CASES.keys() == set()


def test_each_call_is_of_a_method() -> None:
    assert CASES.keys() - METHODS == set()


def test_every_function_of_returnn_is_ours_or_said_not_to_be() -> None:
    assert THEIRS - METHODS - ABSENT.keys() - DEFAULTS == set()
    assert (ABSENT.keys() | DEFAULTS) - THEIRS == set()
    assert (ABSENT.keys() | DEFAULTS) & METHODS == set()


def arrays(x: Any) -> Any:
    """Convert nested tensors to nested arrays, with 0 in the padding and the axes sorted by the names of their dims."""
    if isinstance(x, Tensor):
        for dim in x.dims:
            if dim.need_masking() and dim.dyn_size_ext.dims_set <= x.dims_set:
                x = x.copy_masked(0, dims=[dim])
        order = sorted(range(len(x.dims)), key=lambda axis: x.dims[axis].name or "")
        return np.transpose(arrays(x.raw_tensor), order)
    if isinstance(x, torch.Tensor):
        return x.detach().numpy()
    if isinstance(x, tb.Tensor):
        return np.asarray(x.detach())
    return [arrays(part) for part in x] if isinstance(x, tuple | list) else np.asarray(x)


def agree(result: Any, expected: Any) -> bool:
    """Whether nested arrays are close and have the same shapes and dtypes; all signed integers count as one dtype."""
    if isinstance(result, list):
        return isinstance(expected, list) and len(result) == len(expected) and all(map(agree, result, expected))
    expected = np.asarray(expected)
    if result.dtype.kind == expected.dtype.kind == "U":
        return bool((result == expected).all())
    alike = result.dtype == expected.dtype or result.dtype.kind == expected.dtype.kind == "i"
    near = result.shape == expected.shape and np.allclose(result, expected, rtol=1e-5, atol=2e-5, equal_nan=True)
    return alike and bool(near)


@pytest.mark.parametrize(
    ("name", "case"),
    [pytest.param(name, case, id=f"{name}-{i}") for name in sorted(CASES) for i, case in enumerate(CASES[name])],
)
def test_a_call_gives_its_value(over: str, name: str, case: Case) -> None:
    if case.expected is None:
        rf.select_backend_torch()
        expected = arrays(case.call(Making(None)))
    else:
        expected = np.asarray(case.expected)
    tensorbackend_returnn.select_backend(over)
    result = arrays(case.call(Making(over)))
    assert agree(result, expected), f"{result} is not {expected}"


@pytest.mark.parametrize("wrong", [np.zeros((2, 3)), [[0.0, 1.0]], np.ones((2, 3), bool), np.ones((3, 2))])
def test_the_comparison_tells_other_values(wrong: Any) -> None:
    assert not agree(np.ones((2, 3)), arrays(wrong))
