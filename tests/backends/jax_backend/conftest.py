"""`eight_devices.py` is for the process that `test_mesh.py` starts, which has as many."""

import os

if "device_count=8" not in os.environ.get("XLA_FLAGS", ""):
    collect_ignore = ["eight_devices.py"]
