"""A training step of two layers: returns the loss, and the parameters after one step down its gradient.

The base is the step written by hand in NumPy, which a compiler should match.
"""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np

import tensorbackend as tb

from .measuring import Call, Contender

STEP = run_path(str(Path(__file__).parents[1] / "step.py"))
"""The step in tensorbackend and by hand, which `benchmarks/step.py` also measures."""

FEATURES, HIDDEN, CLASSES, RATE = (STEP[name] for name in ("FEATURES", "HIDDEN", "CLASSES", "RATE"))
BATCHES = {"batch of 8": 8, "batch of 512": 512}
SIZES = f"{FEATURES} features, {HIDDEN} hidden units, {CLASSES} results"
PROGRAMS = dict.fromkeys(BATCHES, "loss, and first, shift, second, last less 0.1 of their gradient")


def contenders() -> list[Contender]:
    """Return the step in each library that has gradients, and by hand."""
    return [
        Contender("NumPy, by hand", {name: by_hand(drawn(rows)) for name, rows in BATCHES.items()}, read=read),
        *(
            Contender(
                f"ours on {title}, {'jit' if compiled else 'eager'}",
                {name: ours(drawn(rows), backend, compiled) for name, rows in BATCHES.items()},
                read=read,
                finish=lambda result: result[0].block_until_ready(),
            )
            for backend, title, compiled in (
                ("numpy", "NumPy", True),
                ("jax", "JAX", True),
                ("torch", "PyTorch", True),
                ("numpy", "NumPy", False),
            )
        ),
        by_jax(),
        Contender("PyTorch, eager", {name: by_torch(drawn(rows)) for name, rows in BATCHES.items()}, read=read),
        by_keras(),
        by_phiml(),
    ]


def drawn(batch: int) -> list[Any]:
    """Return random parameters and examples."""
    random = np.random.default_rng(0)
    shapes = ((FEATURES, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,), (batch, FEATURES), (batch, CLASSES))
    return [(random.standard_normal(shape) * 0.1).astype(np.float32) for shape in shapes]


def read(result: Any) -> Any:
    """Convert the loss and the parameters to arrays."""
    return tuple(map(np.asarray, result))


def by_hand(arrays: list[Any]) -> Call:
    return lambda: STEP["by_hand"](*arrays)


def ours(arrays: list[Any], backend: str, compiled: bool) -> Call:
    tensors = [tb.asarray(array, backend=backend) for array in arrays]
    step = tb.jit(STEP["step"]) if compiled else STEP["step"]
    return lambda: step(*tensors)


def by_jax() -> Contender:
    import jax
    import jax.numpy as jnp

    def loss(first: Any, shift: Any, second: Any, last: Any, x: Any, y: Any) -> Any:
        hidden = jnp.tanh(x @ first + shift)
        return jnp.mean(jnp.square(hidden @ second + last - y))

    @jax.jit
    def step(*arrays: Any) -> Any:
        value, gradient = jax.value_and_grad(loss, (0, 1, 2, 3))(*arrays)
        return value, *(array - RATE * slope for array, slope in zip(arrays, gradient, strict=False))

    def call(arrays: list[Any]) -> Call:
        parameters = [jnp.asarray(array) for array in arrays]
        return lambda: step(*parameters)

    calls = {name: call(drawn(rows)) for name, rows in BATCHES.items()}
    return Contender("jax.jit", calls, read=read, finish=jax.block_until_ready)


def by_torch(arrays: list[Any]) -> Call:
    import torch

    torch.set_num_threads(1)
    *parameters, x, y = map(torch.from_numpy, arrays)
    for parameter in parameters:
        parameter.requires_grad_()

    def step() -> Any:
        first, shift, second, last = parameters
        hidden = torch.tanh(x @ first + shift)
        value = torch.mean(torch.square(hidden @ second + last - y))
        gradient = torch.autograd.grad(value, parameters)
        with torch.no_grad():
            return value.detach(), *(array - RATE * slope for array, slope in zip(parameters, gradient, strict=True))

    return step


def by_keras() -> Contender:
    """`Model.train_on_batch` on JAX, with Keras' metrics; the model keeps the weights between steps."""
    import jax.numpy as jnp
    import keras

    def call(arrays: list[Any]) -> Call:
        model = keras.Sequential(
            [keras.Input((FEATURES,)), keras.layers.Dense(HIDDEN, activation="tanh"), keras.layers.Dense(CLASSES)]
        )
        model.compile(keras.optimizers.SGD(RATE), "mse")
        model.set_weights(arrays[:4])
        x, y = jnp.asarray(arrays[4]), jnp.asarray(arrays[5])
        return lambda: (model.train_on_batch(x, y), model)

    def trained(result: Any) -> Any:
        value, model = result
        return read((value, *model.get_weights()))

    return Contender(
        "Keras on JAX, train_on_batch", {name: call(drawn(rows)) for name, rows in BATCHES.items()}, read=trained
    )


def by_phiml() -> Contender:
    """PhiML on JAX. Its `tanh` is NumPy's there and cannot be differentiated, so the step uses `exp`."""
    import jax.numpy as jnp
    from phiml import math
    from phiml.math import channel

    math.use("jax")
    names = ("feature,hidden", "hidden", "hidden,result", "result", "example,feature", "example,result")

    def loss(first: Any, shift: Any, second: Any, last: Any, x: Any, y: Any) -> Any:
        hidden = 1 - 2 / (1 + math.exp(2 * (math.dot(x, "feature", first, "feature") + shift)))
        error = math.dot(hidden, "hidden", second, "hidden") + last - y
        return math.mean(error**2, "example,result")

    gradient = math.gradient(loss, "first,shift,second,last", get_output=True)

    @math.jit_compile  # type: ignore[untyped-decorator]
    def step(first: Any, shift: Any, second: Any, last: Any, x: Any, y: Any) -> Any:
        value, slopes = gradient(first, shift, second, last, x, y)
        parameters = (first, shift, second, last)
        return value, *(parameter - RATE * slope for parameter, slope in zip(parameters, slopes, strict=True))

    def call(arrays: list[Any]) -> Call:
        tensors = [math.wrap(jnp.asarray(array), channel(name)) for array, name in zip(arrays, names, strict=True)]
        return lambda: step(*tensors)

    def values(result: Any) -> Any:
        return tuple(
            tensor.numpy(order.split(",") if order else []) for tensor, order in zip(result, ("", *names), strict=False)
        )

    return Contender(
        "PhiML on JAX, jit",
        {name: call(drawn(rows)) for name, rows in BATCHES.items()},
        read=values,
        finish=lambda result: result[0].native(result[0].shape).block_until_ready(),
    )
