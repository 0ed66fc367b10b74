"""Steps that draw masks and update statistics, compiled: a Conformer trained next to PyTorch with the same masks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import returnn.frontend as rf
import tensorbackend as tb
import torch
from conformer_model import Run, Sizes, on_ours, on_torch
from returnn.tensor import Dim, Tensor
from returnn.torch.frontend import TorchBackend

import tensorbackend_returnn
from tensorbackend_returnn import State, functional, parameters, state, substituted

SIZES = Sizes(layers=1, dropout=0.1)
RATE = 1e-3


def dropped(raw: tb.Tensor) -> tb.Tensor:
    dim = Dim(raw.shape[0], name="dim")
    y: tb.Tensor = rf.dropout(Tensor("x", [dim], "float32", raw_tensor=raw), 0.5, axis=dim).raw_tensor
    return y


def on_training(over: str) -> None:
    tensorbackend_returnn.select_backend(over)
    rf.init_train_step_run_ctx(train_flag=True)


def test_calls_of_a_compiled_step_draw_different_masks(over: str) -> None:
    on_training(over)
    nothing = rf.Module()
    step = functional(nothing, dropped)
    compiled, start = tb.jit(step), state(nothing)
    x, now, masks = tb.ones(64, dtype="f32", backend=over), start, []
    for _ in range(3):
        y, now = compiled({}, now, x)
        masks.append(tuple(y.tolist()))
    assert len(set(masks)) == 3
    assert all(set(mask) == {0.0, 2.0} for mask in masks)
    eager, _ = step({}, start, x)
    assert tuple(eager.tolist()) == masks[0]


def test_a_trace_that_draws_from_the_generator_is_an_error(over: str) -> None:
    on_training(over)
    before = rf.get_random_state()
    expectation = r"random: expected no draws from RETURNN's generator .*write the step with .*functional"
    with pytest.raises(tb.errors.ArgumentError, match=expectation):
        tb.jit(dropped)(tb.ones(8, dtype="f32", backend=over))
    assert rf.get_random_state() == before
    assert dropped(tb.ones(8, dtype="f32", backend=over)).shape == (8,)


def test_the_state_of_the_generator_can_be_a_tensor(over: str) -> None:
    on_training(over)
    key = tb.random.key(3, backend=over)
    x, masks = tb.ones(64, dtype="f32", backend=over), []
    for _ in range(2):
        rf.set_random_state({"key": key})
        masks.append(dropped(x).tolist())
    assert masks[0] == masks[1] != dropped(x).tolist()


def normalised(over: str) -> tuple[Any, Any, tb.Tensor]:
    """A batch norm, the function that applies it to a raw tensor, and such a tensor."""
    on_training(over)
    batch, features = Dim(5, name="batch"), Dim(2, name="features")
    norm = rf.BatchNorm(features, use_mask=False)

    def apply(raw: tb.Tensor) -> tb.Tensor:
        y = norm(Tensor("x", [batch, features], "float32", feature_dim=features, raw_tensor=raw))
        total: tb.Tensor = rf.reduce_sum(y * y * y, axis=y.dims).raw_tensor
        return total

    numbers = np.random.default_rng(0).normal(3.0, 2.0, (5, 2))
    return norm, apply, tb.asarray(numbers, dtype="f32", backend=over)


def test_running_statistics_are_returned(over: str) -> None:
    norm, apply, x = normalised(over)
    start = state(norm)
    step = tb.jit(tb.value_and_grad(functional(norm, apply), has_aux=True))
    (_, once), _ = step(parameters(norm), start, x)
    (_, twice), _ = step(parameters(norm), once, x)
    assert all(norm_value is start.statistics[name] for name, norm_value in statistics_of(norm).items())
    for expected in (once, twice):
        apply(x)  # eagerly: it updates the model itself
        for name, value in statistics_of(norm).items():
            np.testing.assert_allclose(np.asarray(expected.statistics[name]), np.asarray(value), rtol=1e-6)
    assert once.statistics["running_mean"].tolist() != twice.statistics["running_mean"].tolist()


def statistics_of(norm: Any) -> dict[str, tb.Tensor]:
    return {name: held.raw_tensor for name, held in norm.named_parameters() if held.auxiliary}


def test_a_trace_that_would_lose_running_statistics_is_an_error(over: str) -> None:
    norm, apply, x = normalised(over)
    before = statistics_of(norm)

    def loss(values: dict[str, tb.Tensor], x: tb.Tensor = x) -> tb.Tensor:
        with substituted(norm, values):
            total: tb.Tensor = apply(x)
        return total

    expectation = r"changed=\['running_mean', 'running_variance'\]; write the step with .*functional"
    of_values, of_both = tb.grad(loss), tb.grad(loss, argnums=(0, 1))
    for lost in (lambda: tb.jit(of_values)(parameters(norm)), lambda: of_both(parameters(norm), x)):
        with pytest.raises(tb.errors.ArgumentError, match=expectation):
            lost()
        assert all(value is before[name] for name, value in statistics_of(norm).items())
    of_values(parameters(norm))  # runs at each call, with a batch that has data
    assert all(value is not before[name] for name, value in statistics_of(norm).items())
    rf.init_forward_step_run_ctx(epoch=1, step=0)  # in evaluation nothing changes
    assert tb.jit(tb.grad(loss))(parameters(norm)).keys() == {"gamma", "beta"}


@contextmanager
def masks_of(key: tb.Tensor) -> Iterator[None]:
    """A context in which PyTorch draws the numbers that a `functional` step draws from this key."""
    generator, before = tb.random.Generator(key), TorchBackend.__dict__["random"]

    def draw(
        *, dims: Any, dtype: str, distribution: str, minval: Any = None, maxval: Any = None, out: Any = None, **_: Any
    ) -> Tensor:
        assert distribution == "uniform"
        shape = tuple(int(dim.get_dim_value()) for dim in dims)
        low, high = 0.0 if minval is None else minval, 1.0 if maxval is None else maxval
        numbers = tb.random.uniform(generator.next_key(), shape, dtype, low, high)
        out = Tensor("mask", dims=dims, dtype=dtype) if out is None else out
        out.raw_tensor = torch.from_numpy(np.array(numbers))
        return out

    TorchBackend.random = staticmethod(draw)
    try:
        yield
    finally:
        TorchBackend.random = before


def losses_of_pytorch(theirs: Run, key: tb.Tensor, steps: int) -> list[float]:
    rf.select_backend_torch()
    rf.init_train_step_run_ctx(train_flag=True)
    optimiser = torch.optim.Adam(
        [
            held.raw_tensor
            for held in theirs.model.parameters()
            if held.trainable is not False and held.raw_tensor.requires_grad
        ],
        RATE,
    )
    losses = []
    with masks_of(key):
        for _ in range(steps):
            optimiser.zero_grad()
            loss = theirs.loss()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
    return losses


@pytest.mark.parametrize("over", ["numpy", "jax"])
def test_a_conformer_is_trained_as_on_pytorch_with_the_same_masks(over: str) -> None:
    theirs = on_torch(SIZES)
    ours = on_ours(over, theirs, SIZES)
    rf.init_train_step_run_ctx(train_flag=True)
    values, now = parameters(ours.model), state(ours.model)
    expected = losses_of_pytorch(theirs, tb.backend_copy(now.key, "numpy"), 30)
    tensorbackend_returnn.select_backend(over)
    rf.init_train_step_run_ctx(train_flag=True)
    optimiser = tb.optimize.adam(RATE)
    loss = tb.value_and_grad(functional(ours.model, ours.loss), has_aux=True)

    def step(values: Any, now: State, moments: Any) -> Any:
        (value, after), slopes = loss(values, now)
        updates, moments = optimiser.update(slopes, moments, values)
        return tb.optimize.apply_updates(values, updates), after, moments, value

    compiled, moments, losses = tb.jit(step), optimiser.init(values), []
    for _ in range(30):
        values, now, moments, value = compiled(values, now, moments)
        losses.append(value.item())
    np.testing.assert_allclose(losses[:10], expected[:10], rtol=1e-5)
    np.testing.assert_allclose(losses, expected, rtol=1e-2)
    assert losses[-1] < losses[0]
