"""Collect `eight_devices*.py` and their mesh only in the process with eight devices that `test_mesh.py` starts."""

import os

if "device_count=8" not in os.environ.get("XLA_FLAGS", ""):
    collect_ignore_glob = ["eight_devices*.py", "mesh_of_eight.py"]
