"""The loss and its gradient, at once, by PyTorch; the codes' nearest neighbours by NumPy."""

import numpy
import torch
from torch.nn import functional

from .conftest import Runner


def test_the_accumulated_gradient_is_that_of_torch(on_both: Runner) -> None:
    values = on_both("contrastive", PARTS=4, PART=16, STEPS=2, rtol=2e-3, atol=1e-3)
    one, other = (torch.tensor(numpy.asarray(values[name])) for name in ("one", "other"))
    weights = {name: numpy.asarray(values[f"{name}_weights"]) for name in ("first", "last")}
    start = {name: torch.tensor(x, requires_grad=True) for name, x in weights.items()}

    def codes(pixels: torch.Tensor) -> torch.Tensor:
        return functional.normalize(functional.relu(pixels @ start["first"]) @ start["last"], dim=-1)

    scores, right = codes(one) @ codes(other).T / 0.2, torch.arange(64)
    loss = (functional.cross_entropy(scores, right) + functional.cross_entropy(scores.T, right)) / 2
    assert abs(loss.item() - values["in_parts"].item()) < 1e-5
    loss.backward()
    for name, weight in start.items():
        numpy.testing.assert_allclose(values["same"][name], numpy.asarray(weight.grad), rtol=1e-3, atol=1e-6)

    flat = values["pixels"].reshape(-1, 64)
    trained = {name: numpy.asarray(x) for name, x in values["parameters"].items()}
    found = numpy.maximum(flat @ trained["first"], 0) @ trained["last"]
    found /= numpy.linalg.norm(found, axis=1, keepdims=True)
    alike = found @ found.T - 9 * numpy.eye(len(found))
    assert numpy.mean(alike.argmax(axis=1) == values["nearest"]) > 0.99
