"""The CTC loss against a sum over all alignments, its gradient, its edge cases, and the best path."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DTypeError, IndexRangeError, NamesError, ShapeError

LOGITS = tb.random.normal(tb.random.key(0), (5, 4, 3), names=("batch", "time", "class"))
LABELS = tb.asarray([[1, 1], [1, 2], [2, 7], [9, 9], [1, 2]], names=("batch", None))
COUNTS = tb.asarray([2, 2, 1, 0, 2], names=("batch",))
FRAMES = tb.asarray([4, 3, 4, 2, 1], names=("batch",))


def spelt(path: Any, blank: int, repeats: bool = True) -> list[int]:
    steps = (label for label, _ in itertools.groupby(path)) if repeats else path
    return [label for label in steps if label != blank]


def by_hand(logits: Any, labels: Any, frames: int, blank: int, repeats: bool = True) -> dict[Any, float]:
    """Return the probability of each path that spells the labels."""
    shifted = np.exp(logits - logits.max(-1, keepdims=True))
    shares = shifted / shifted.sum(-1, keepdims=True)
    return {
        path: math.prod(shares[t, label] for t, label in enumerate(path))
        for path in itertools.product(range(logits.shape[-1]), repeat=frames)
        if spelt(path, blank, repeats) == list(labels)
    }


def minus_log(total: float) -> float:
    return -math.log(total) if total else math.inf


def examples_by_hand(blank: int, repeats: bool = True) -> list[dict[Any, float]]:
    """Return, for each example, the probability of each path that spells its labels."""
    examples = []
    for logits, labels, count, frames in zip(
        np.asarray(LOGITS), LABELS.tolist(), COUNTS.tolist(), FRAMES.tolist(), strict=True
    ):
        examples.append(by_hand(logits, [(label + blank) % 3 for label in labels[:count]], frames, blank, repeats))
    return examples


@pytest.mark.parametrize(("blank", "backend"), [(0, "binary"), (0, "numpy"), (1, "numpy"), (-1, "numpy"), (0, "jax")])
def test_the_loss_is_the_sum_over_all_paths(blank: int, backend: str, whole: Callable[..., Any]) -> None:
    moved = tb.where(tb.iota(2) >= COUNTS[:, None], LABELS, (LABELS + blank) % 3)
    logits, labels, frames, counts = (x.backend_copy(backend) for x in (LOGITS, moved, FRAMES, COUNTS))

    @whole
    def loss(logits: tb.Tensor, labels: tb.Tensor, frames: tb.Tensor, counts: tb.Tensor) -> tb.Tensor:
        return tb.nn.ctc_loss(logits, labels, logit_lengths=frames, label_lengths=counts, blank=blank)

    losses = loss(logits, labels, frames, counts)
    assert losses.names == ("batch",)
    assert losses.tolist() == pytest.approx(
        [minus_log(sum(probabilities.values())) for probabilities in examples_by_hand(blank % 3)], rel=1e-5
    )
    assert losses.tolist()[-1] == math.inf


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
@pytest.mark.parametrize("repeats", [True, False])
def test_one_path_and_labels_of_one_frame(repeats: bool, backend: str, whole: Callable[..., Any]) -> None:
    logits, labels, frames, counts = (x.backend_copy(backend) for x in (LOGITS, LABELS, FRAMES, COUNTS))

    @whole
    def results(logits: tb.Tensor, labels: tb.Tensor, frames: tb.Tensor, counts: tb.Tensor) -> tuple[tb.Tensor, ...]:
        options: dict[str, Any] = {"logit_lengths": frames, "label_lengths": counts, "repeats": repeats}
        return (
            tb.nn.ctc_loss(logits, labels, **options),
            tb.nn.ctc_loss(logits, labels, alignments="best", **options),
            tb.nn.ctc_alignment(logits, labels, **options),
        )

    total, best, alignments = results(logits, labels, frames, counts)
    paths = examples_by_hand(0, repeats)
    assert total.tolist() == pytest.approx(
        [minus_log(sum(probabilities.values())) for probabilities in paths], rel=1e-5
    )
    assert best.names == ("batch",)
    assert best.tolist() == pytest.approx(
        [minus_log(max(probabilities.values(), default=0.0)) for probabilities in paths], rel=1e-5
    )
    assert alignments.template == tb.Template((5, 4), "s64", ("batch", "time"))
    for path, probabilities in zip(alignments.tolist(), paths, strict=True):
        way = max(probabilities, key=lambda path: probabilities[path], default=())
        assert path == [*way, *[0] * (4 - len(way))]


@pytest.mark.parametrize(
    "options", [{"alignments": "best"}, {"repeats": False}, {"alignments": "best", "repeats": False}]
)
def test_gradients_of_other_paths_are_those_of_differences(options: dict[str, Any]) -> None:
    logits = tb.astype(LOGITS, "f64")[:4]
    arguments: dict[str, Any] = {"logit_lengths": FRAMES[:4], "label_lengths": COUNTS[:4], **options}

    def loss(logits: Any) -> Any:
        return tb.sum(tb.nn.ctc_loss(logits, LABELS[:4], **arguments))

    slope = np.asarray(tb.grad(loss)(logits))
    compiled, step = tb.jit(loss), 1e-6
    for place in itertools.product(range(4), range(4), range(3)):
        moved = np.zeros((4, 4, 3))
        moved[place] = step
        change = compiled(logits + tb.asarray(moved)) - compiled(logits - tb.asarray(moved))
        assert slope[place] == pytest.approx(change.item() / (2 * step), abs=1e-7)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_the_gradient_is_that_of_differences(backend: str) -> None:
    logits = tb.astype(LOGITS, "f64").backend_copy(backend)
    labels, frames, counts = (x.backend_copy(backend) for x in (LABELS, FRAMES, COUNTS))
    weights = tb.asarray([1.0, 2.0, 3.0, 4.0, 5.0], dtype="f64", backend=backend)

    def loss(logits: Any) -> Any:
        losses = tb.nn.ctc_loss(logits, labels, logit_lengths=frames, label_lengths=counts)
        return tb.sum(tb.where(tb.isinf(losses), 0, losses) * weights)

    gradient = np.asarray(tb.jit(tb.grad(loss))(logits))
    step, compiled, values = 1e-6, tb.jit(loss), np.asarray(logits)
    for place in itertools.product(range(5), range(4), range(3)):
        moved = np.zeros((5, 4, 3))
        moved[place] = step
        above, below = (tb.asarray(x, names=LOGITS.names, backend=backend) for x in (values + moved, values - moved))
        change = compiled(above).item() - compiled(below).item()
        assert gradient[place] == pytest.approx(change / (2 * step), abs=1e-7)
        if place[0] and backend == "jax":
            break
    assert not gradient[4].any()  # one frame cannot spell two labels
    assert not gradient[1, 3:].any()  # beyond the frames
    assert not gradient[3, 2:].any()


def test_axes_may_stand_anywhere_and_normalised_logits_are_taken_as_they_are() -> None:
    plain = tb.nn.ctc_loss(LOGITS, LABELS, logit_lengths=FRAMES, label_lengths=COUNTS)
    turned = tb.permute_dims(LOGITS, ("class", "batch", "time"))
    options: dict[str, Any] = {"logit_lengths": FRAMES, "label_lengths": COUNTS}
    assert tb.nn.ctc_loss(turned, LABELS, time="time", axis="class", **options).tolist() == plain.tolist()
    logs = tb.log_softmax(LOGITS)
    again = tb.nn.ctc_loss(logs, LABELS, normalised=True, **options)
    assert again.tolist() == pytest.approx(plain.tolist(), rel=1e-6)
    assert tb.nn.ctc_loss(LOGITS[0], LABELS[0]).shape == ()
    several = tb.nn.ctc_loss(tb.stack([LOGITS, LOGITS]), tb.stack([LABELS, LABELS]), **options)
    assert several.tolist() == [plain.tolist()] * 2


def test_what_is_beyond_the_lengths_changes_nothing() -> None:
    inside = (tb.iota(4) < FRAMES[:, None])[:, :, None]
    spoilt = tb.where(inside, LOGITS, 1e30)

    def loss(logits: Any) -> Any:
        return tb.sum(tb.nn.ctc_loss(logits, LABELS, logit_lengths=FRAMES, label_lengths=COUNTS)[:4])

    assert loss(spoilt).item() == loss(LOGITS).item()
    assert tb.sum(tb.abs(tb.where(inside, 0, tb.grad(loss)(spoilt)))).item() == 0


def test_no_frames_and_no_labels() -> None:
    logits = tb.zeros((3, 2, 3))
    labels, frames, counts = tb.ones((3, 1), dtype="s64"), tb.asarray([0, 0, 2]), tb.asarray([0, 1, 0])
    losses = tb.nn.ctc_loss(logits, labels, logit_lengths=frames, label_lengths=counts)
    assert losses.tolist() == pytest.approx([0.0, math.inf, 2 * math.log(3)])
    assert tb.nn.ctc_loss(logits, tb.zeros((3, 0), dtype="s64")).tolist() == pytest.approx([2 * math.log(3)] * 3)
    gradient = tb.grad(lambda x: tb.sum(tb.nn.ctc_loss(x, labels, logit_lengths=frames, label_lengths=counts)))(logits)
    assert not np.asarray(gradient)[:2].any()
    assert not np.isnan(np.asarray(gradient)).any()


def test_long_sequences_keep_their_digits() -> None:
    logits = tb.random.normal(tb.random.key(1), (2, 400, 30))
    labels = tb.random.randint(tb.random.key(2), (2, 80), 1, 30)

    def loss(logits: Any) -> Any:
        return tb.sum(tb.nn.ctc_loss(logits, labels))

    value, slope = tb.value_and_grad(loss)(logits)
    exact, exact_slope = tb.value_and_grad(loss)(tb.astype(logits, "f64"))
    assert value.item() == pytest.approx(exact.item(), rel=1e-6)
    assert np.abs(np.asarray(slope) - np.asarray(exact_slope)).max() < 1e-4
    narrow = loss(tb.astype(logits, "bf16"))
    assert narrow.dtype == tb.bfloat16
    assert narrow.item() == pytest.approx(exact.item(), rel=0.02)


def test_it_is_mapped_and_dry_run() -> None:
    one = tb.vmap(tb.nn.ctc_loss)(LOGITS, tb.where(tb.iota(2) < COUNTS[:, None], LABELS, 1))
    assert one.shape == (5,)
    assert tb.nn.ctc_loss(tb.template((5, 4, 3), "f32"), LABELS).template == tb.Template((5,), "f32", ("batch",))
    run = tb.dry_run(lambda x: tb.sum(tb.nn.ctc_loss(x, tb.ones((5, 2), dtype="s64"))), "f32[5, 4, 3]", gradient=True)
    assert run.eager.transcendentals > 0


def test_the_best_path() -> None:
    frames = tb.asarray([[1, 1, 0, 1, 2, 2], [0, 0, 0, 0, 0, 0], [2, 1, 2, 1, 2, 1]], names=("batch", "time"))
    logits = tb.nn.one_hot(frames, 3)
    labels, lengths = tb.nn.ctc_best_path(logits, lengths=tb.asarray([6, 6, 3]), name="position")
    assert labels.names == ("batch", "position")
    assert labels.tolist() == [[1, 1, 2, 0, 0, 0], [0] * 6, [2, 1, 2, 0, 0, 0]]
    assert lengths.tolist() == [3, 0, 3]
    last, lengths = tb.nn.ctc_best_path(logits, blank=-1)
    assert last.tolist() == [[1, 0, 1, 2, 2, 2], [0, 2, 2, 2, 2, 2], [1, 1, 1, 2, 2, 2]]
    assert tb.jit(tb.nn.ctc_best_path)(logits).lengths.tolist() == [3, 0, 6]
    assert tb.nn.ctc_best_path(tb.zeros((2, 0, 3))).lengths.tolist() == [0, 0]


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: tb.nn.ctc_loss(LOGITS, LABELS, blank=3), ArgumentError, "ctc_loss: expected a blank from -3 to 2"),
    (lambda: tb.nn.ctc_loss(LOGITS, LABELS[:3]), ShapeError, "ctc_loss: expected labels for each example"),
    (lambda: tb.nn.ctc_loss(LOGITS, LABELS * 1.0), DTypeError, "ctc_loss: expected labels of an integer dtype"),
    (lambda: tb.nn.ctc_loss(LOGITS, LABELS.rename("speaker", None)), NamesError, "ctc_loss: expected the same name"),
    (lambda: tb.nn.ctc_loss(LOGITS, LABELS, logit_lengths=COUNTS[:2]), ShapeError, "ctc_loss: expected sizes that are"),
    (
        lambda: tb.nn.ctc_loss(LOGITS, LABELS, label_lengths=COUNTS * 1.0),
        DTypeError,
        "ctc_loss: expected lengths of an",
    ),
    (lambda: tb.nn.ctc_loss(LOGITS, LABELS), IndexRangeError, "expected an index from"),
    (lambda: tb.nn.ctc_loss(LOGITS, LABELS * 0 - 1), IndexRangeError, "got index=-1"),
    (lambda: tb.nn.ctc_best_path(LOGITS, blank=-4), ArgumentError, "ctc_best_path: expected a blank from -3 to 2"),
]


@pytest.mark.parametrize(("wrong", "error", "text"), WRONG)
def test_what_does_not_fit(wrong: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        wrong()


def test_the_second_derivative_is_that_of_differences() -> None:
    logits, labels = tb.astype(LOGITS[0], "f64"), LABELS[1]

    def slope(x: Any) -> Any:
        return tb.grad(lambda x: tb.nn.ctc_loss(x, labels))(x)

    hessian, step = np.asarray(tb.hessian(lambda x: tb.nn.ctc_loss(x, labels))(logits)), 1e-6
    for place in itertools.product(range(4), range(3)):
        moved = np.zeros((4, 3))
        moved[place] = step
        shift = tb.asarray(moved)
        change = (slope(logits + shift) - slope(logits - shift)) / (2 * step)
        assert hessian[(..., *place)] == pytest.approx(np.asarray(change), abs=1e-7)


def test_nan_stays_nan() -> None:
    spoilt = tb.where((tb.iota(5) == 1)[:, None, None], tb.nan, LOGITS)
    losses = tb.nn.ctc_loss(spoilt, LABELS, logit_lengths=FRAMES, label_lengths=COUNTS)
    assert tb.isnan(losses).tolist() == [False, True, False, False, False]


# Alignments


def likeliest(logits: Any, labels: Any, frames: int) -> tuple[float, Any]:
    """Return the largest log-probability of a path that spells the labels, and that path."""
    scores = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    paths = itertools.product(range(logits.shape[-1]), repeat=frames)
    good = [path for path in paths if spelt(path, 0) == list(labels)]
    return max(
        ((sum(scores[t, label] for t, label in enumerate(path)), path) for path in good), default=(-math.inf, ())
    )


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_the_best_alignment_is_the_best_of_all(backend: str, whole: Callable[..., Any]) -> None:
    logits, labels, frames, counts = (x.backend_copy(backend) for x in (LOGITS, LABELS, FRAMES, COUNTS))

    @whole
    def best(logits: tb.Tensor, labels: tb.Tensor, frames: tb.Tensor, counts: tb.Tensor) -> tuple[tb.Tensor, tb.Tensor]:
        options: dict[str, Any] = {"logit_lengths": frames, "label_lengths": counts}
        losses = tb.nn.ctc_loss(logits, labels, alignments="best", **options)
        return tb.nn.ctc_alignment(logits, labels, **options), losses

    alignments, losses = best(logits, labels, frames, counts)
    assert alignments.names == ("batch", "time")
    for number, (example_logits, spelling, count, length) in enumerate(
        zip(np.asarray(LOGITS), LABELS.tolist(), COUNTS.tolist(), FRAMES.tolist(), strict=True)
    ):
        score, path = likeliest(example_logits, spelling[:count], length)
        assert losses.tolist()[number] == pytest.approx(-score, rel=1e-6)
        assert alignments.tolist()[number] == [*path, *[0] * (4 - len(path))]


def test_the_gradient_of_the_best_alignment_is_at_its_classes() -> None:
    def loss(scores: Any) -> Any:
        return tb.sum(tb.nn.ctc_loss(scores, LABELS[:3], alignments="best", normalised=True, label_lengths=COUNTS[:3]))

    scores = tb.log_softmax(LOGITS[:3], axis="class")
    expected_gradient = -tb.nn.one_hot(tb.nn.ctc_alignment(LOGITS[:3], LABELS[:3], label_lengths=COUNTS[:3]), 3)
    assert tb.grad(loss)(scores).tolist() == expected_gradient.tolist()
    assert tb.jit(loss)(scores).item() == pytest.approx(loss(scores).item())
    with pytest.raises(ArgumentError, match="alignments to be 'all' or 'best'"):
        tb.nn.ctc_loss(LOGITS, LABELS, alignments="first")  # type: ignore[arg-type]
