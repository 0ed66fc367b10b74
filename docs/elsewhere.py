"""The names that functions have in other libraries, so that the search of the site finds ours by them.

They come from the rows of the pages "coming from", and from the hints of errors.
"""

from __future__ import annotations

import re
from pathlib import Path
from runpy import run_path

from tensorbackend.errors.hints import FUNCTIONS, rows

LIBRARIES = ("numpy", "pytorch", "jax", "xarray")
"""The systems whose rows are read."""

OURS = re.compile(r"(?:\btb\.)?\b((?:(?:fft|linalg|nn|optimize|random)\.)?[a-z_]\w*)\(")
"""A piece of advice that begins with a call of one of our functions, and the function's name."""


def other_names() -> dict[str, list[str]]:
    """Return the names in other libraries of each of our functions.

    Returns
    -------
    dict of str to list of str
        Names such as `np.cumsum`, by names such as `tb.cumulative_sum`.
    """
    names: dict[str, list[str]] = {}

    def enter(ours: str, theirs: str) -> None:
        known = names.setdefault(f"tb.{ours}", [])
        if theirs not in known and theirs != ours:
            known.append(theirs)

    read = run_path(str(Path(__file__).with_name("rows.py")))["read"]
    for system in LIBRARIES:
        for row in read(system).rows:
            theirs = re.match(r"[A-Za-z_]+[\w.]*\w(?=\(|,|$)", row.name)
            # A layer or a loss stands inside of a reduction; a row without code has a remark that names ours.
            ours = re.search(r"\btb\.(nn\.\w+)", row.code) or re.match(r"tb\.([\w.]+)\(", row.code)
            ours = ours if row.code else re.search(r"`tb\.([\w.]+)", row.remark)
            if theirs and ours:
                enter(ours[1], theirs[0])
    for other, text in rows("synonyms", *FUNCTIONS).items():
        for part in re.split(", or | or ", text):
            call = OURS.match(part)
            if call or other in rows("synonyms"):
                enter(call[1] if call else part, other)
    return names
