"""The program of `test_distributed.py`: `python two_processes.py PORT PROCESS WHAT`, twice, each with four devices.

Both processes make the same calls. WHAT is a folder for a checkpoint, a number of steps for which to train the example
transformer and print its losses, or `die`, which makes the second process end without a message.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ShapeError

RULES = {"batch": "data", "hidden": "model"}
NUMBERS = np.arange(96, dtype=np.float32).reshape(16, 6)


def check(process: int, folder: str) -> None:
    """Check what must hold on each process."""
    assert (tb.distributed.process_index(), tb.distributed.process_count()) == (process, 2)
    sharded: Any = tb.JaxBackend(mesh=tb.Mesh({"data": 4, "model": 2}), layout=RULES)
    mine = NUMBERS[8 * process : 8 * (process + 1)]

    # Assemble whole tensors from the parts of both processes: of the batch, and of columns that both hold.
    x = tb.distributed.from_parts(mine, names=("batch", "hidden"), backend=sharded)
    assert repr(x.sharding) == "<f32[batch: 16 / data][hidden: 6 / model] on Mesh({'data': 4, 'model': 2})>"
    assert x.tolist() == NUMBERS.tolist()
    assert np.array_equal(np.asarray(x), NUMBERS)
    assert x[9, 4].item() == NUMBERS[9, 4]
    assert x.to_binary(7) == NUMBERS.tobytes()[:28]
    same = tb.asarray(NUMBERS, names=("batch", "hidden"), backend=sharded)
    assert bool(tb.all(same == x))
    columns = tb.distributed.from_parts(NUMBERS, names=(None, "hidden"), backend=sharded)
    assert columns.shape == (16, 6)

    # The display does not communicate, so that one process alone may show a tensor.
    if process == 1:
        lines = repr(x).splitlines()
        assert lines[0] == "f32[batch: 16 / data][hidden: 6 / model] jax, parts of process 1 of 2"
        assert lines[1] == "[8:12, 0:3]"
        assert lines[2] == "[[48.0, 49.0, 50.0],"

    # Eager calls, graphs with constants and with tensors that they close over, gradients, and data-dependent decisions.
    assert tb.sum(x).item() == NUMBERS.sum()
    assert np.allclose(np.asarray(tb.softmax(x / 96, axis="hidden")).sum(axis=1), 1)
    closing = tb.jit(lambda a: a * x + tb.zeros((16, 6), names=("batch", "hidden")) + 1.0)
    assert np.array_equal(np.asarray(closing(x)), NUMBERS * NUMBERS + 1)
    with tb.default_backend(sharded):
        positions = tb.jit(lambda: tb.iota((16, 6), dtype="f32", names=("batch", "hidden")))()
    assert np.array_equal(np.asarray(positions), NUMBERS)
    gradient = tb.jit(tb.grad(lambda a: tb.sum(tb.exp(a / 96))))(x)
    assert np.allclose(np.asarray(gradient), np.exp(NUMBERS / 96) / 96)
    assert str(gradient.sharding) == "f32[batch: 16 / data][hidden: 6 / model]"
    assert x[x > 90].tolist() == [91.0, 92.0, 93.0, 94.0, 95.0]
    drawn = tb.random.uniform(tb.random.key(0, backend=sharded), (16, 6), names=("batch", "hidden"))
    assert np.array_equal(np.asarray(drawn), np.asarray(tb.random.uniform(tb.random.key(0, backend="jax"), (16, 6))))
    with_parts = tb.shard_map(
        lambda a: tb.psum(tb.sum(a), ("data", "model")), mesh=tb.Mesh({"data": 4, "model": 2}), layout=RULES
    )
    assert with_parts(x).item() == NUMBERS.sum()

    # Users' functions get the whole tensor; in compiled code, only the first process calls those without results.
    seen: list[tuple[int, ...]] = []

    def noted(a: tb.Tensor) -> tb.Tensor:
        tb.debug_callback(lambda value: seen.append(value.shape), a)
        added: tb.Tensor = tb.host_call(lambda value: value + 1, a.template, a)
        return added

    assert np.array_equal(np.asarray(noted(x)), NUMBERS + 1)
    assert np.array_equal(np.asarray(tb.jit(noted)(x)), NUMBERS + 1)
    assert seen == [(16, 6)] * (2 if process == 0 else 1)
    compiled = tb.jit(lambda a: tb.gamma_inc_l(a + 1, a))(x)
    assert np.allclose(np.asarray(compiled), np.asarray(tb.gamma_inc_l(NUMBERS + 1, NUMBERS)))

    # Each process writes its own parts and reads the parts it needs, also from what one process wrote.
    of_one = tb.checkpoints.load(f"{folder}-of-one", backend=sharded)["['x']"]
    assert str(of_one.sharding) == str(x.sharding)
    assert np.array_equal(np.asarray(of_one), NUMBERS)
    tb.checkpoints.save(folder, {"x": x, "key": tb.random.key(3, backend=sharded), "host": tb.ones(2)})
    other: Any = tb.JaxBackend(mesh=tb.Mesh({"a": 2, "b": 4}), layout={"hidden": "a", "batch": "b"})
    for backend in (sharded, other):
        restored = tb.checkpoints.load(folder, backend=backend)["['x']"]
        assert np.array_equal(np.asarray(restored), NUMBERS)
        assert restored.sharding.axes == backend.layout.of(restored.template).axes

    # Each process raises the same error, and neither waits for the other.
    with pytest.raises(ShapeError, match="add"):
        x + tb.ones((5,), backend=sharded)


def train(steps: int) -> None:
    """Prints the losses of the transformer, one per line."""
    import io

    sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
    import transformer
    from rich.console import Console

    rules = {"batch": "data", "head": "model", "hidden": "model", "character": "model"}
    sharded: Any = tb.JaxBackend(mesh=tb.Mesh({"data": 4, "model": 2}), layout=rules)
    for loss in transformer.train(sharded, steps, Console(file=io.StringIO()))[1]:
        print(loss)


def main() -> None:
    """Joins the other process, and does what the arguments say."""
    port, process, what = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    heartbeat = 2 if what == ["die"] else 100
    tb.distributed.initialize(f"127.0.0.1:{port}", 2, process, timeout=120, heartbeat=heartbeat)
    if what == ["die"]:
        if process == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        sharded = tb.JaxBackend(mesh=tb.Mesh({"data": 8}), layout={"batch": "data"})
        print(tb.sum(tb.ones((8,), names=("batch",), backend=sharded)).item())
    elif what[0].isdigit():
        train(int(what[0]))
    else:
        check(process, what[0])
        print("checked")
    tb.distributed.shutdown()


if __name__ == "__main__":
    main()
