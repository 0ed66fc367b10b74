"""A Conformer with CTC, on PyTorch and on our backend with the same parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import returnn.frontend as rf
import tensorbackend as tb
import torch
from returnn.frontend.encoder.conformer import ConformerConvSubsample, ConformerEncoder
from returnn.tensor import Dim, Tensor

import tensorbackend_returnn


class Model(rf.Module):
    """The encoder and a linear layer for the scores of labels and the blank."""

    def __init__(self, inputs: Dim, units: Dim, classes: Dim, layers: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.encoder = ConformerEncoder(
            inputs,
            units,
            ff_dim=Dim(4 * units.dimension, name="feed_forward"),
            input_layer=ConformerConvSubsample(
                inputs,
                out_dims=[Dim(16, name="channels1"), Dim(16, name="channels2")],
                filter_sizes=[(3, 3), (3, 3)],
                pool_sizes=[(2, 1)],
                strides=[(1, 1), (2, 1)],
            ),
            num_heads=heads,
            num_layers=layers,
            dropout=dropout,
            att_dropout=dropout,
        )
        self.scores = rf.Linear(units, classes)


class Run(NamedTuple):
    """A model and the function that computes its loss for fixed inputs."""

    model: Any
    loss: Callable[[], Any]


class Sizes(NamedTuple):
    """The sizes of a model and its input."""

    batch: int = 3
    frames: int = 40
    inputs: int = 12
    units: int = 16
    layers: int = 2
    heads: int = 2
    labels: int = 5
    classes: int = 9
    dropout: float = 0.0


def run(make: Callable[[Any], Any], sizes: Sizes) -> Run:
    """Make the model and its loss; `make` converts arrays to raw tensors."""
    rng = np.random.default_rng(7)
    batch, inputs = Dim(sizes.batch, name="batch"), Dim(sizes.inputs, name="inputs")
    units, classes = Dim(sizes.units, name="units"), Dim(sizes.classes, name="classes")

    def dim(name: str, most: int) -> Dim:
        lengths = np.maximum(most - np.arange(sizes.batch) * (most // 4), 1).astype(np.int32)
        return Dim(Tensor(name, [batch], "int32", raw_tensor=make(lengths)), name=name)

    time, positions = dim("time", sizes.frames), dim("positions", sizes.labels)
    frames = rng.standard_normal((sizes.batch, sizes.frames, sizes.inputs)).astype(np.float32)
    labels = rng.integers(0, sizes.classes - 1, (sizes.batch, sizes.labels)).astype(np.int32)
    x = Tensor("x", [batch, time, inputs], "float32", feature_dim=inputs, raw_tensor=make(frames))
    targets = Tensor("targets", [batch, positions], "int32", sparse_dim=classes, raw_tensor=make(labels))
    model = Model(inputs, units, classes, sizes.layers, sizes.heads, sizes.dropout)

    def loss() -> Any:
        encoded, steps = model.encoder(x, in_spatial_dim=time)
        losses = rf.ctc_loss(
            logits=model.scores(encoded),
            targets=targets,
            input_spatial_dim=steps,
            targets_spatial_dim=positions,
            blank_index=sizes.classes - 1,
        )
        return rf.reduce_sum(losses, axis=losses.dims).raw_tensor

    return Run(model, loss)


def on_torch(sizes: Sizes) -> Run:
    """Make the model on PyTorch, with parameters drawn from a fixed seed."""
    rf.select_backend_torch()
    rf.init_forward_step_run_ctx(epoch=1, step=0)
    rf.set_random_seed(1)
    return run(torch.from_numpy, sizes)


def on_ours(over: str, theirs: Run, sizes: Sizes) -> Run:
    """Make the model on our backend, with the parameters of a model on PyTorch."""
    tensorbackend_returnn.select_backend(over)
    rf.init_forward_step_run_ctx(epoch=1, step=0)
    ours = run(lambda array: tb.asarray(array, backend=over, copy=True), sizes)
    known = dict(ours.model.named_parameters())
    for name, parameter in theirs.model.named_parameters():
        known[name].raw_tensor = tb.asarray(parameter.raw_tensor.detach().numpy(), backend=over, copy=True)
    return ours


def of_parameters(run: Run) -> Callable[[dict[str, tb.Tensor]], tb.Tensor]:
    """The loss as a function of the parameters."""

    def loss(parameters: dict[str, tb.Tensor]) -> tb.Tensor:
        with tensorbackend_returnn.substituted(run.model, parameters):
            total: tb.Tensor = run.loss()
        return total

    return loss
