"""Measures gradients without `tb.jit` on NumPy, relative to the same by hand, and to PyTorch and JAX if installed.

The sides of a ratio take turns, so that a busy machine slows all of them. Run it from the root of the repository.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

import tensorbackend as tb

FEATURES, HIDDEN, CLASSES, BATCH = 64, 128, 10, 8
SHAPES = 33, 64
"""Numbers of batch sizes that take turns."""

WORDS, WIDTH, HEADS = 32, 64, 4


def loss(
    first: tb.Tensor, shift: tb.Tensor, second: tb.Tensor, last: tb.Tensor, x: tb.Tensor, y: tb.Tensor
) -> tb.Tensor:
    """The mean squared error of two layers."""
    hidden = tb.tanh(x @ first + shift)
    return tb.mean(tb.square(hidden @ second + last - y))


def by_hand(first: Any, shift: Any, second: Any, last: Any, x: Any, y: Any) -> tuple[Any, ...]:
    """The loss and its gradient written by hand in NumPy."""
    hidden = np.tanh(x @ first + shift)
    error = hidden @ second + last - y
    value = np.mean(np.square(error))
    down = error * np.float32(2 / error.size)
    inner = (down @ second.T) * (1 - hidden * hidden)
    return value, x.T @ inner, inner.sum(0), hidden.T @ down, down.sum(0)


def on_a_tape(tensors: list[tb.Tensor]) -> tuple[tb.Tensor, ...]:
    """The loss and its gradient by a tape."""
    with tb.tape() as tape:
        parameters = tape.watch(tensors[:4])
        value = loss(*parameters, *tensors[4:])
    return value, *tb.gradient(value, parameters)


def drawn(*shape: int) -> Any:
    """Random float32 numbers, the same for the same shape."""
    return (np.random.default_rng(len(shape)).standard_normal(shape) * 0.1).astype(np.float32)


def arrays(batch: int) -> list[Any]:
    """The arguments of the loss."""
    shapes = (FEATURES, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,), (batch, FEATURES), (batch, CLASSES)
    return [drawn(*shape) for shape in shapes]


def of_torch(given: list[Any]) -> Callable[[], Any]:
    """The same on PyTorch, eager."""
    import torch

    torch.set_num_threads(1)
    tensors = [torch.tensor(array, requires_grad=place < 4) for place, array in enumerate(given)]
    first, shift, second, last, x, y = tensors

    def step() -> Any:
        value = torch.mean(torch.square(torch.tanh(x @ first + shift) @ second + last - y))
        return value, *torch.autograd.grad(value, tensors[:4])

    return step


def of_jax(given: list[Any]) -> Callable[[], Any]:
    """The same on JAX without `jit`."""
    import jax

    def loss(first: Any, shift: Any, second: Any, last: Any, x: Any, y: Any) -> Any:
        return jax.numpy.mean(jax.numpy.square(jax.numpy.tanh(x @ first + shift) @ second + last - y))

    numbers, both = [jax.numpy.asarray(array) for array in given], jax.value_and_grad(loss, (0, 1, 2, 3))

    def step() -> Any:
        value, gradient = both(*numbers)
        return value.block_until_ready(), [x.block_until_ready() for x in gradient]

    return step


def transformer(parameters: dict[str, tb.Tensor], x: tb.Tensor) -> tb.Tensor:
    """A loss of a layer of a transformer."""
    size = WIDTH // HEADS

    def heads(name: str) -> tb.Tensor:
        return tb.permute_dims(
            tb.reshape(tb.nn.layer_norm(x, axis=-1) @ parameters[name], (WORDS, HEADS, size)), (1, 0, 2)
        )

    query, key, value = map(heads, ("query", "key", "value"))
    weights = tb.softmax(query @ tb.matrix_transpose(key) / size**0.5, axis=-1)
    attended = tb.reshape(tb.permute_dims(weights @ value, (1, 0, 2)), (WORDS, WIDTH))
    x = x + attended @ parameters["out"]
    hidden = tb.nn.gelu(tb.nn.layer_norm(x, axis=-1) @ parameters["up"])
    return tb.mean(tb.square(x + hidden @ parameters["down"]))


def seconds(sides: Mapping[str, Callable[[], object]], calls: int = 2, rounds: int = 300) -> dict[str, float]:
    """The seconds of each function: the minimum of many short runs that take turns."""
    for side in sides.values():
        for _ in range(5):
            side()
    runs: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            runs[name].append(timeit.timeit(side, number=calls) / calls)
    return {name: min(times) for name, times in runs.items()}


def two_layers() -> None:
    """Prints the loss of two layers with its gradient."""
    given = arrays(BATCH)
    tensors = [tb.asarray(array, backend="numpy") for array in given]
    both = tb.value_and_grad(loss, (0, 1, 2, 3))
    for found in ((lambda value, gradient: (value, *gradient))(*both(*tensors)), on_a_tape(tensors)):
        for result, expected in zip(found, by_hand(*given), strict=True):
            assert np.allclose(np.asarray(result), expected, atol=1e-6)
    sides = {
        "by hand": lambda: by_hand(*given),
        "value_and_grad": lambda: both(*tensors),
        "tape": lambda: on_a_tape(tensors),
    }
    for name, make in (("PyTorch", of_torch), ("JAX", of_jax)):
        try:
            sides[name] = make(given)
        except ImportError:
            continue
    most = {"value_and_grad": " (at most 2.5, and less than PyTorch)", "tape": " (at most 4)"}
    times = seconds(sides)
    for name, time in times.items():
        print(
            f"two layers with gradient, batch {BATCH}, eager, {name:<14}: {time * 1e6:8.1f} us, "
            f"{time / times['by hand']:6.2f} times NumPy by hand{most.get(name, '')}"
        )


def _called(function: Callable[..., object], calls: Sequence[Sequence[tb.Tensor]]) -> None:
    for tensors in calls:
        function(*tensors)


def shapes_in_turn() -> None:
    """Prints how much longer a call takes where many batch sizes take turns."""
    both = tb.value_and_grad(loss, (0, 1, 2, 3))
    for count in SHAPES:
        sets = [[tb.asarray(array, backend="numpy") for array in arrays(batch)] for batch in range(5, 5 + count)]
        sides = {
            "turns": partial(_called, both, sets),
            "one": partial(_called, both, [sets[count // 2]] * count),
        }
        times = seconds(sides, 1, 15)
        print(
            f"{count:>3} batch sizes in turn: {times['turns'] / count * 1e6:8.1f} us a call, one of them alone "
            f"{times['one'] / count * 1e6:8.1f} us, ratio {times['turns'] / times['one']:.2f} (at most 1.5)"
        )


def layer() -> None:
    """Prints a layer of a transformer with its gradient, eager and compiled."""
    shapes = dict.fromkeys(("query", "key", "value", "out"), (WIDTH, WIDTH))
    shapes |= {"up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
    parameters = {name: tb.asarray(drawn(*shape), backend="numpy") for name, shape in shapes.items()}
    x = tb.asarray(drawn(WORDS, WIDTH), backend="numpy")
    both = tb.value_and_grad(transformer)
    compiled = tb.jit(both)
    times = seconds({"eager": lambda: both(parameters, x), "compiled": lambda: compiled(parameters, x)}, 1, 100)
    print(
        f"layer of a transformer with gradient, {WORDS} words: eager {times['eager'] * 1e6:8.1f} us, "
        f"compiled {times['compiled'] * 1e6:8.1f} us, ratio {times['eager'] / times['compiled']:.2f} (at most 2)"
    )


def main() -> None:
    """Prints all lines."""
    two_layers()
    layer()
    shapes_in_turn()


if __name__ == "__main__":
    main()
