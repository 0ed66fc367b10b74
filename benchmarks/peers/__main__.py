"""Compares tensorbackend with other libraries: `python -m benchmarks.peers FILE` from the repository's root.

Each group runs twice, each time in a new process, and the larger ratio is written, for every peer. FILE gets one
line for the environment, one for each group, and one for each program and peer. If names of groups follow FILE, only
these groups are measured, and the other lines of the file are kept.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from .environment import described, settle, variables, versions
from .groups import groups
from .measuring import Budget, Group, run

RUNS = 2


def main(arguments: list[str]) -> None:
    """Measures all groups, or the named ones, and writes the file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers")
    parser.add_argument("file", type=Path, help="where the lines are written")
    parser.add_argument("groups", nargs="*", help="names of groups; all if none")
    parser.add_argument("--alone", action="store_true", help="measure one group in this process, and print its lines")
    parser.add_argument("--quick", action="store_true", help="a few turns only, to see that all programs run")
    options = parser.parse_args(arguments)
    known = {group.name: group for group in groups()}
    if unknown := sorted({*options.groups} - {*known}):
        parser.error(f"expected names of groups ({'; '.join(known)}), got {'; '.join(unknown)}")
    budget = Budget(rounds=2, turns=1, seconds=1e-4) if options.quick else Budget()
    if options.alone:
        settle()
        for row in run(known[options.groups[0]], budget):
            print(json.dumps(row), flush=True)
        return
    rows: list[dict[str, Any]] = [{"environment": described()}]
    kept = [json.loads(line) for line in options.file.read_text().splitlines()] if options.groups else []
    for group in known.values():
        of_all = {
            "title": group.title,
            "base": group.base,
            "competes": group.competes,
            "programs": dict(group.programs),
        }
        rows.append({"group": group.name, **of_all})
        if options.groups and group.name not in options.groups:
            rows += [row for row in kept if row.get("group") == group.name and "peer" in row]
        else:
            rows += measured(group, [options.file, group.name, "--alone", *(["--quick"] if options.quick else [])])
    options.file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def measured(group: Group, arguments: list[Any]) -> list[dict[str, Any]]:
    """Measures a group in several processes, prints the rows with the worst ratio, and returns them."""
    worst: dict[tuple[str, str], dict[str, Any]] = {}
    for _ in range(RUNS):
        command = [sys.executable, "-m", str(__package__), *map(str, arguments)]
        lines = subprocess.run(
            command, env=variables(group.keras), check=True, stdout=subprocess.PIPE, text=True
        ).stdout
        for row in map(json.loads, filter(lambda line: line.startswith("{"), lines.splitlines())):
            place = row["program"], row["peer"]
            if place not in worst or row.get("ratio", 0) > worst[place].get("ratio", 0):
                worst[place] = row
    print(f"\n{group.title}; ratios to {group.base}")
    for row in worst.values():
        cell = f"{row['ratio']:8.2f} {row['microseconds']:12.2f} us" if "ratio" in row else f"       - {row['reason']}"
        print(f"{row['program']:20} {row['peer']:30} {cell}", flush=True)
    return list(worst.values())


if __name__ == "__main__":
    versions()
    main(sys.argv[1:])
