"""Progress of long work: a bar on a terminal if rich is installed, otherwise occasional lines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TypeAlias

from ..errors.remedies import install_remedy

PAUSE = 30.0
"""Seconds between the lines that tell the progress of a run that is not on a terminal."""

PATIENCE = 1.0
"""Seconds after which a search of unknown length tells each step."""

Advance: TypeAlias = Callable[[str, str], None]
"""Takes the name of the last step, and a note such as how many have failed."""


@contextmanager
def progress(count: int) -> Iterator[Advance]:
    """Yields a function that shows that one more of `count` pieces of work is done."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        print(f"for a progress bar, {install_remedy('cli')}", file=sys.stderr)
        yield _lines(count)
        return
    console = Console(stderr=True)  # so that a command's output can be piped while it is watched
    if not console.is_terminal:
        yield _lines(count)
        return
    columns = (
        TextColumn("{task.fields[piece]:20.20}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[said]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, transient=True, console=console) as bar:
        task = bar.add_task("", total=count, piece="", said="")

        def advance(piece: str, said: str) -> None:
            bar.update(task, advance=1, piece=piece, said=said)

        yield advance


def steps() -> Callable[[str], None]:
    """A function that tells what a search of unknown length has found, in lines that begin after a second."""
    start = perf_counter()

    def tell(found: str) -> None:
        passed = perf_counter() - start
        if passed >= PATIENCE:
            print(f"{found}, after {duration(passed)}", file=sys.stderr, flush=True)

    return tell


def _lines(count: int) -> Advance:
    """Occasional lines, for the log of an unattended run."""
    done = 0
    start = last = perf_counter()

    def advance(piece: str, said: str) -> None:
        nonlocal done, last
        done += 1
        now = perf_counter()
        if now - last >= PAUSE:
            left = duration((now - start) / done * (count - done))
            print(f"{done} of {count}, {said}, about {left} left, now {piece}", file=sys.stderr, flush=True)
            last = now

    return advance


def duration(seconds: float) -> str:
    """Seconds, minutes or hours, as one number.

    >>> duration(12.3), duration(600), duration(7200)
    ('12 s', '10 min', '2.0 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 100 * 60 else f"{seconds / 3600:.1f} h"
