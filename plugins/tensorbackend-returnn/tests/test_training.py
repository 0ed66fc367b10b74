"""A Conformer with CTC: its loss, and its gradient by every parameter, eager and compiled."""

from __future__ import annotations

import numpy as np
import pytest
import tensorbackend as tb
from conformer import Sizes, of_parameters, on_ours, on_torch

import tensorbackend_returnn


@pytest.mark.parametrize("over", ["numpy", "jax"])
def test_gradients_by_all_parameters_are_those_of_pytorch(over: str) -> None:
    theirs = on_torch(Sizes())
    wanted = theirs.loss()
    wanted.backward()
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
    for each in (step, tb.jit(step)):
        value, found = each(parameters)
        assert value.item() == pytest.approx(wanted.item(), rel=1e-5)
        for name, slope in slopes.items():
            greatest = max(float(np.abs(slope).max()), 1.0)
            np.testing.assert_allclose(np.asarray(found[name]), slope, rtol=1e-4, atol=2e-5 * greatest, err_msg=name)


def test_parameters_are_put_back_and_strange_names_refused() -> None:
    ours = on_ours("numpy", on_torch(Sizes(layers=1)), Sizes(layers=1))
    before = tensorbackend_returnn.parameters(ours.model)
    with tensorbackend_returnn.substituted(ours.model, {name: x * 0 for name, x in before.items()}):
        assert not np.asarray(ours.model.scores.bias.raw_tensor).any()
    after = tensorbackend_returnn.parameters(ours.model)
    assert all(after[name] is x for name, x in before.items())
    with pytest.raises(KeyError), tensorbackend_returnn.substituted(ours.model, {"nothing": before["scores.bias"]}):
        pass
