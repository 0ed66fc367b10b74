"""Standardises more numbers than fit into memory, and summarises them, on workers with little memory.

    python examples/larger_than_memory.py --gigabytes 20

generates float32 numbers block by block, standardises each column, and computes the covariance of the columns and a
histogram of all numbers, on two processes of 1 GB each. Before that, it runs the same program for fewer rows on Dask
and on NumPy, and compares the results. At the end it prints the peak memory of each worker, as the system reports it,
and the peak disk usage.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy
import tensorbackend as tb

from tensorbackend_dask import DaskBackend, compute, progress

COLUMNS = 64


class Summary(NamedTuple):
    """The results of the program."""

    mean: tb.Tensor
    deviation: tb.Tensor
    covariance: tb.Tensor
    counts: tb.Tensor


def table(rows: int) -> tb.Tensor:
    """Returns numbers from 0 to 1 that look random but depend only on the position; the columns are not independent."""
    place = tb.astype(tb.iota((rows, COLUMNS), dtype="uint64", names=("time", "column")), "uint32")
    mixed = place * tb.asarray(2654435761, dtype="uint32")
    mixed = tb.bitwise_xor(mixed, tb.bitwise_right_shift(mixed, 15)) * tb.asarray(2246822519, dtype="uint32")
    return tb.astype(tb.bitwise_right_shift(mixed, 8), "float32") * (1 / (1 << 24))


def summarised(x: tb.Tensor) -> Summary:
    """The program: mean and deviation of the columns, and covariance and histogram of the standardised columns."""
    mean, deviation = tb.mean(x, axis="time"), tb.std(x, axis="time")
    standard = (x - mean) / deviation
    covariance = tb.dot(standard, standard.rename("time", "other"), contract="time") / x.shape[0]
    counts = tb.histogram(standard, bins=20, range=(-2.0, 2.0)).counts
    return Summary(mean, deviation, covariance, counts)


class Watch:
    """Records the peak memory of processes and the peak size of a folder, every 200 ms."""

    def __init__(self, processes: list[int], folder: Path) -> None:
        self.processes, self.folder = processes, folder
        self.memory, self.disk, self.ended = dict.fromkeys(processes, 0), 0, threading.Event()
        threading.Thread(target=self.look, daemon=True).start()

    def look(self) -> None:
        """Records until `ended` is set."""
        while not self.ended.wait(0.2):
            for process in self.processes:
                self.memory[process] = max(self.memory[process], resident(process))
            self.disk = max(self.disk, sum(size(path) for path in self.folder.rglob("*")))


def resident(process: int) -> int:
    """Returns the peak memory of a process so far, or 0 if the system does not report it."""
    try:
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def size(path: Path) -> int:
    """Returns the size of a file in bytes, or 0 if it no longer exists."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0


def compared(backend: DaskBackend, rows: int) -> None:
    """Runs the program for some rows on Dask and on NumPy, and checks that the results agree."""
    with tb.default_backend(backend):
        summary = compute(*summarised(table(rows)))
    with tb.default_backend("numpy"):
        reference = summarised(table(rows))
    for name, one, other in zip(Summary._fields, summary, reference, strict=True):
        if name == "counts":  # a difference in the last digit may move a number to the next interval
            apart = numpy.abs(numpy.asarray(one) - numpy.asarray(other)).sum() / (rows * COLUMNS)
        else:
            apart = numpy.abs(numpy.asarray(one) - numpy.asarray(other)).max()
        print(f"{name:10} of {rows} rows differs from NumPy's by {apart:.2g}")
        assert apart < 1e-4, name


def main() -> None:
    """Runs the program on a cluster on this machine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=1.0, help="of float32 numbers")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="1GB", help="of a worker")
    parser.add_argument("--rows", type=int, default=1 << 16, help="of a block")
    parser.add_argument("--kill", type=float, default=None, help="kill a worker after so many seconds")
    parser.add_argument("--progress", action="store_true")
    options = parser.parse_args()
    from distributed import Client, LocalCluster

    rows = int(options.gigabytes * 1e9 / 4 / COLUMNS)
    backend = DaskBackend(chunks={"time": options.rows})
    with TemporaryDirectory() as folder:
        cluster = LocalCluster(
            n_workers=options.workers, threads_per_worker=1, memory_limit=options.memory, local_directory=folder,
            dashboard_address=":0", host="127.0.0.1",
        )  # fmt: skip
        with cluster, Client(cluster) as client:
            compared(backend, 4 * options.rows + 1000)
            watch = Watch([worker.pid for worker in cluster.workers.values()], Path(folder))
            if options.kill is not None:
                threading.Timer(options.kill, os.kill, (watch.processes[0], 9)).start()
            begun = time.perf_counter()
            with tb.default_backend(backend):
                if options.progress:
                    with progress():
                        summary = compute(*summarised(table(rows)))
                else:
                    summary = compute(*summarised(table(rows)))
            seconds = time.perf_counter() - begun
            watch.ended.set()
            print(f"{rows * COLUMNS * 4 / 1e9:.1f} GB of float32 in {seconds:.0f} s")
            print("maximum memory of workers:", ", ".join(f"{peak / 1e6:.0f} MB" for peak in watch.memory.values()))
            print(f"most on the disk: {watch.disk / 1e6:.1f} MB")
            print("workers at the end:", len(client.scheduler_info()["workers"]))
    counted = int(numpy.asarray(summary[3]).sum())
    print(f"mean {float(summary[0][0]):.6f}, deviation {float(summary[1][0]):.6f}, variance of the standardised "
          f"{float(summary[2][0, 0]):.6f}, counted {counted}")  # fmt: skip
    assert abs(float(summary[0][0]) - 0.5) < 1e-3
    assert abs(float(summary[2][0, 0]) - 1) < 1e-3
    assert 0.999 < counted / (rows * COLUMNS) <= 1


if __name__ == "__main__":
    main()
