"""The logits, the loss and its gradient by PyTorch, line by line and without padding."""

import numpy
import torch
from torch.nn import functional

import tensorbackend as tb
from tensorbackend import ragged

from .conftest import Runner


def logit(weights: dict[str, torch.Tensor], line: list[int]) -> torch.Tensor:
    letters = weights["letters"][torch.tensor(line)].T[None]
    found = functional.relu(functional.conv1d(letters, weights["kernel"], padding="same"))
    return found.amax(dim=-1)[0] @ weights["weight"] + weights["bias"]


def test_the_loss_and_its_gradient_are_those_of_torch(on_both: Runner) -> None:
    values = on_both("text_classifier", STEPS=3, rtol=1e-3, atol=1e-3)
    lines = [line.tolist() for line in ragged.to_list(values["printed"])[:12]]
    forwards = [values["numbers"][i] for i in range(12)]
    backwards = values["backwards"][:12].tolist()
    expected = [line[::-1] if turned else line for line, turned in zip(forwards, backwards, strict=True)]
    assert lines == expected
    assert 0 < sum(backwards) < 12

    weights = {name: torch.tensor(numpy.asarray(x), requires_grad=True) for name, x in values["parameters"].items()}
    logits = torch.stack([logit(weights, line) for line in lines])
    loss = functional.binary_cross_entropy_with_logits(logits, torch.tensor(backwards).float())
    loss.backward()
    batch = values["part"](tb.arange(12, name="line"))
    value, gradient = tb.value_and_grad(values["loss"])(values["parameters"], *batch)
    assert abs(loss.item() - value.item()) < 1e-5
    for name, slope in gradient.items():
        numpy.testing.assert_allclose(slope, numpy.asarray(weights[name].grad), rtol=1e-3, atol=1e-6, err_msg=name)
