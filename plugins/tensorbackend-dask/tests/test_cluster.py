"""Tests workers in separate processes: their results, a killed worker, and a cluster that has ended."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import numpy
import pytest
import tensorbackend as tb
from distributed import Client, LocalCluster
from tensorbackend.errors import BackendError

from tensorbackend_dask import DaskBackend, compute, progress

BACKEND = DaskBackend(chunks={"time": 10_000}, keep_bytes=1 << 20)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("workers")
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="1GB", dashboard_address=":0", host="127.0.0.1",
                     local_directory=folder) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        client.folder = folder
        yield client


@pytest.fixture(autouse=True)
def on_the_cluster(client: Any) -> Iterator[None]:
    with dask.config.set(scheduler=client):
        yield


def table(rows: int) -> tb.Tensor:
    return tb.sqrt(tb.iota((rows, 8), dtype="float32", names=("time", "column"), backend=BACKEND))


def summary(rows: int) -> list[Any]:
    x = table(rows)
    standard = (x - tb.mean(x, axis="time")) / tb.std(x, axis="time")
    covariance = tb.dot(standard, standard.rename("time", "other"), contract="time") / rows
    counts = tb.histogram(standard, bins=8, range=(-2.0, 2.0)).counts
    return [numpy.asarray(tensor) for tensor in compute(covariance, counts)]


def reference_summary(rows: int) -> list[Any]:
    x = numpy.sqrt(numpy.arange(rows * 8, dtype="float64")).reshape(rows, 8)
    standard = (x - x.mean(0)) / x.std(0)
    return [standard.T @ standard / rows, numpy.histogram(standard, bins=8, range=(-2.0, 2.0))[0]]


def agree(statistics: list[Any], expected: list[Any], rows: int) -> None:
    numpy.testing.assert_allclose(statistics[0], expected[0], atol=1e-4)
    assert numpy.abs(statistics[1] - expected[1]).sum() <= 1e-4 * rows * 8


def test_a_program_over_processes(client: Any) -> None:
    agree(summary(200_000), reference_summary(200_000), 200_000)
    assert not [path for path in Path(client.folder).rglob("storage/*") if path.is_file()]  # nothing was spilled


def test_every_kind_of_dtype_travels() -> None:
    for dtype in ("bool", "uint8", "int64", "float16", "bfloat16", "complex64"):
        x = tb.astype(tb.iota(20_000, names=("time",), backend=BACKEND) % 2, dtype)
        assert tb.astype(tb.real(tb.sum(x)) if x.dtype.is_complex else tb.sum(tb.astype(x, "int64")), "int64") == 10_000
        assert tb.flip(x)[:2].tolist() == [1, 0]


def test_what_is_kept_stays_on_the_workers(client: Any) -> None:
    x = table(50_000).block_until_ready()
    assert all(type(node).__name__ == "Future" for node in dict(x.data.dask).values())
    assert tb.max(x).item() == pytest.approx(399_999**0.5)


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    with progress():
        assert tb.sum(table(50_000) * 0 + 1).item() == 400_000
    assert "100%" in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore")
def test_a_killed_worker_changes_nothing(client: Any) -> None:
    rows = 1_000_000
    process = next(iter(client.cluster.workers.values())).pid
    timer = threading.Timer(0.5, os.kill, (process, 9))
    timer.start()
    statistics = summary(rows)
    assert not timer.is_alive()  # the worker was killed during the run
    agree(statistics, reference_summary(rows), rows)


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_has_gone() -> None:
    with (
        LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as other_client,
        dask.config.set(scheduler=other_client),
    ):
        x = table(20_000).block_until_ready()
    with dask.config.set(scheduler="synchronous"), pytest.raises(BackendError, match="a Dask cluster that answers"):
        tb.sum(x).item()
