"""Prints constraints for pip that pin each requirement of pyproject.toml to its lower bound: `make oldest`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("cli", "jax", "oracles", "scipy", "test")


def main() -> None:
    """Prints a line such as `numpy==2.2` for each requirement."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for requirement in [*project["dependencies"], *(requirement for name in EXTRAS for requirement in extras[name])]:
        match = re.fullmatch(r"([\w-]+)>=([\d.]+)(,(!=|<)[\d.]+)*(;.*)?", requirement)
        if match is None:
            raise SystemExit(f"oldest: expected a requirement such as numpy>=2.2, got {requirement!r}")
        print(f"{match[1]}=={match[2]}")


if __name__ == "__main__":
    main()
