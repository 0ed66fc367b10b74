"""Two processes with four virtual devices each, on the loopback address; both run `two_processes.py`."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, BackendError

PROGRAM = Path(__file__).parent / "two_processes.py"
SECONDS = 600
"""Seconds after which processes are killed, as JAX ignores SIGTERM."""


def run(*what: str) -> list[tuple[int, str]]:
    """Run two processes; return the exit status and the output of each."""
    import_module("jax")  # as some Pythons lack it: conftest.py reads the error
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"
    environment = os.environ | {"XLA_FLAGS": flags, "NPROC": "32", "JAX_PLATFORMS": "cpu"}
    processes = [
        subprocess.Popen(
            [sys.executable, str(PROGRAM), port, str(number), *what],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for number in range(2)
    ]
    try:
        outputs = [process.communicate(timeout=SECONDS)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return [(process.returncode, output) for process, output in zip(processes, outputs, strict=True)]


def test_two_processes_compute_together(tmp_path: Path) -> None:
    rows = [[6.0 * row + column for column in range(6)] for row in range(16)]
    tb.checkpoints.save(tmp_path / "run-of-one", {"x": tb.asarray(rows, dtype="f32", names=("batch", "hidden"))})
    outcomes = run(str(tmp_path / "run"))
    for status, output in outcomes:
        assert status == 0, "\n\n".join(output[-4000:] for _, output in outcomes)
        assert "checked" in output.splitlines(), output
    parts = sorted(path.name for path in (tmp_path / "run" / "0").glob("*.safetensors"))
    assert parts == ["part-0-of-2.safetensors", "part-1-of-2.safetensors"]
    restored = tb.checkpoints.load(tmp_path / "run", backend="numpy")
    assert restored["['x']"].tolist() == rows
    assert restored["['x']"].names == ("batch", "hidden")
    assert restored["['host']"].tolist() == [1.0, 1.0]


def test_a_process_that_dies_ends_the_other_with_a_message() -> None:
    (survivor, output), (dead, _) = run("die")
    assert dead == -signal.SIGKILL
    assert survivor != 0
    assert "heartbeat" in output or "Connection" in output or "terminat" in output, output


def test_what_initialize_refuses() -> None:
    with pytest.raises(ArgumentError, match="initialize: expected all of coordinator, processes and process, or none"):
        tb.distributed.initialize("127.0.0.1:1")
    with pytest.raises(ArgumentError, match="initialize: expected process from 0 to 1, got process=2"):
        tb.distributed.initialize("127.0.0.1:1", 2, 2)
    tb.ones(1, backend="jax")
    with pytest.raises(BackendError, match="initialize: expected the processes to find each other"):
        tb.distributed.initialize("127.0.0.1:1", 2, 1, timeout=1)
    with pytest.raises(BackendError, match="from_parts: expected a JaxBackend on a mesh"):
        tb.distributed.from_parts([1.0], names=[None], backend=tb.get_backend("jax"))
