"""Ops on two and on four devices. `four_devices.py` holds the tests, which run in a process with virtual devices."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
SECONDS = 900 * max(1, int(os.environ.get("TENSORBACKEND_EXAMPLES", 1)))
"""The process is killed after this many seconds, however loaded the machine is."""


def test_ops_on_a_mesh_give_what_numpy_gives() -> None:
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"
    # With fewer threads than devices, simultaneous collectives may time out in XLA, which ends the process.
    environment = os.environ | {"XLA_FLAGS": flags, "NPROC": "32", "JAX_PLATFORMS": "cpu"}
    environment.pop("PYTEST_XDIST_WORKER", None)
    import_module("jax")  # as some Pythons lack it: conftest.py reads the error
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "four_devices.py"]
    done = subprocess.run(
        command, cwd=HERE, env=environment, timeout=SECONDS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, done.stdout[-8000:]
