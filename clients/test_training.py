"""Machine-learning libraries: JAX's transformations and optimisers, PyTorch, scikit-learn."""

from __future__ import annotations

from inspect import signature
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import torch

import tensorbackend as tb

OPTIMISERS = """
    adabelief adadelta adafactor adagrad adam adamax adamaxw adamw adan amsgrad fromage lamb lars lbfgs lion nadam
    nadamw noisy_sgd novograd optimistic_adam_v2 optimistic_gradient_descent polyak_sgd radam rmsprop rprop sgd
    sign_sgd sm3 yogi
"""


@pytest.mark.client("jax")
def test_transformations(x: tb.Tensor) -> None:
    """`jit`, `grad`, `vmap`, `lax.scan` of functions of tensors; our ops of arrays that it traces."""
    assert jax.jit(lambda x: x + x)(x).names == x.names
    assert jax.grad(lambda x: tb.sum(tb.square(x)).data)(x.backend_copy("jax")).tolist() == (x * 2).tolist()
    assert jax.vmap(lambda x: tb.sum(x))(x).tolist() == [6.0, 15.0]
    total, _ = jax.lax.scan(lambda total, x: (total + tb.sum(x).data, None), jnp.float32(0), x)
    assert float(total) == 21
    assert jax.jit(lambda array: tb.exp(array).data)(jnp.zeros(2)).tolist() == [1.0, 1.0]


@pytest.mark.client("optax")
@pytest.mark.parametrize("name", OPTIMISERS.split())
@pytest.mark.filterwarnings("ignore")
def test_optimisers(name: str) -> None:
    """Every optimiser on trees of tensors on JAX, two steps of each; parameters keep names and dtypes."""
    kind = getattr(optax, name)
    rate = signature(kind).parameters.get("learning_rate")
    optimiser = kind() if rate is None or rate.default is None else kind(0.01)
    parameters = {
        "weight": tb.ones((2, 3), names=("in", "out"), backend="jax"),
        "bias": tb.zeros(3, names=("out",), backend="jax"),
    }

    def loss(parameters: Any) -> Any:
        return (tb.sum(tb.square(parameters["weight"] - 2)) + tb.sum(tb.square(parameters["bias"] - 1))).data

    state, before = optimiser.init(parameters), float(loss(parameters))
    for _ in range(2):
        value, gradients = jax.value_and_grad(loss)(parameters)
        more = {"lbfgs": {"value": value, "grad": gradients, "value_fn": loss}, "polyak_sgd": {"value": value}}
        updates, state = optimiser.update(gradients, state, parameters, **more.get(name, {}))
        parameters = optax.apply_updates(parameters, updates)
    assert (parameters["weight"].names, parameters["bias"].names) == (("in", "out"), ("out",))
    assert parameters["weight"].dtype is tb.float32
    assert np.isfinite(float(loss(parameters)))
    assert float(loss(parameters)) < before or name in ("adadelta", "noisy_sgd")


@pytest.mark.client("torch")
def test_pytorch(x: tb.Tensor, backend: str) -> None:
    """`asarray` and `from_dlpack` both ways, bfloat16 too; PyTorch never writes to a tensor's memory."""
    for read in (torch.asarray, torch.from_dlpack, torch.tensor):
        result = read(x)
        result += 1
        assert result.tolist() == [[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]
    assert x.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    half = tb.astype(x, "bf16")
    assert torch.from_dlpack(half).dtype == torch.bfloat16
    assert (
        tb.from_dlpack(torch.from_dlpack(half)).tolist() == tb.asarray(torch.from_dlpack(half)).tolist() == x.tolist()
    )
    assert (x + torch.ones(3)).names == x.names
    assert isinstance(torch.ones(3) + x, tb.Tensor)


@pytest.mark.client("scikit-learn")
@pytest.mark.filterwarnings("ignore")
def test_estimators(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Array API dispatch: `Ridge`, `PCA`, scalers and metrics accept and return tensors."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    from sklearn import config_context
    from sklearn.decomposition import PCA
    from sklearn.linear_model import Ridge
    from sklearn.metrics import accuracy_score, r2_score
    from sklearn.preprocessing import MinMaxScaler

    array = np.random.default_rng(0).normal(size=(40, 3)).astype("f4")
    x, y = tb.asarray(array), tb.asarray(array @ np.asarray([1.0, -2.0, 0.5], "f4"))
    with config_context(array_api_dispatch=True):
        ridge = Ridge(alpha=1e-3, solver="svd").fit(x, y)
        assert isinstance(ridge.coef_, tb.Tensor)
        assert ridge.coef_.backend.name == backend
        assert r2_score(y, ridge.predict(x)) > 0.999
        assert isinstance(PCA(2, svd_solver="full").fit_transform(x), tb.Tensor)
        assert isinstance(MinMaxScaler().fit_transform(x), tb.Tensor)
        assert accuracy_score(tb.astype(y > 0, "int64"), tb.astype(ridge.predict(x) > 0, "int64")) > 0.9
