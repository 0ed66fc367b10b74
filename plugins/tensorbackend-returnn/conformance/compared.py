"""A pytest plugin, `-p compared`, that runs RETURNN's own tests with each model on PyTorch and on our backend.

`OURS=numpy` names the backend of tensorbackend. A model gets the same inputs and the same random numbers on both, and
its outputs, gradients and sizes of dims must be equal. In tests that make PyTorch's tensors themselves, `swapped`
replaces `torch`, and our backend is selected where they select PyTorch. A test that computed nothing on our backend has
the property `ours` "no" in the report.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import returnn.frontend as rf
import returnn.torch.frontend as rft
import rf_utils
import swapped
import tensorbackend as tb
from returnn.tensor import Tensor, TensorDict
from returnn.tensor.utils import tensor_dict_fill_random_numpy_

import tensorbackend_returnn

OURS = os.environ["OURS"]
ULP = 2.0**-7
"""The relative distance of neighbours in bfloat16, to which two libraries may round differently."""

_compared = 0


def exchanged(x: Any, function: Callable[[Any], Any]) -> None:
    """Apply a function to the raw data of a tensor, or of each tensor of a dictionary, and of the lengths of dims."""
    if isinstance(x, TensorDict):
        for tensor in x.data.values():
            exchanged(tensor, function)
        return
    if x.raw_tensor is not None:
        x.raw_tensor = function(x.raw_tensor)
    for dim in x.dims:
        dim.transform_tensors(lambda dim_tensor: exchanged(dim_tensor, function))


def to_ours(raw: Any) -> Any:
    return tb.asarray(np.asarray(raw), backend=OURS, copy=True) if not isinstance(raw, tb.Tensor) else raw


def to_numpy(raw: Any) -> Any:
    return np.asarray(raw.detach()) if isinstance(raw, tb.Tensor) else raw


def outputs_of_ours(extern_data: TensorDict, get_model: Any, forward_step: Any) -> TensorDict:
    """Run a model on our backend; return its outputs and the gradients of its loss with respect to the inputs."""
    rf.set_random_seed(42)
    exchanged(extern_data, to_ours)
    inputs = {name: x for name, x in extern_data.data.items() if x.raw_tensor.dtype.is_floating}
    for x in inputs.values():
        rf.set_requires_gradient(x)
    model = get_model(epoch=1, step=0)
    rf.init_forward_step_run_ctx(epoch=1, step=0)
    forward_step(model=model, extern_data=extern_data)
    outputs = rf.get_run_ctx().outputs
    loss = outputs.data.get("loss")
    if loss is not None:
        total = rf.reduce_sum(loss, axis=loss.dims)
        for name, x in inputs.items():
            outputs.data[f"{name}_grad"] = rf.gradient(total, x)
    exchanged(outputs, to_numpy)
    rf_utils._pad_mask_zeros(outputs)
    return outputs


def run_model(
    extern_data: TensorDict,
    get_model: Any,
    forward_step: Any,
    *,
    dyn_dim_max_sizes: Any = None,
    dyn_dim_min_sizes: Any = None,
    allow_inf_nan_in_output: bool = False,
    data_rnd_seed: int = 42,
    data_fill_random: bool = True,
    **options: Any,
) -> TensorDict:
    """Replaces the function of RETURNN's tests: checks that our outputs equal PyTorch's and returns PyTorch's."""
    global _compared
    if data_fill_random:
        extern_data.reset_content()
        tensor_dict_fill_random_numpy_(
            extern_data, dyn_dim_max_sizes=dyn_dim_max_sizes, dyn_dim_min_sizes=dyn_dim_min_sizes, rnd=data_rnd_seed
        )
    with rft.TorchBackend.random_journal_record() as journal:
        theirs = rf_utils._run_model_torch(extern_data, get_model, forward_step)
        rf_utils._pad_mask_zeros(theirs)
        raw = theirs.as_raw_tensor_dict(include_const_sizes=True)
    raw_inputs = extern_data.as_raw_tensor_dict(expected_value_type=np.ndarray)
    extern_data.reset_content()
    try:
        with tensorbackend_returnn.selected(OURS) as backend, backend.random_journal_replay(journal):
            extern_data.assign_from_raw_tensor_dict_(raw_inputs)
            ours = outputs_of_ours(extern_data, get_model, forward_step)
            our_outputs = ours.as_raw_tensor_dict(include_const_sizes=True)
    finally:
        extern_data.reset_content()
        extern_data.assign_from_raw_tensor_dict_(raw_inputs)
    assert journal.reached_end(), "PyTorch drew more random numbers"
    _compared += 1
    assert set(theirs.data) == set(ours.data)
    for name, x in theirs.data.items():
        like(name, x, ours[name])
    assert set(raw) == set(our_outputs)
    for name, value in raw.items():
        close(name, value, our_outputs[name])
    return theirs


def like(name: str, theirs: Tensor, ours: Tensor) -> None:
    """Raises `AssertionError` unless two tensors have corresponding dims and dtypes of the same kind."""
    assert len(theirs.dims) == len(ours.dims) == ours.raw_tensor.ndim, f"{name}: {theirs}, {ours}"
    assert theirs.feature_dim_axis == ours.feature_dim_axis, f"{name}: {theirs}, {ours}"
    for ours_dim, theirs_dim in zip(ours.dims, theirs.dims, strict=True):
        rf_utils._check_dim(theirs_dim, ours_dim)
    integers = theirs.dtype.startswith("int") and ours.dtype.startswith("int")
    assert integers or theirs.dtype == ours.dtype, f"{name}: {theirs}, {ours}"
    assert bool(theirs.sparse_dim) == bool(ours.sparse_dim), f"{name}: {theirs}, {ours}"


def close(name: str, theirs: Any, ours: Any) -> None:
    """Raises `AssertionError` unless two arrays are equal within the tolerance of RETURNN's own comparison.

    Only the shapes of randomly drawn indices are compared, because no journal records them. Values computed in bfloat16
    may differ by one unit in the last place.
    """
    a, b = np.asarray(theirs), np.asarray(to_numpy(ours))
    assert a.shape == b.shape, f"{name}: {a.shape} and {b.shape}"
    if "random_choice_with_replacement" in _called and a.dtype.kind == "i":
        return
    relative = ULP if ("cast_raw", "bfloat16") in _called else 1e-5
    largest = float(np.max(np.abs(a[np.isfinite(a)]), initial=0.0)) if a.dtype.kind in "fc" else 0.0
    np.testing.assert_allclose(b, a, rtol=relative, atol=1e-5 + 1e-5 * largest, err_msg=name)


rf_utils.run_model = run_model
_select_torch = rf.select_backend_torch


def select_ours() -> None:
    """Replaces `rf.select_backend_torch` in tests that make tensors themselves."""
    tensorbackend_returnn.select_backend(OURS)


def swap(path: Path) -> None:
    """Loads a test module, with `torch` replaced by `swapped` or `jax` by `swapped_jax`, before pytest loads it."""
    text = path.read_text()
    text = re.sub(
        r"^(\s*)import jax\.numpy as jnp", r"\1from swapped_jax import numpy as jnp", text, flags=re.MULTILINE
    )
    # RETURNN's tests are skipped if JAX is missing; here our functions replace it.
    text = text.replace('jax = pytest.importorskip("jax")', "import swapped_jax as jax")
    text = text.replace('rf.select_backend("jax")', "__import__('compared').select_ours()")
    if "swapped_jax" not in text:  # the tests of RETURNN's JAX backend compare with PyTorch themselves
        text = re.sub(r"^(\s*)import torch$", r"\1import swapped as torch", text, flags=re.MULTILINE)
        text = re.sub(r"^(\s*)import torch as (\w+)$", r"\1import swapped as \2", text, flags=re.MULTILINE)
        text = text.replace("rf.select_backend_torch()", "__import__('compared').select_ours()")
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module
    exec(compile(text, str(path), "exec"), vars(module))
    if hasattr(module, "_flex_attention_usable"):
        module._flex_attention_usable = lambda: False  # type: ignore[attr-defined] # PyTorch only


for _name in filter(None, os.environ.get("SWAPPED", "").split(",")):
    swap(Path(rf_utils.__file__).parent / f"{_name}.py")


def watch() -> None:
    """Make each function of the adapter record that it was called."""
    adapter = tensorbackend_returnn.TensorBackend
    for name in dir(adapter):
        function = getattr(adapter, name)
        if name.startswith("_") or not callable(function) or isinstance(function, type):
            continue

        def called(*arguments: Any, _name: str = name, _function: Any = function, **options: Any) -> Any:
            _called.add(_name)
            if _name == "cast_raw":
                _called.add((_name, arguments[1]))
            return _function(*arguments, **options)

        setattr(adapter, name, staticmethod(called))


_called: set[Any] = set()
watch()


@pytest.fixture(autouse=True)
def counted(record_property: Callable[[str, object], None]) -> Iterator[None]:
    """Record in the report what was computed on our backend; select PyTorch's backend again after each test."""
    global _compared
    _compared = 0
    _called.clear()
    yield
    record_property("ours", "compared" if _compared else "swapped" if _called else "no")
    swapped.forget()
    tensorbackend_returnn.TensorBackend.close_tape()
    _select_torch()
