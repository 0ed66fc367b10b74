"""The network and its gradient by PyTorch, whose channels come before the pixels."""

import numpy
import torch
from torch.nn import functional

import tensorbackend as tb

from .conftest import Runner


def model(weights: dict[str, torch.Tensor], images: torch.Tensor) -> torch.Tensor:
    fine = functional.relu(functional.conv2d(images[:, None], weights["first"], padding="same"))
    # What "same" means for strides: an even size needs one row and column behind the last.
    coarse = functional.relu(functional.conv2d(functional.pad(fine, (0, 1, 0, 1)), weights["down"], stride=2))
    coarse = functional.relu(functional.conv2d(coarse, weights["middle"], padding="same"))
    wide = functional.conv_transpose2d(coarse, weights["up"], stride=2)
    both = torch.cat([fine, wide], dim=1)
    both = functional.relu(functional.conv2d(both, weights["joined"], padding="same"))
    return functional.conv2d(both, weights["last"])[:, 0]


def test_the_network_is_that_of_torch(on_both: Runner) -> None:
    values = on_both("unet", STEPS=2, rtol=1e-3, atol=1e-3)
    weights = {name: torch.tensor(numpy.asarray(x), requires_grad=True) for name, x in values["first"].items()}
    images, discs = (torch.tensor(numpy.asarray(values[name])) for name in ("images", "discs"))
    loss = functional.binary_cross_entropy_with_logits(model(weights, images), discs.float())
    assert abs(loss.item() - values["before"].item()) < 1e-5
    loss.backward()
    gradient = tb.grad(values["loss"])(values["first"], values["images"], values["discs"])
    for name, slope in gradient.items():
        numpy.testing.assert_allclose(slope, numpy.asarray(weights[name].grad), rtol=1e-3, atol=1e-6, err_msg=name)
