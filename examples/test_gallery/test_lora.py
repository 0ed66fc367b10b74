"""The loss in bfloat16 and its gradient by PyTorch's autocast; the gradient by the changes."""

import numpy
import torch
from torch.nn import functional

import tensorbackend as tb

from .conftest import Runner


def model(base: dict[str, torch.Tensor], changes: dict[str, dict[str, torch.Tensor]], x: torch.Tensor) -> torch.Tensor:
    for name, weight in base.items():
        y = x @ weight
        if changes:
            y = y + x @ changes[name]["down"] @ changes[name]["up"]
        x = y if name == "last" else functional.relu(y)
    return x


def in_torch(x: tb.Tensor) -> torch.Tensor:
    return torch.tensor(numpy.asarray(x), requires_grad=True)


def test_the_loss_and_its_gradients_are_those_of_torch(on_both: Runner) -> None:
    values = on_both("lora", STEPS=3, rtol=0.02, atol=0.02)
    upright, turned = (torch.tensor(numpy.asarray(values[name])) for name in ("upright", "turned"))
    digits = torch.tensor(values["digits"].tolist())
    start = {name: in_torch(x) for name, x in values["start"].items()}
    with torch.autocast("cpu", torch.bfloat16):
        loss = functional.cross_entropy(model(start, {}, upright).float(), digits)
    assert abs(loss.item() - values["before"].item()) < 0.01 * loss.item()
    loss.backward()
    gradient = tb.grad(values["loss"])(values["start"], {}, values["upright"])
    for name, slope in gradient.items():
        theirs = start[name].grad
        assert slope.dtype is tb.float32
        assert theirs is not None
        assert numpy.linalg.norm(numpy.asarray(slope) - theirs.numpy()) < 0.03 * theirs.norm()

    # In float32 by PyTorch: bfloat16 has 8 bits, and the changes begin at 0.
    frozen = {name: in_torch(x) for name, x in values["frozen"].items()}
    changes = {name: {part: in_torch(x) for part, x in parts.items()} for name, parts in values["first"].items()}
    functional.cross_entropy(model(frozen, changes, turned), digits).backward()
    ours = tb.grad(values["adapted"])(values["first"], values["frozen"], values["turned"])
    for name, parts in changes.items():
        theirs = parts["up"].grad
        assert theirs is not None
        assert numpy.linalg.norm(numpy.asarray(ours[name]["up"]) - theirs.numpy()) < 0.05 * theirs.norm()
        assert tb.all(ours[name]["down"] == 0)
