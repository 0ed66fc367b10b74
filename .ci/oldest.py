"""Prints constraints for pip, each requirement of pyproject.toml at its lower bound: `make oldest`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("cli", "jax", "scipy", "test")


def main() -> None:
    """Prints a line such as `numpy==2.2` for each."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for requirement in [*project["dependencies"], *(each for name in EXTRAS for each in extras[name])]:
        found = re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement)
        if found is None:
            raise SystemExit(f"oldest: expected a requirement such as numpy>=2.2, got {requirement!r}")
        print(f"{found[1]}=={found[2]}")


if __name__ == "__main__":
    main()
