"""Tests when and how often blocks are computed, and which values are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import dask
import dask.array
import numpy
import pytest
import tensorbackend as tb
from dask.callbacks import Callback
from tensorbackend.errors import BackendError, DataError, IndexRangeError, OperandError, ShapeError

from tensorbackend_dask import DaskBackend, compute, progress
from tensorbackend_dask.running import explained

SMALL = DaskBackend(chunks={"time": 4}, keep_bytes=1)
LARGE = DaskBackend(chunks={"time": 4})


@pytest.fixture
def tasks() -> Iterator[Counter[str]]:
    """Counts the tasks that ran by op. A task that is fused into another one counts as the latter only."""
    counted: Counter[str] = Counter()

    def ran(key: Any, *_: Any) -> None:
        counted[str(key[0] if isinstance(key, tuple) else key).rpartition("-")[0]] += 1

    with Callback(pretask=ran):
        yield counted


def numbers(backend: DaskBackend) -> tb.Tensor:
    return tb.iota((10_000, 2), dtype="float32", names=("time", "feature"), backend=DaskBackend(
        chunks={"time": 2500}, keep_bytes=backend.options["keep_bytes"]))  # fmt: skip


def test_nothing_runs_until_it_is_asked_for(tasks: Counter[str]) -> None:
    x = numbers(LARGE)
    y = tb.sum(tb.sqrt(x + 1), axis="time")
    assert y.template == tb.Template((2,), "f32", ("feature",))
    assert repr(y) == "f32[feature: 2] dask (1 blocks, not computed)"
    with pytest.raises(ShapeError, match="add"):
        x + tb.ones(3, backend=x.backend)
    assert not tasks
    first = y.tolist()
    ran = tasks.total()
    assert ran
    assert y.tolist() == first  # small values are kept
    assert tasks.total() == ran
    assert repr(y).startswith("f32[feature: 2] dask [")


def test_display_and_first_elements_need_no_more_than_their_blocks(tasks: Counter[str]) -> None:
    x = numbers(LARGE)
    assert numpy.frombuffer(x.to_binary(3), "float32").tolist() == [0.0, 1.0, 2.0]
    assert tasks.total() <= 3


def test_mean_and_variance_take_one_pass(tasks: Counter[str]) -> None:
    x = numbers(SMALL)
    mean, deviation = tb.mean(x, axis="time"), tb.std(x, axis="time")
    standard = (x - mean) / deviation
    assert tb.max(tb.abs(standard)).item() == pytest.approx(3**0.5, rel=1e-3)
    # `sum` and `var` share each block. Then one fused task per block computes the block again and uses the moments.
    assert [tasks[name] for name in ("counter", "sum", "var", "reduce_max")] == [4, 4, 4, 4], tasks
    array = numpy.arange(20_000, dtype="float64").reshape(-1, 2)
    numpy.testing.assert_allclose(numpy.asarray(mean), array.mean(0), rtol=1e-5)
    numpy.testing.assert_allclose(numpy.asarray(deviation), array.std(0), rtol=1e-4)


def generated(keep: int) -> tuple[tb.Tensor, list[Any]]:
    """Return numbers on a backend that keeps so many bytes, and a list that grows by one entry for each block made."""
    block_ids: list[Any] = []

    def generate(block_id: Any = None) -> Any:
        block_ids.append(block_id)
        return numpy.full((1000, 2), block_id[0], "float32")

    array = dask.array.map_blocks(
        generate, chunks=((1000,) * 4, (2,)), dtype="float32", meta=numpy.empty((0, 0), "float32")
    )
    return tb.asarray(array, names=("time", "feature"), backend=DaskBackend(keep_bytes=keep)), block_ids


@pytest.mark.parametrize(("keep", "times"), [(1, 2), (1 << 30, 1)])
def test_blocks_are_made_again_where_they_are_too_much_to_keep(keep: int, times: int) -> None:
    x, block_ids = generated(keep)
    centred = x - tb.mean(x, axis="time")
    assert tb.max(centred).item() == 1.5
    assert len(block_ids) == 4 * times


def test_several_are_computed_together() -> None:
    x = numbers(LARGE)
    low, high = compute(tb.min(x), tb.max(x))
    assert (low.item(), high.item()) == (0.0, 19_999.0)
    assert compute() == ()
    with pytest.raises(OperandError, match="a tensor on the backend 'dask', got x="):
        compute(tb.ones(2, backend="numpy"))


def test_block_until_ready_keeps_the_blocks() -> None:
    x, block_ids = generated(keep=1)
    x = tb.sqrt(x).block_until_ready()
    assert tb.max(x).item() == pytest.approx(3**0.5)
    assert len(block_ids) == 4  # blocks that are too much to keep would be made again, as above


def test_progress_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with progress():
        tb.sum(numbers(LARGE)).item()
    assert "100%" in capsys.readouterr().out
    tb.sum(numbers(LARGE) + 1).item()
    assert not capsys.readouterr().out


def test_what_only_data_show_is_raised_by_the_call() -> None:
    x = numbers(LARGE)
    with pytest.raises(IndexRangeError, match="got index=10000"):
        tb.take(x, tb.iota(3, backend=x.backend) + 9998, axis="time")
    matrices = tb.zeros((40, 3, 3), names=("time", None, None), backend=LARGE)
    with pytest.raises(DataError, match="positive definite"):
        tb.linalg.cholesky(matrices)


def test_what_a_cluster_raises_is_explained() -> None:
    class KilledWorker(Exception):
        pass

    for error, text in ((KilledWorker("x"), "survive a task"), (MemoryError("y"), "memory for the blocks"),
                        (ConnectionError("z"), "a Dask cluster that answers"),
                        (ValueError("Missing dependency"), "a graph with the inputs of all its tasks")):  # fmt: skip
        with pytest.raises(BackendError, match=text) as caught, explained():
            raise error
        assert caught.value.__cause__ is error
    with pytest.raises(ZeroDivisionError), explained():
        1 / 0  # noqa: B018 # other errors do not change


ROWS = numpy.random.default_rng(0).normal(size=(40, 3))

GRADIENTS = {
    "std": lambda x: tb.std(x),
    "std of columns": lambda x: tb.sum(tb.std(x, axis=0) ** 3),
    "std of rows": lambda x: tb.sum(tb.std(x, axis=1, correction=1.0, keepdims=True) * x),
    "var": lambda x: tb.var(x, axis=0)[1] * tb.var(x),
    "var and std": lambda x: tb.sum(tb.var(x, axis=0) * tb.std(x, axis=0)) + tb.std(x),
    "softmax and std": lambda x: tb.std(tb.softmax(x, axis=0) * x),
    "softmax of standardised": lambda x: tb.sum(tb.softmax((x - tb.mean(x)) / tb.std(x), axis=0) * x),
    "mean": lambda x: tb.mean(x * x) * tb.max(x),
    "logsumexp": lambda x: tb.logsumexp(x) * tb.sum(x, axis=0)[2],
    "norm": lambda x: tb.linalg.vector_norm(x) / tb.prod(tb.min(x, axis=0)),
    "reshaped": lambda x: tb.sum(x * tb.reshape(tb.sum(x * x), (1, 1))),
}


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("compiled", [False, True])
def test_reductions_of_large_tensors_have_gradients(name: str, compiled: bool) -> None:
    """The results of the reductions are computed first, and then broadcast against many blocks of the source."""
    gradient: Any = tb.value_and_grad(GRADIENTS[name])
    gradient = tb.jit(gradient) if compiled else gradient
    backend = DaskBackend(keep_bytes=64)
    x = tb.asarray(dask.array.from_array(ROWS, chunks=(10, 2)), backend=backend)
    value, slope = gradient(x)
    wanted_value, wanted = tb.value_and_grad(GRADIENTS[name])(tb.asarray(ROWS))
    assert slope.data.npartitions > 1
    assert numpy.allclose(numpy.asarray(value), numpy.asarray(wanted_value), rtol=1e-9)
    assert numpy.allclose(numpy.asarray(slope), numpy.asarray(wanted), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("keep", [64, 1 << 28])
def test_a_new_axis_is_broadcast_against_blocks(keep: int) -> None:
    """Dask fuses the layer that makes an axis of one block with one that broadcasts it."""
    column = numpy.arange(40.0)
    x = tb.asarray(dask.array.from_array(column, chunks=10), backend=DaskBackend(keep_bytes=keep))
    assert numpy.allclose(numpy.asarray(x * tb.reshape(tb.sum(x * 2), (1,))), column * 1560)
    assert numpy.allclose(numpy.asarray(x - tb.expand_dims(tb.max(x), 0)), column - 39)
    assert numpy.allclose(numpy.asarray(tb.expand_dims(x, 0) + tb.expand_dims(x, 1)), column[None] + column[:, None])
