"""Compares the CTC loss with those of BinaryBackend and of PyTorch itself, and tests edge cases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import tensorbackend as tb
import torch
from tensorbackend.errors import IndexRangeError

RANDOM = np.random.default_rng(3)
LOGITS = RANDOM.standard_normal((8, 6, 4))
LABELS = np.array([[1, 1, 2], [3, 1, 3], [2, 2, 2], [9, -1, 7], [1, 2, 3], [1, 1, 1], [2, 1, 5], [3, 3, 1]])
FRAMES = np.array([6, 5, 5, 3, 2, 4, 0, 0])
COUNTS = np.array([3, 3, 3, 0, 3, 3, 2, 0])


def both(backend: str, dtype: str, blank: int) -> tuple[Any, Any]:
    """The losses, and the gradient of a weighted sum of those that are finite."""
    moved = np.where(np.arange(3) < COUNTS[:, None], (LABELS + blank) % 4, LABELS)
    labels, frames, counts = (tb.asarray(array, backend=backend) for array in (moved, FRAMES, COUNTS))
    weights = tb.iota(8, dtype=dtype, backend=backend)

    def loss(logits: Any) -> Any:
        losses = tb.nn.ctc_loss(logits, labels, logit_lengths=frames, label_lengths=counts, blank=blank)
        return tb.sum(tb.where(tb.isinf(losses), 0, losses) * weights), losses

    logits = tb.asarray(LOGITS, dtype=dtype, backend=backend)
    (_, losses), slope = tb.value_and_grad(loss, has_aux=True)(logits)
    return losses.tolist(), np.asarray(tb.astype(slope, "f64").backend_copy("numpy"))


@pytest.mark.parametrize(("dtype", "near"), [("float64", 1e-13), ("float32", 1e-6), ("bfloat16", 2e-2)])
@pytest.mark.parametrize("blank", [0, 2, 3])
def test_it_is_that_of_binary(dtype: str, near: float, blank: int) -> None:
    losses, slope = both("torch", dtype, blank)
    expected_losses, expected_slope = both("binary", dtype, blank)
    assert losses == pytest.approx(expected_losses, rel=near)
    assert losses[4] == losses[6] == math.inf
    assert losses[7] == 0
    assert np.abs(slope - expected_slope).max() < 10 * near
    assert not slope[4].any()
    assert not slope[6:].any()
    assert not slope[1, 5:].any()


def test_it_is_pytorchs_own_where_all_fits() -> None:
    logits = torch.tensor(LOGITS[:3], requires_grad=True)
    frames, counts = torch.tensor(FRAMES[:3]), torch.tensor(COUNTS[:3])
    logs = torch.log_softmax(logits, -1).transpose(0, 1)
    torch_loss = torch.nn.functional.ctc_loss(logs, torch.tensor(LABELS[:3]), frames, counts, reduction="sum")
    torch_loss.backward()

    def loss(logits: Any) -> Any:
        labels = torch.tensor(LABELS[:3])
        return tb.sum(tb.nn.ctc_loss(logits, labels, logit_lengths=frames, label_lengths=counts))

    value, slope = tb.value_and_grad(loss)(tb.asarray(logits.detach(), backend="torch"))
    assert value.item() == pytest.approx(torch_loss.item(), rel=1e-12)
    assert np.abs(np.asarray(slope) - np.asarray(logits.grad)).max() < 1e-12
    assert not slope.data.requires_grad


def test_long_sequences_keep_their_digits() -> None:
    logits = tb.random.normal(tb.random.key(1, backend="torch"), (2, 400, 30))
    labels = tb.random.randint(tb.random.key(2, backend="torch"), (2, 80), 1, 30)

    def loss(logits: Any) -> Any:
        return tb.sum(tb.nn.ctc_loss(logits, labels))

    value, slope = tb.value_and_grad(loss)(logits)
    exact, exact_slope = tb.value_and_grad(loss)(tb.astype(logits, "f64"))
    assert value.item() == pytest.approx(exact.item(), rel=1e-6)
    assert np.abs(np.asarray(slope) - np.asarray(exact_slope)).max() < 1e-5


def test_padding_and_impossible_classes_change_nothing() -> None:
    spoilt = np.where(np.arange(6)[:, None] < FRAMES[:, None, None], LOGITS, np.nan)
    options: dict[str, Any] = {"logit_lengths": tb.asarray(FRAMES), "label_lengths": tb.asarray(COUNTS)}
    moved = {name: tensor.backend_copy("torch") for name, tensor in options.items()}
    labels = tb.asarray(LABELS, backend="torch")
    losses = tb.nn.ctc_loss(tb.asarray(spoilt, backend="torch"), labels, **moved)
    assert losses.tolist() == tb.nn.ctc_loss(tb.asarray(LOGITS, backend="torch"), labels, **moved).tolist()
    logs = tb.asarray([[[0.0, -math.inf], [math.log(0.25), math.log(0.75)]]], backend="torch")

    def loss(logs: Any) -> Any:
        return tb.sum(tb.nn.ctc_loss(logs, tb.asarray([[1]], backend="torch"), normalised=True))

    value, slope = tb.value_and_grad(loss)(logs)
    assert value.item() == pytest.approx(-math.log(0.75))
    assert slope.tolist() == [[[-1.0, 0.0], [0.0, -1.0]]]


@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 0, 3), (2, 4, 3)])
@pytest.mark.parametrize("size", [0, 1])
def test_nothing_at_all(shape: tuple[int, ...], size: int) -> None:
    def loss(logits: Any) -> Any:
        labels = tb.ones((shape[0], size), dtype="s64", backend=logits.backend)
        return tb.sum(tb.nn.ctc_loss(logits, labels))

    on_torch, on_binary = (tb.value_and_grad(loss)(tb.zeros(shape, backend=backend)) for backend in ("torch", "binary"))
    assert on_torch[0].item() == pytest.approx(on_binary[0].item(), rel=1e-6)
    np.testing.assert_allclose(np.asarray(on_torch[1]), np.asarray(on_binary[1].backend_copy("numpy")), atol=1e-6)


def test_mistakes_and_other_ways() -> None:
    logits, labels = tb.asarray(LOGITS, backend="torch"), tb.asarray(LABELS[:, :2], backend="torch")
    with pytest.raises(IndexRangeError, match="expected an index from 0 to 3, got index=9"):
        tb.nn.ctc_loss(logits, labels)
    few, one = logits[:2, :3], labels[:2]
    expected_losses = tb.nn.ctc_loss(few, one).tolist()
    assert tb.vmap(tb.nn.ctc_loss)(few, one).tolist() == pytest.approx(expected_losses)
    assert tb.jit(tb.nn.ctc_loss)(few, one).tolist() == expected_losses
    curved = tb.hessian(lambda x: tb.sum(tb.nn.ctc_loss(x, one)))(few)
    same = tb.hessian(lambda x: tb.sum(tb.nn.ctc_loss(x, one.backend_copy("numpy"))))(few.backend_copy("numpy"))
    assert np.abs(np.asarray(curved) - np.asarray(same)).max() < 1e-12


def test_the_gradient_where_labels_do_not_repeat_is_that_of_numpy() -> None:
    logits, labels = tb.random.normal(tb.random.key(0), (1, 5, 4)), tb.asarray([[1, 2]])
    here, there = (x.backend_copy("torch") for x in (logits, labels))
    for transform in (tb.grad, lambda f: tb.jit(tb.grad(f))):
        expected = transform(lambda x: tb.sum(tb.nn.ctc_loss(x, labels, repeats=False)))(logits)
        found = transform(lambda x: tb.sum(tb.nn.ctc_loss(x, there, repeats=False)))(here)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
