"""Libraries on top of an engine, on the programs of `calls`; each is used as its documentation recommends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .calls import Operands
from .measuring import Contender, Dash

OPERATOR = Dash("written as the engine's own operator, which it does not see")
ENGINES = {"numpy": "NumPy", "torch": "PyTorch", "jax": "JAX"}


def on(engine: str, array: Any) -> Any:
    """Convert a NumPy array to an array of the engine."""
    if engine == "torch":
        import torch

        return torch.from_numpy(array)
    if engine == "jax":
        import jax.numpy as jnp

        return jnp.asarray(array)
    return array


def waiting(engine: str) -> Callable[[Any], object]:
    """Return a function that waits for an array of the engine."""
    if engine == "jax":
        import jax

        return jax.block_until_ready
    return id


def by_compat(operands: Operands, engine: str) -> Contender:
    """Code for any array of the standard; each function asks array-api-compat for the namespace."""
    from array_api_compat import array_namespace

    return _standard("array-api-compat", operands.converted(lambda array: on(engine, array)), array_namespace, engine)


def by_strict(operands: Operands) -> Contender:
    """The same code on arrays of array-api-strict, which wrap NumPy arrays."""
    import array_api_strict

    def namespace(x: Any) -> Any:
        return x.__array_namespace__()

    return _standard("array-api-strict", operands.converted(array_api_strict.asarray), namespace, "numpy")


def _standard(name: str, operands: Operands, namespace: Callable[[Any], Any], engine: str) -> Contender:
    x, y, m, a, b, bias, mask, indices, s = operands

    def softmax() -> Any:
        xp = namespace(m)
        exponentials = xp.exp(m - xp.max(m, axis=1, keepdims=True))
        return exponentials / xp.sum(exponentials, axis=1, keepdims=True)

    strict = name == "array-api-strict"
    return Contender(
        name,
        {
            "add": lambda: namespace(x).add(x, y),
            "add a number": (lambda: x + 1.5) if strict else OPERATOR,
            "exp": lambda: namespace(x).exp(x),
            "where": lambda: namespace(x).where(mask, x, y),
            "sum": lambda: namespace(x).sum(x),
            "mean of an axis": lambda: namespace(m).mean(m, axis=1),
            "max of an axis": lambda: namespace(m).max(m, axis=1),
            "cumulative sum": lambda: namespace(x).cumulative_sum(x),
            "sort": lambda: namespace(x).sort(x),
            "matmul": lambda: namespace(a).matmul(a, b),
            "matmul of a batch": lambda: namespace(s).matmul(s, b),
            "concatenate": lambda: namespace(x).concat([x, y]),
            "take": lambda: namespace(m).take(m, indices, axis=0),
            "index": (lambda: m[0, :]) if strict else OPERATOR,
            "slice": (lambda: x[1:5]) if strict else OPERATOR,
            "reshape": lambda: namespace(m).reshape(m, (-1,)),
            "transpose": lambda: namespace(m).permute_dims(m, (1, 0)),
            "softmax": softmax,
            "layer": lambda: namespace(a).tanh(namespace(a).matmul(a, b) + bias),
            "layer of a batch": lambda: namespace(s).tanh(namespace(s).matmul(s, b) + bias),
        },
        finish=waiting(engine),
    )


def by_autoray(operands: Operands, engine: str) -> Contender:
    """Functions called through `autoray.do`, on the engine's own arrays."""
    from autoray import do

    x, y, m, a, b, bias, mask, indices, s = operands.converted(lambda array: on(engine, array))

    def softmax() -> Any:
        exponentials = do("exp", m - do("max", m, axis=1)[:, None])
        return exponentials / do("sum", exponentials, axis=1)[:, None]

    return Contender(
        "autoray",
        {
            "add": lambda: do("add", x, y),
            "add a number": OPERATOR,
            "exp": lambda: do("exp", x),
            "where": lambda: do("where", mask, x, y),
            "sum": lambda: do("sum", x),
            "mean of an axis": lambda: do("mean", m, axis=1),
            "max of an axis": lambda: do("max", m, axis=1),
            "cumulative sum": lambda: do("cumsum", x, 0),
            "sort": lambda: do("sort", x),
            "matmul": lambda: do("matmul", a, b),
            "matmul of a batch": lambda: do("matmul", s, b),
            "concatenate": lambda: do("concatenate", (x, y)),
            "take": lambda: do("take", m, indices, axis=0),
            "index": OPERATOR,
            "slice": OPERATOR,
            "reshape": lambda: do("reshape", m, (-1,)),
            "transpose": lambda: do("transpose", m, (1, 0)),
            "softmax": softmax,
            "layer": lambda: do("tanh", do("matmul", a, b) + bias),
            "layer of a batch": lambda: do("tanh", do("matmul", s, b) + bias),
        },
        finish=waiting(engine),
    )


def by_keras(operands: Operands, engine: str) -> Contender:
    """Functions of `keras.ops` on the engine's own arrays, with the engine as the backend of Keras."""
    import keras
    from keras import ops

    if keras.backend.backend() != engine:
        raise ValueError(
            f"peers: expected Keras on {engine}, got {keras.backend.backend()}; set KERAS_BACKEND={engine}"
        )
    x, y, m, a, b, bias, mask, indices, s = operands.converted(lambda array: on(engine, array))
    return Contender(
        "Keras",
        {
            "add": lambda: ops.add(x, y),
            "add a number": lambda: ops.add(x, 1.5),
            "exp": lambda: ops.exp(x),
            "where": lambda: ops.where(mask, x, y),
            "sum": lambda: ops.sum(x),
            "mean of an axis": lambda: ops.mean(m, axis=1),
            "max of an axis": lambda: ops.max(m, axis=1),
            "cumulative sum": lambda: ops.cumsum(x),
            "sort": lambda: ops.sort(x),
            "matmul": lambda: ops.matmul(a, b),
            "matmul of a batch": lambda: ops.matmul(s, b),
            "concatenate": lambda: ops.concatenate([x, y]),
            "take": lambda: ops.take(m, indices, axis=0),
            "index": OPERATOR,
            "slice": OPERATOR,
            "reshape": lambda: ops.reshape(m, (-1,)),
            "transpose": lambda: ops.transpose(m),
            "softmax": lambda: ops.softmax(m, axis=1),
            "layer": lambda: ops.tanh(ops.add(ops.matmul(a, b), bias)),
            "layer of a batch": lambda: ops.tanh(ops.add(ops.matmul(s, b), bias)),
        },
        finish=waiting(engine),
    )


def by_xarray(operands: Operands) -> Contender:
    """xarray's arrays, without coordinates."""
    import xarray

    from .calls import NAMES

    x, y, m, a, b, bias, mask, indices, s = (
        xarray.DataArray(array, dims=names) for array, names in zip(operands, NAMES, strict=True)
    )

    def softmax() -> Any:
        exponentials = np.exp(m - m.max("column"))
        return exponentials / exponentials.sum("column")

    return Contender(
        "xarray",
        {
            "add": lambda: x + y,
            "add a number": lambda: x + 1.5,
            "exp": lambda: np.exp(x),
            "where": lambda: xarray.where(mask, x, y),
            "sum": lambda: x.sum(),
            "mean of an axis": lambda: m.mean("column"),
            "max of an axis": lambda: m.max("column"),
            "cumulative sum": lambda: x.cumsum("n"),
            "sort": Dash("sorts along an axis by coordinates only"),
            "matmul": lambda: xarray.dot(a, b, dim="inner"),
            "matmul of a batch": lambda: xarray.dot(s, b, dim="inner"),
            "concatenate": lambda: xarray.concat([x, y], dim="n"),
            "take": lambda: m.isel(row=indices),
            "index": lambda: m.isel(row=0),
            "slice": lambda: x.isel(n=slice(1, 5)),
            "reshape": lambda: m.stack(z=("row", "column"), create_index=False),
            "transpose": lambda: m.transpose("column", "row"),
            "softmax": softmax,
            "layer": lambda: np.tanh(xarray.dot(a, b, dim="inner") + bias),
            "layer of a batch": lambda: np.tanh(xarray.dot(s, b, dim="inner") + bias),
        },
    )


def by_phiml(operands: Operands, engine: str) -> Contender:
    """PhiML's tensors with the same axis names, on an engine; without its `tanh` on JAX, which would be NumPy's."""
    from phiml import math
    from phiml.math import channel, instance

    from .calls import NAMES

    math.use(engine)
    x, y, m, a, b, bias, mask, _, s = (
        math.wrap(on(engine, array), channel(",".join(names))) for array, names in zip(operands, NAMES, strict=True)
    )
    rows = math.wrap(on(engine, operands.indices), instance("place"))
    both = channel("row,column")

    def tanh(x: Any) -> Any:
        return 1 - 2 / (1 + math.exp(2 * x)) if engine == "jax" else math.tanh(x)

    return Contender(
        "PhiML",
        {
            "add": lambda: x + y,
            "add a number": lambda: x + 1.5,
            "exp": lambda: math.exp(x),
            "where": lambda: math.where(mask, x, y),
            "sum": lambda: math.sum(x, "n"),
            "mean of an axis": lambda: math.mean(m, "column"),
            "max of an axis": lambda: math.max(m, "column"),
            "cumulative sum": lambda: math.cumulative_sum(x, "n"),
            "sort": lambda: math.sort(x, "n"),
            "matmul": lambda: math.dot(a, "inner", b, "inner"),
            "matmul of a batch": lambda: math.dot(s, "inner", b, "inner"),
            "concatenate": lambda: math.concat([x, y], "n"),
            "take": lambda: m.row[rows],
            "index": lambda: m.row[0],
            "slice": lambda: x.n[1:5],
            "reshape": lambda: math.pack_dims(m, both, channel("z")),
            "transpose": Dash("its axes have no order"),
            "softmax": lambda: math.softmax(m, "column"),
            "layer": lambda: tanh(math.dot(a, "inner", b, "inner") + bias),
            "layer of a batch": lambda: tanh(math.dot(s, "inner", b, "inner") + bias),
        },
        read=lambda tensor: in_order(tensor, engine),
        finish=lambda result: waiting(engine)(result.native(result.shape)),
    )


def in_order(tensor: Any, engine: str) -> Any:
    """Convert a tensor of PhiML to an array, with the axes in the same order as for the other libraries."""
    if not type(tensor.native(tensor.shape)).__module__.startswith(engine):
        raise ValueError(f"PhiML: expected a result on {engine}, got {type(tensor.native(tensor.shape))}")
    known = ("place", "row", "inner", "column", "n", "z")
    return tensor.numpy([name for name in known if name in tensor.shape.names])
