"""The cost of a graph, computed before it runs: operations, bytes moved, memory over time.

`flops` has a rule for each callback, and the work of a node, `memory` the lifetimes of values, `report` the table
and `chart` the chart; `dry_run` is the public function. Bytes, counts and times as text are here.
"""

from __future__ import annotations

import re
from typing import Final

from ..errors import ArgumentError, expected

_UNITS: Final = {
    **{prefix + "B": 1000**power for power, prefix in enumerate(("", "k", "M", "G", "T", "P", "E"))},
    **{prefix + "iB": 1024**power for power, prefix in enumerate(("K", "M", "G", "T", "P", "E"), 1)},
}
_SIZE = re.compile(r"(\d+(?:\.\d*)?)\s*([A-Za-z]+)")


def parse_bytes(text: str) -> int:
    """A number of bytes with its unit: kB, MB, GB, ... of powers of 1000, KiB, MiB, GiB, ... of powers of 1024.

    >>> parse_bytes("141GB"), parse_bytes("1.5 KiB")
    (141000000000, 1536)
    """
    match = _SIZE.fullmatch(text.strip())
    units = {name.lower(): factor for name, factor in _UNITS.items()}
    if match is None or match[2].lower() not in units:
        raise ArgumentError(expected("a size such as 141GB or 80GiB", size=text))
    return int(float(match[1]) * units[match[2].lower()])


def unit_of(count: float) -> tuple[int, str]:
    """The unit for showing a number of bytes: the number of bytes in the unit, and its name.

    >>> unit_of(2_160_000)
    (1000000, 'MB')
    """
    return max((factor, name) for name, factor in _UNITS.items() if "i" not in name and factor <= max(count, 1))


def show_bytes(count: float) -> str:
    """Bytes in powers of 1000 to about three digits.

    >>> show_bytes(999), show_bytes(1536), show_bytes(141e9)
    ('999 B', '1.54 kB', '141 GB')
    """
    return _scale(count, ("B", "kB", "MB", "GB", "TB", "PB", "EB"), " ")


def show_count(count: float) -> str:
    """A count in powers of 1000 to about three digits; an empty text for 0.

    >>> show_count(0), show_count(12), show_count(12_345), show_count(2.5e15)
    ('', '12', '12.3 k', '2.5 P')
    """
    return _scale(count, ("", "k", "M", "G", "T", "P", "E", "Z"), " ").rstrip() if count else ""


def show_seconds(seconds: float) -> str:
    """A time to three digits.

    >>> show_seconds(0.0123), show_seconds(4.2e-6), show_seconds(75)
    ('12.3 ms', '4.2 µs', '75 s')
    """
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= 0.9995 * factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _scale(count: float, units: tuple[str, ...], space: str) -> str:
    power = 0
    while count >= 999.5 and power < len(units) - 1:
        count /= 1000
        power += 1
    return f"{count:.3g}{space}{units[power]}"
