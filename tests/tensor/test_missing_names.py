"""Wrong guesses of people who come from NumPy, PyTorch, JAX and xarray: names of functions, attributes and methods."""

from __future__ import annotations

import re
from inspect import getmembers

import pytest

import tensorbackend as tb
from tensorbackend.errors import MissingNameError, TensorBackendError
from tensorbackend.errors.foreign_attributes import IN_NAMESPACES, OF_TENSORS
from tensorbackend.errors.foreign_names import ADVICE, SYNONYMS

GUESSES = [
    ("tb.cumsum", "tb.cumulative_sum"),
    ("tb.array", "tb.asarray(value)"),
    ("tb.cat", "tb.concat"),
    ("tb.clamp", "tb.clip"),
    ("tb.arctan2", "tb.atan2"),
    ("tb.unsqueeze", "tb.expand_dims(x, axis)"),
    ("tb.transpose", "tb.permute_dims(x, axes)"),
    ("tb.windows", "tb.unfold(x, size)"),
    ("tb.signal", "tb.nn.stft"),
    ("tb.scatter_add", "tb.indexed_add"),
    ("tb.no_grad", "tb.stop_gradient(x)"),
    ("tb.lax", "tb.scan"),
    ("tb.size", "write x.size"),
    ("tb.qr", "tb.linalg.qr"),
    ("tb.stft", "tb.nn.stft"),
    ("tb.ArgMax", "tb.argmax"),
    ("tb.linalg.pinverse", "tb.linalg.pinv(x)"),
    ("tb.linalg.transpose", "tb.matrix_transpose(x)"),
    ("tb.linalg.solve_triangular", "tb.linalg.triangular_solve(a, b)"),
    ("tb.linalg.dot", "x @ y"),
    ("tb.linalg.inverse", "tb.linalg.inv(x)"),
    ("tb.linalg.kron", "tb.kron"),
    ("tb.linalg.sum", "tb.sum"),
    ("tb.fft.rfft2", "tb.fft.rfftn(x, axes=(-2, -1))"),
    ("tb.fft.stft", "tb.nn.stft"),
    ("tb.nn.Linear", "x @ weight + bias"),
    ("tb.nn.linear", "x @ weight + bias"),
    ("tb.nn.LayerNorm", "tb.nn.layer_norm"),
    ("tb.nn.layernorm", "tb.nn.layer_norm"),
    ("tb.nn.ReLU", "tb.nn.relu"),
    ("tb.nn.functional", "tb.nn.relu"),
    ("tb.nn.Conv2d", "tb.nn.conv(x, kernel)"),
    ("tb.nn.max_pool2d", "tb.nn.max_pool"),
    ("tb.nn.xavier_uniform", "tb.nn.glorot_uniform"),
    ("tb.nn.tanh", "tb.tanh"),
    ("tb.nn.cumsum", "tb.cumulative_sum"),
    ("tb.random.randn", "tb.random.normal(key, shape)"),
    ("tb.random.PRNGKey", "tb.random.key(seed)"),
    ("tb.random.seed", "tb.random.key(seed)"),
    ("tb.random.integers", "tb.random.randint"),
    ("tb.optimize.Adam", "tb.optimize.adam"),
    ("tb.optimize.fsolve", "tb.optimize.root"),
    ("x.numpy()", "numpy.asarray(x)"),
    ("x.cpu()", "x.to_device('cpu')"),
    ("x.to('cuda')", "x.astype(dtype)"),
    ("x.view(2, 2)", "x.reshape(shape)"),
    ("x.permute(1, 0)", "tb.permute_dims(x, axes)"),
    ("x.cumsum(0)", "tb.cumulative_sum(x, ...)"),
    ("x.dims", "x.names"),
    ("x.values", "numpy.asarray(x)"),
    ("x.sel(batch=1)", "x.isel(time=3)"),
    ("x.clone()", "tb.tensor(x)"),
    ("x.copy()", "tb.tensor(x)"),
    ("x.backward()", "tb.grad(function)(x)"),
    ("x.at[0].set(1.0)", "x[index] = value"),
    ("x.exp()", "tb.exp(x, ...)"),
    ("x.softmax(0)", "tb.softmax(x, ...)"),
    ("x.unsqueeze(0)", "tb.expand_dims(x, axis)"),
    ("x.float()", "x.astype('float32')"),
    ("x.numel()", "x.size"),
    ("x.t()", "x.T"),
    ("x.requires_grad", "tb.grad(function)(x)"),
    ("tb.deg2rad", "x * tb.pi / 180"),
    ("tb.logit", "tb.log(p) - tb.log1p(-p)"),
    ("tb.nanargmax", "tb.argmax(tb.where(tb.isnan(x), -tb.inf, x))"),
    ("tb.eval_shape", "tb.template(...)"),
    ("tb.dynamic_slice", "tb.slice_"),
    ("tb.remat", "tb.checkpoint(function)"),
    ("tb.eq", "tb.equal"),
    ("tb.solvers.cg", "tb.solvers.solve(A, b, 'cg')"),
    ("tb.linalg.lu_solve", "tb.linalg.solve(a, b)"),
    ("tb.nn.max_pool1d", "tb.nn.max_pool(x, window)"),
    ("tb.nn.huber_loss", "tb.nn.huber(predictions, targets)"),
    ("tb.random.lognormal", "tb.exp(tb.random.normal(key, shape))"),
    ("x.mul(2)", "tb.multiply(x, ...)"),
    ("x.lt(2)", "tb.less(x, ...)"),
    ("x.topk(1)", "tb.top_k(x, ...)"),
    ("x.det()", "tb.linalg.det(x)"),
    ("x.fillna(0)", "tb.where(tb.isnan(x), value, x)"),
    ("x.resample(time='1M')", "tb.segment_mean(x, segments, size=...)"),
    ("x.shift(time=1)", "tb.roll(x, 1, axis=...)"),
    ("x.weighted(x)", "tb.weighted_mean(x, weights, axis=...)"),
    ("x.plot()", "tb.show(x)"),
    ("x.select(0, 1)", "x.isel(time=3)"),
]


def names() -> dict[str, object]:
    return {"tb": tb, "x": tb.asarray([[1.0, 2.0], [3.0, 4.0]], names=("batch", "feature"))}


@pytest.mark.parametrize(("guess", "answer"), GUESSES)
def test_a_wrong_guess_is_answered(guess: str, answer: str) -> None:
    with pytest.raises(MissingNameError, match=re.escape(answer)) as caught:
        eval(guess, names())
    assert isinstance(caught.value, AttributeError)
    assert isinstance(caught.value, TensorBackendError)


@pytest.mark.parametrize("guess", ["tb.no_such", "tb.nn.no_such", "tb.linalg._no_such", "tb.fft.__no_such__"])
def test_a_name_of_nothing_has_no_advice(guess: str) -> None:
    with pytest.raises(AttributeError, match=r"has no attribute '\w+'$"):
        eval(guess, names())


def texts() -> dict[str, str]:
    rows = {**ADVICE, **OF_TENSORS}
    for space, held in IN_NAMESPACES.items():
        rows |= {f"{space}.{name}": text for name, text in held.items()}
    return rows | {name: f"tb.{ours}" for name, ours in SYNONYMS.items()}


@pytest.mark.parametrize(("name", "text"), texts().items())
def test_an_answer_names_what_exists(name: str, text: str) -> None:
    for path in re.findall(r"\btb((?:\.\w+)+)", text):
        held: object = tb
        for part in path[1:].split("."):
            held = getattr(held, part)
    for attribute in re.findall(r"\bx\.(\w+)", text):
        assert hasattr(tb.ones((2, 2)), attribute)
    assert not hasattr(tb.Tensor if name in OF_TENSORS else tb, name) or "." in name


def test_attributes_that_do_not_exist_are_not_listed() -> None:
    x = tb.ones(2)
    for missing in ("numpy", "cumsum", "softmax"):
        assert missing not in dir(x)
        assert missing not in dir(tb.Tensor)
        assert not hasattr(x, missing)
        assert not hasattr(tb.Tensor, missing)
    assert {"shape", "sum", "isel", "T"} <= set(dir(x))
    assert {name for name, _ in getmembers(tb.Tensor)} == set(dir(tb.Tensor))
