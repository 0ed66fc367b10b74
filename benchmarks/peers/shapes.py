"""Runs without data: our templates, PyTorch's meta device and FakeTensor, JAX's `eval_shape`, and Keras' tensors.

The compared results are shapes and dtypes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import tensorbackend as tb

from .measuring import Contender, Dash

PROGRAMS = {
    "add": "x + x of 32 x 784",
    "matmul": "x @ w of 32 x 784 and 784 x 512",
    "matmul of a batch": "s @ w of 8 x 32 x 784 and 784 x 512",
    "sum of an axis": "sum(x, axis=1)",
    "softmax": "softmax(x, axis=1)",
    "reshape": "reshape(x, (784, 32))",
    "network": "three layers: softmax(tanh(tanh(x @ w + b) @ v + c) @ u)",
    "network, new batch": "the same for a number of rows that never came before",
    "gradient": "the gradient of the network's loss with respect to w",
}
SHAPES = {"x": (32, 784), "w": (784, 512), "b": (512,), "v": (512, 256), "c": (256,), "u": (256, 10), "s": (8, 32, 784)}


def contenders() -> list[Contender]:
    """Return all contenders that run without data."""
    return [on_templates(), on_meta(), on_fakes(), by_eval_shape(), on_keras()]


def text(shape: Any, dtype: Any) -> str:
    """Return a shape and a dtype as text, the same for all contenders.

    >>> text((2, 3), "torch.float32")
    'float32[2, 3]'
    """
    return f"{str(dtype).removeprefix('torch.')}{list(shape)}"


def _new() -> Callable[[], int]:
    """Return a function that gives a new number of rows in each call."""
    rows = count(33)
    return lambda: next(rows)


def without_rows(result: Any) -> str:
    """Return a result as text; omit the network's number of rows, which differs in each call, unless it is 32."""
    return text(result.shape[1:] if result.shape[1:] == (10,) and result.shape[0] != 32 else result.shape, result.dtype)


def on_templates() -> Contender:
    x, w, b, v, c, u, s = (tb.template(shape, "f32") for shape in SHAPES.values())
    fresh = _new()

    def network(w: tb.Tensor, x: tb.Tensor) -> tb.Tensor:
        return tb.softmax(tb.tanh(tb.tanh(x @ w + b) @ v + c) @ u, axis=1)

    gradient = tb.grad(lambda w, x: tb.mean(tb.square(network(w, x))))
    return Contender(
        "TemplateBackend",
        {
            "add": lambda: x + x,
            "matmul": lambda: x @ w,
            "matmul of a batch": lambda: s @ w,
            "sum of an axis": lambda: tb.sum(x, axis=1),
            "softmax": lambda: tb.softmax(x, axis=1),
            "reshape": lambda: tb.reshape(x, (784, 32)),
            "network": lambda: network(w, x),
            "network, new batch": lambda: network(w, tb.template((fresh(), 784), "f32")),
            "gradient": lambda: gradient(w, x),
        },
        read=without_rows,
    )


def _torch_calls(make: Callable[..., Any], fresh_input: Callable[[int], Any]) -> dict[str, Callable[[], Any]]:
    import torch

    torch.set_num_threads(1)
    x, w, b, v, c, u, s = (make(shape) for shape in SHAPES.values())
    trained = make(SHAPES["w"]).requires_grad_()
    fresh = _new()

    def network(w: Any, x: Any) -> Any:
        return torch.softmax(torch.tanh(torch.tanh(x @ w + b) @ v + c) @ u, dim=1)

    def gradient() -> Any:
        (slope,) = torch.autograd.grad(torch.mean(torch.square(network(trained, x))), trained)
        return slope

    return {
        "add": lambda: x + x,
        "matmul": lambda: x @ w,
        "matmul of a batch": lambda: s @ w,
        "sum of an axis": lambda: torch.sum(x, dim=1),
        "softmax": lambda: torch.softmax(x, dim=1),
        "reshape": lambda: torch.reshape(x, (784, 32)),
        "network": lambda: network(w, x),
        "network, new batch": lambda: network(w, fresh_input(fresh())),
        "gradient": gradient,
    }


def on_meta() -> Contender:
    import torch

    def make(shape: tuple[int, ...]) -> Any:
        return torch.empty(shape, device="meta")

    return Contender("PyTorch, meta", _torch_calls(make, lambda rows: make((rows, 784))), read=without_rows)


def on_fakes() -> Contender:
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    mode = FakeTensorMode()

    def make(shape: tuple[int, ...]) -> Any:
        with mode:
            return torch.empty(shape)

    return Contender("FakeTensor", _torch_calls(make, lambda rows: make((rows, 784))), read=without_rows)


def by_eval_shape() -> Contender:
    import jax
    import jax.numpy as jnp

    def struct(*shape: int) -> Any:
        return jax.ShapeDtypeStruct(shape, jnp.float32)  # type: ignore[no-untyped-call]

    x, w, b, v, c, u, s = (struct(*shape) for shape in SHAPES.values())
    fresh = _new()

    def network(w: Any, x: Any, b: Any, v: Any, c: Any, u: Any) -> Any:
        return jax.nn.softmax(jnp.tanh(jnp.tanh(x @ w + b) @ v + c) @ u, axis=1)

    def loss(*arguments: Any) -> Any:
        return jnp.mean(jnp.square(network(*arguments)))

    def add(x: Any, y: Any) -> Any:
        return x + y

    def matmul(x: Any, y: Any) -> Any:
        return x @ y

    def total(x: Any) -> Any:
        return jnp.sum(x, axis=1)

    def softmax(x: Any) -> Any:
        return jax.nn.softmax(x, axis=1)

    def reshaped(x: Any) -> Any:
        return jnp.reshape(x, (784, 32))

    gradient = jax.grad(loss)
    return Contender(
        "jax.eval_shape",
        {
            "add": lambda: jax.eval_shape(add, x, x),
            "matmul": lambda: jax.eval_shape(matmul, x, w),
            "matmul of a batch": lambda: jax.eval_shape(matmul, s, w),
            "sum of an axis": lambda: jax.eval_shape(total, x),
            "softmax": lambda: jax.eval_shape(softmax, x),
            "reshape": lambda: jax.eval_shape(reshaped, x),
            "network": lambda: jax.eval_shape(network, w, x, b, v, c, u),
            "network, new batch": lambda: jax.eval_shape(network, w, struct(fresh(), 784), b, v, c, u),
            "gradient": lambda: jax.eval_shape(gradient, w, x, b, v, c, u),
        },
        read=without_rows,
    )


def on_keras() -> Contender:
    from keras import KerasTensor, ops

    def keras_tensor(*shape: int) -> Any:
        return KerasTensor(shape, "float32")

    x, w, b, v, c, u, s = (keras_tensor(*shape) for shape in SHAPES.values())
    fresh = _new()

    def network(x: Any) -> Any:
        hidden = ops.tanh(ops.add(ops.matmul(x, w), b))
        return ops.softmax(ops.matmul(ops.tanh(ops.add(ops.matmul(hidden, v), c)), u), axis=1)

    return Contender(
        "KerasTensor",
        {
            "add": lambda: ops.add(x, x),
            "matmul": lambda: ops.matmul(x, w),
            "matmul of a batch": lambda: ops.matmul(s, w),
            "sum of an axis": lambda: ops.sum(x, axis=1),
            "softmax": lambda: ops.softmax(x, axis=1),
            "reshape": lambda: ops.reshape(x, (784, 32)),
            "network": lambda: network(x),
            "network, new batch": lambda: network(keras_tensor(fresh(), 784)),
            "gradient": Dash("leaves gradients to its backend"),
        },
        read=without_rows,
    )
