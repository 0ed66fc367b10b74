"""JSON on standard output or in a file, as the option `--json` says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write_json(path: str, value: Any) -> None:
    """Write a value as JSON to a file; to standard output if the path is "-"."""
    text = json.dumps(value, indent=1)
    if path == "-":
        print(text)
    else:
        Path(path).write_text(text, encoding="utf-8")
