"""Trains a small Conformer with CTC, dropout and batch norm by one compiled step: python examples/train_conformer.py

It learns to find labels in frames; each frame shows the pattern of a label, with noise. Its arguments are the name of a
backend and a number of steps: python examples/train_conformer.py jax 100
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import returnn.frontend as rf
import tensorbackend as tb
from returnn.frontend.encoder.conformer import ConformerConvSubsample, ConformerEncoder
from returnn.tensor import Dim, Tensor

import tensorbackend_returnn

FRAMES, LABELS, CLASSES, INPUTS, UNITS = 24, 4, 6, 8, 16


class Model(rf.Module):
    """An encoder, and a linear layer for the scores of the labels and of the blank, which is the last class."""

    def __init__(self, inputs: Dim, classes: Dim) -> None:
        super().__init__()
        units = Dim(UNITS, name="units")
        subsample = ConformerConvSubsample(
            inputs, out_dims=[Dim(8, name="channels")], filter_sizes=[(3, 3)], pool_sizes=[(2, 1)]
        )
        self.encoder = ConformerEncoder(
            inputs, units, ff_dim=Dim(32, name="feed_forward"), input_layer=subsample, num_heads=2, num_layers=1
        )
        self.scores = rf.Linear(units, classes)


def examples(generator: np.random.Generator, count: int) -> tuple[Any, Any]:
    """Frames of labels' patterns with noise, (count, FRAMES, INPUTS), and the labels, (count, LABELS)."""
    patterns = np.random.default_rng(1).normal(size=(CLASSES - 1, INPUTS))
    labels = generator.integers(0, CLASSES - 1, (count, LABELS))
    frames = np.repeat(patterns[labels], FRAMES // LABELS, axis=1)
    return (frames + 0.1 * generator.normal(size=frames.shape)).astype(np.float32), labels.astype(np.int32)


def main(backend: str = "numpy", steps: int = 60) -> list[float]:
    """Train, write a checkpoint that RETURNN's PyTorch engine can load, and return the losses."""
    tensorbackend_returnn.select_backend(backend)
    rf.init_train_step_run_ctx(train_flag=True)
    batch, time, positions = Dim(16, name="batch"), Dim(FRAMES, name="time"), Dim(LABELS, name="positions")
    inputs, classes = Dim(INPUTS, name="inputs"), Dim(CLASSES, name="classes")
    model = Model(inputs, classes)

    def loss(frames: tb.Tensor, labels: tb.Tensor) -> tb.Tensor:
        x = Tensor("frames", [batch, time, inputs], "float32", feature_dim=inputs, raw_tensor=frames)
        targets = Tensor("labels", [batch, positions], "int32", sparse_dim=classes, raw_tensor=labels)
        encoded, steps = model.encoder(x, in_spatial_dim=time)
        losses = rf.ctc_loss(
            logits=model.scores(encoded),
            targets=targets,
            input_spatial_dim=steps,
            targets_spatial_dim=positions,
            blank_index=CLASSES - 1,
        )
        mean: tb.Tensor = rf.reduce_mean(losses, axis=batch).raw_tensor
        return mean

    # Dropout draws from the key of the state, and batch norm's statistics are in it: the step returns both.
    value_and_slopes = tb.value_and_grad(tensorbackend_returnn.functional(model, loss), has_aux=True)
    adam = tb.optimize.chain(tb.optimize.clip_by_global_norm(5.0), tb.optimize.adam(2e-3))

    @tb.jit
    def train(parameters: Any, state: Any, moments: Any, frames: tb.Tensor, labels: tb.Tensor) -> Any:
        (value, state), slopes = value_and_slopes(parameters, state, frames, labels)
        updates, moments = adam.update(slopes, moments, parameters)
        return tb.optimize.apply_updates(parameters, updates), state, moments, value

    parameters, state = tensorbackend_returnn.parameters(model), tensorbackend_returnn.state(model)
    moments, losses, generator = adam.init(parameters), [], np.random.default_rng(0)
    for step in range(steps):
        arrays = (tb.asarray(array, backend=backend) for array in examples(generator, batch.dimension or 0))
        parameters, state, moments, value = train(parameters, state, moments, *arrays)
        losses.append(float(value))
        if step % 20 == 0 or step == steps - 1:
            print(f"step {step:3d}  loss {losses[-1]:.3f}")
    for name, parameter in model.named_parameters():
        parameter.raw_tensor = {**parameters, **state.statistics}[name]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.001.pt"
        tensorbackend_returnn.save_checkpoint(model, path, step=steps)
        print(f"a checkpoint of {path.stat().st_size / 1000:.0f} kB: model.001.pt")
    return losses


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "numpy", int(sys.argv[2]) if len(sys.argv) > 2 else 60)
