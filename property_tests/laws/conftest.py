"""Collect `four_devices.py` only in the process with four devices that `test_mesh_ops.py` starts."""

import os

if "device_count=4" not in os.environ.get("XLA_FLAGS", ""):
    collect_ignore = ["four_devices.py"]
