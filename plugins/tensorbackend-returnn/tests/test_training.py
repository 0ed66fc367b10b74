"""The loss of a Conformer with CTC and its gradients, eager and compiled; parameters and tapes of training."""

from __future__ import annotations

import numpy as np
import pytest
import returnn.frontend as rf
import tensorbackend as tb
from conformer_model import Sizes, of_parameters, on_ours, on_torch
from returnn.tensor import Dim, Tensor

import tensorbackend_returnn


@pytest.mark.parametrize("over", ["numpy", "jax"])
def test_gradients_by_all_parameters_are_those_of_pytorch(over: str) -> None:
    theirs = on_torch(Sizes())
    their_loss = theirs.loss()
    their_loss.backward()
    slopes = {
        name: parameter.raw_tensor.grad.numpy()
        for name, parameter in theirs.model.named_parameters()
        if parameter.raw_tensor.grad is not None
    }
    ours = on_ours(over, theirs, Sizes())
    loss, parameters = of_parameters(ours), tensorbackend_returnn.parameters(ours.model)
    assert slopes.keys() == parameters.keys()
    assert len(slopes) > 60
    step = tb.value_and_grad(loss)
    for function in (step, tb.jit(step)):
        value, gradients = function(parameters)
        assert value.item() == pytest.approx(their_loss.item(), rel=1e-5)
        for name, slope in slopes.items():
            largest = max(float(np.abs(slope).max()), 1.0)
            np.testing.assert_allclose(np.asarray(gradients[name]), slope, rtol=1e-4, atol=2e-5 * largest, err_msg=name)


def test_parameters_are_put_back_and_strange_names_refused() -> None:
    ours = on_ours("numpy", on_torch(Sizes(layers=1)), Sizes(layers=1))
    before = tensorbackend_returnn.parameters(ours.model)
    with tensorbackend_returnn.substituted(ours.model, {name: x * 0 for name, x in before.items()}):
        assert not np.asarray(ours.model.scores.bias.raw_tensor).any()
    after = tensorbackend_returnn.parameters(ours.model)
    assert all(after[name] is x for name, x in before.items())
    with pytest.raises(KeyError), tensorbackend_returnn.substituted(ours.model, {"nothing": before["scores.bias"]}):
        pass


@pytest.mark.parametrize("over", ["numpy", "jax", "binary"])
def test_a_scope_stops_gradients_in_traced_functions_and_on_tapes(over: str) -> None:
    tensorbackend_returnn.select_backend(over)
    dim = Dim(2, name="dim")

    def loss(raw: tb.Tensor) -> tb.Tensor:
        x = Tensor("x", [dim], "float32", raw_tensor=raw)
        with rf.stop_gradient_scope():
            weight = rf.where(x > 0.0, x * x, -x) + rf.reduce_sum(x, axis=dim)
        total: tb.Tensor = rf.reduce_sum(weight * x, axis=dim).raw_tensor
        return total

    raw = tb.asarray([2.0, -3.0], dtype="f32", backend=over)
    expected_gradient = [2.0**2 - 1, 3.0 - 1]
    assert tb.grad(loss)(raw).tolist() == expected_gradient
    assert tb.jit(tb.grad(loss))(raw).tolist() == expected_gradient
    with tb.tape() as tape:
        watched = tape.watch(raw)
        assert tb.gradient(loss(watched), watched).tolist() == expected_gradient
    assert tb.grad(lambda raw: tb.sum(raw * raw))(raw).tolist() == [4.0, -6.0]


def test_a_tensor_is_followed_once_and_by_the_tape_of_the_block() -> None:
    tensorbackend_returnn.select_backend("numpy")
    x = rf.convert_to_tensor([1.0, 2.0], dtype="float32")
    with tb.tape() as tape:
        rf.set_requires_gradient(x)
        first = x.raw_tensor
        assert tape.follows(first)
        rf.set_requires_gradient(x)
        assert x.raw_tensor is first
        assert rf.gradient(rf.reduce_sum(x * x, axis=x.dims), x).raw_tensor.tolist() == [2.0, 4.0]
