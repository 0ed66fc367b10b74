"""The loss and its gradient by PyTorch, and what is written with the cache by a model without one."""

from typing import Any

import numpy
import torch
from torch.nn import functional

import tensorbackend as tb

from .conftest import Runner


def rotated(x: torch.Tensor) -> torch.Tensor:
    """Rotate the halves of the features of each position, as Llama does."""
    time, units = x.shape[-2:]
    angles = torch.arange(time)[:, None] / 10000 ** (torch.arange(0, units, 2) / units)
    first, second = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def model(parameters: dict[str, Any], letters: torch.Tensor, heads: int) -> torch.Tensor:
    x = parameters["letters"][letters]
    for layer in parameters["layers"]:
        y = functional.rms_norm(x, x.shape[-1:], eps=1e-6)
        weights = (layer["attention"][name] for name in ("query", "key", "value"))
        query, key, value = ((y @ weight).unflatten(-1, (heads, -1)).transpose(1, 2) for weight in weights)
        mixed = functional.scaled_dot_product_attention(rotated(query), rotated(key), value, is_causal=True)
        x = x + mixed.transpose(1, 2).flatten(2) @ layer["attention"]["output"]
        y = functional.rms_norm(x, x.shape[-1:], eps=1e-6)
        x = x + functional.gelu(y @ layer["up"]) @ layer["down"]
    return functional.rms_norm(x, x.shape[-1:], eps=1e-6) @ parameters["logits"]


def in_torch(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: in_torch(part) for name, part in value.items()}
    if isinstance(value, list):
        return [in_torch(part) for part in value]
    return torch.tensor(numpy.asarray(value), requires_grad=True)


def test_the_loss_and_its_gradient_are_those_of_torch(on_both: Runner) -> None:
    values = on_both("gpt", STEPS=4, WRITTEN=12, rtol=1e-3, atol=1e-3)
    parameters = in_torch(values["first"])
    letters = torch.tensor(values["sample"].tolist())
    logits = model(parameters, letters[:, :-1], values["HEADS"])
    loss = functional.cross_entropy(logits.flatten(0, 1), letters[:, 1:].flatten())
    assert abs(loss.item() - values["before"].item()) < 1e-5
    loss.backward()
    gradient = tb.grad(values["loss"])(values["first"], values["sample"])
    for name in ("letters", "logits"):
        numpy.testing.assert_allclose(gradient[name], parameters[name].grad, rtol=1e-3, atol=1e-6)
    ours, theirs = (tree["layers"][0]["attention"] for tree in (gradient, parameters))
    for name, slope in ours.items():
        numpy.testing.assert_allclose(slope, theirs[name].grad, rtol=1e-3, atol=1e-6)

    written = torch.tensor([values["letters"].tolist()])
    with torch.no_grad():
        logits = model(in_torch(values["parameters"]), written[:, :-1], values["HEADS"])[0]
    numpy.testing.assert_allclose(values["logits"], logits, rtol=1e-3, atol=1e-3)
