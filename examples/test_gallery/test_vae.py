"""The loss and its gradient by PyTorch, with the same noise."""

import numpy
import torch
from torch.nn import functional

import tensorbackend as tb

from .conftest import Runner


def test_the_bound_and_its_gradient_are_those_of_torch(on_both: Runner) -> None:
    values = on_both("vae", STEPS=3, rtol=1e-3, atol=1e-3)
    first, keys = values["first"], values["keys"]
    weights = {name: torch.tensor(numpy.asarray(x), requires_grad=True) for name, x in first.items()}
    images = torch.tensor(numpy.asarray(values["images"][:8]))
    hidden = torch.tanh(images @ weights["hidden"])
    mean, spread = hidden @ weights["mean"], hidden @ weights["spread"]
    noise = torch.tensor(numpy.stack([numpy.asarray(tb.random.normal(key, (2,))) for key in keys]))
    code = torch.distributions.Normal(mean, spread.exp())
    drawn = mean + spread.exp() * noise
    logits = torch.tanh(drawn @ weights["back"]) @ weights["pixel"] + weights["bias"]
    surprise = functional.binary_cross_entropy_with_logits(logits, images, reduction="sum")
    prior = torch.distributions.Normal(torch.zeros(2), torch.ones(2))
    loss = (surprise + torch.distributions.kl_divergence(code, prior).sum()) / 8
    assert abs(loss.item() - values["before"].item()) < 1e-4 * abs(loss.item())
    loss.backward()
    gradient = tb.grad(values["loss"])(first, values["images"][:8], keys)
    for name, slope in gradient.items():
        numpy.testing.assert_allclose(slope, numpy.asarray(weights[name].grad), rtol=1e-3, atol=1e-4, err_msg=name)
