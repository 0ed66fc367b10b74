"""A first use that is interrupted breaks nothing: the next one works.

`TENSORBACKEND_INTERRUPTS` sets the number of interrupts, half of them at the top of modules.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TRIES = os.environ.get("TENSORBACKEND_INTERRUPTS", "12")
SEED = os.environ.get("TENSORBACKEND_INTERRUPT_SEED", "62")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_next_use_works() -> None:
    script = Path(__file__).with_name("interrupted_imports.py")
    run = subprocess.run([sys.executable, str(script), TRIES, SEED], capture_output=True, text=True)
    assert not run.returncode, run.stderr
    *failures, last = run.stdout.splitlines()
    assert not failures, run.stdout
    assert last == f"{TRIES} tries"
