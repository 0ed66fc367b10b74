"""JAX on a mesh. `eight_devices*.py` hold the tests; a separate process runs them on virtual devices of the host."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SECONDS = 900
"""The process is killed after this many seconds, however loaded the machine is."""


def test_a_mesh_of_eight_devices() -> None:
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
    # With fewer threads than devices, simultaneous collectives may time out in XLA, which ends the process.
    environment = os.environ | {"XLA_FLAGS": flags, "NPROC": "32", "JAX_PLATFORMS": "cpu"}
    environment.pop("PYTEST_XDIST_WORKER", None)
    files = [path.name for path in sorted(HERE.glob("eight_devices*.py"))]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *files]
    done = subprocess.run(
        command, cwd=HERE, env=environment, timeout=SECONDS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, done.stdout[-8000:]
