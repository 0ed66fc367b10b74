"""The stress script runs for a second or two: threads, interrupts, forked and spawned processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "stress.py"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="systems that fork")
def test_no_round_fails() -> None:
    completed = subprocess.run(
        [sys.executable, str(SCRIPT), "--seconds", "1.5", "--seed", "5"], capture_output=True, text=True, timeout=300
    )
    totals = re.findall(r"(\w+): (\d+) rounds, (\d+) errors", completed.stdout)
    assert [(kind, errors) for kind, _, errors in totals] == [
        (kind, "0") for kind in ("threads", "interrupts", "fork", "spawn")
    ], completed.stdout + completed.stderr
    assert all(int(rounds) for _, rounds, _ in totals)
    assert completed.returncode == 0
