"""One program on three backends: a dry run on templates, NumPy, and the pure-Python reference."""

from __future__ import annotations

import math

import tensorbackend as tb
from tensorbackend.errors import TensorBackendError


def scores(x: tb.Tensor) -> tb.Tensor:
    """Mean over the batch of the class probabilities of some logits."""
    return tb.mean(tb.softmax(x * 0.5, axis="class"), axis="batch")


def main() -> None:
    """Runs the program dry, catches an axis mix-up there, and compares two backends."""
    print("dry run:", scores(tb.template((64, 10), "f32", ("batch", "class"))))
    try:
        scores(tb.template((64, 10), "f32", ("batch", "feature")))
    except TensorBackendError as error:
        print("mix-up found in the dry run:", error)

    logits = [[math.sin(3 * row + column) for column in range(10)] for row in range(64)]
    on_numpy = scores(tb.tensor(logits, names=("batch", "class"), backend="numpy"))
    on_binary = scores(tb.tensor(logits, names=("batch", "class"), backend="binary"))
    print(on_numpy)
    furthest = max(abs(a - b) for a, b in zip(on_numpy.tolist(), on_binary.tolist(), strict=True))
    print(f"quickstart: numpy and binary agree to {furthest:.1e}")
    if furthest > 1e-6:
        raise SystemExit("the backends disagree")


if __name__ == "__main__":
    main()
