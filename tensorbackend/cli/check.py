"""Checks a backend: every op with every dtype, by drawn calls, against the reference.

The calls and the judgement are those of tensorbackend.testing. The exit status is 0 where nothing fails, 1 where
something does, and 2 for a backend, op or dtype that is not there. A run that is interrupted or ended prints and writes
what it has found so far, and exits with 130 or 143.
"""

from __future__ import annotations

import signal
import sys
import threading
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from ..dtypes import ALL_DTYPES, DType, as_dtype, complex64, float32, int32, uint8
from ..errors import ArgumentError, TensorBackendError, expected
from ..select import get_backend
from ._table import print_table

if TYPE_CHECKING:
    from ..testing.report import Report
    from ..testing.runner import Pair

SHOWN = 5
"""The number of failures that are printed in full; the report holds them all."""

EXAMPLES, FEW = 100, 10
"""Calls for each op and dtype, and of a quick run."""

PAUSE = 30.0
"""Seconds between lines that say how far a run is which is not watched on a terminal."""


def arguments(parser: ArgumentParser) -> None:
    """Enters what the command takes."""
    add = parser.add_argument
    add("name", metavar="NAME", help="the backend")
    add("--device", help="the backend's device; its default one unless given")
    add("--op", nargs="+", action="extend", metavar="OP", help="only these ops, by public name, such as linalg.qr")
    add("--dtype", nargs="+", action="extend", metavar="DTYPE", help="only these dtypes, such as float32 or f32")
    add("--examples", type=int, metavar="N", help=f"calls for each op and dtype (default: {EXAMPLES})")
    add("--quick", action="store_true", help=f"{FEW} calls of one dtype of each kind, unless others are asked for")
    add("--seed", type=int, default=0, metavar="S", help="draws other calls (default: 0)")
    add("--jobs", type=int, default=1, metavar="N", help="processes (default: 1)")
    add("--report", type=Path, metavar="FILE", help="writes FILE.html for people or FILE.json for programs")


def run(options: Namespace) -> int:
    """Checks, with a progress bar, and prints a table by family, the failures, and the totals."""
    try:
        from ..testing.report import Report
        from ..testing.runner import check_pairs
    except ModuleNotFoundError as error:
        return _mistake(str(error))
    try:
        backend = get_backend(options.name, device=options.device)
        if options.examples is None:
            options.examples = FEW if options.quick else EXAMPLES
        ops, dtypes = _ops(options.op), _dtypes(options.dtype, quick=options.quick)
        _check_options(options)
    except TensorBackendError as error:
        return _mistake(str(error))
    start = perf_counter()
    found: list[Pair] = []
    asked, status = len(ops) * len(dtypes), None
    try:
        with _stopping() as proceed, _progress(asked) as advance:
            for pair in check_pairs(
                backend,
                ops,
                dtypes,
                examples=options.examples,
                start=options.seed,
                jobs=options.jobs,
                proceed=proceed,
            ):
                found.append(pair)
                advance(pair)
    except _Stopped as stopped:
        status = 128 + stopped.number
    seconds = perf_counter() - start
    report = Report.of(backend, found, asked=asked, examples=options.examples, seed=options.seed, seconds=seconds)
    _print(report)
    if options.report is not None:
        report.write(options.report)
        print(f"wrote {options.report}")
    return status or (1 if report.totals["fail"] else 0)


class _Stopped(KeyboardInterrupt):
    """SIGINT or SIGTERM."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def _stopping() -> Iterator[Callable[[], None]]:
    """Raises `_Stopped` on SIGINT and SIGTERM, where signals are handled at all: in the main thread.

    Yields a function that raises it again, for code that may have swallowed it.
    """
    sent: list[int] = []

    def again() -> None:
        if sent:
            raise _Stopped(sent[0])

    def stop(number: int, _: object) -> None:
        sent.append(number)
        again()

    if threading.current_thread() is not threading.main_thread():
        yield again
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield again
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _mistake(text: str) -> int:
    print(f"tensorbackend check: {text}", file=sys.stderr)
    return 2


def _ops(asked: Sequence[str] | None) -> list[str]:
    """The ops asked for as the kit names them, all by default."""
    from ..testing.calls import find, names
    from ..testing.transport import TRANSPORT

    if asked is None:
        return [TRANSPORT, *names()]
    return list(dict.fromkeys(name if name == TRANSPORT else find(name) for name in asked))


def _dtypes(asked: Sequence[str] | None, *, quick: bool) -> list[DType]:
    if asked is not None:
        return list(dict.fromkeys(map(as_dtype, asked)))
    return [dtype for dtype in ALL_DTYPES if not quick or dtype.kind == "bool" or dtype in _OF_EACH_KIND]


_OF_EACH_KIND = (int32, uint8, float32, complex64)


def _check_options(options: Namespace) -> None:
    """Raises `ArgumentError` before the work for what would be found wrong after it."""
    for name in ("examples", "jobs"):
        if getattr(options, name) < 1:
            raise ArgumentError(expected(f"--{name} from 1 up", **{name: getattr(options, name)}))
    path: Path | None = options.report
    if path is not None and (path.suffix not in (".html", ".json") or not path.parent.is_dir()):
        raise ArgumentError(expected("a report named .html or .json in a folder that is there", report=str(path)))


@contextmanager
def _progress(count: int) -> Iterator[Callable[[Pair], None]]:
    """A progress bar on a terminal, where rich is installed; elsewhere a line now and then."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        print("for a progress bar: pip install 'tensorbackend[cli]'", file=sys.stderr)
        yield _lines(count)
        return
    if not Console().is_terminal:
        yield _lines(count)
        return
    columns = (
        TextColumn("{task.fields[op]:20.20}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]} failed"),
        TimeRemainingColumn(),
    )
    failed = 0
    with Progress(*columns, transient=True) as progress:
        task = progress.add_task("", total=count, op="", failed=0)

        def advance(pair: Pair) -> None:
            nonlocal failed
            failed += pair.status == "fail"
            progress.update(task, advance=1, op=pair.op, failed=failed)

        yield advance


def _lines(count: int) -> Callable[[Pair], None]:
    """A line now and then, for the log of a run that nobody watches."""
    done = failed = 0
    start = last = perf_counter()

    def advance(pair: Pair) -> None:
        nonlocal done, failed, last
        done, failed = done + 1, failed + (pair.status == "fail")
        now = perf_counter()
        if now - last >= PAUSE:
            left = _duration((now - start) / done * (count - done))
            text = f"{done} of {count}, {failed} failed, about {left} left, now {pair.op} of {pair.dtype}"
            print(text, file=sys.stderr, flush=True)
            last = now

    return advance


def _duration(seconds: float) -> str:
    """Seconds, minutes or hours, as one number."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 100 * 60 else f"{seconds / 3600:.1f} h"


def _print(report: Report) -> None:
    from ..testing.runner import STATUSES, by_family, totals

    counts = {family: totals(pairs) for family, pairs in by_family(report.pairs).items()}
    rows = [[family, *(str(each[status] or "") for status in STATUSES)] for family, each in counts.items()]
    print_table(["family", *STATUSES], [*rows, ["total", *(str(report.totals[status]) for status in STATUSES)]])
    failures = [pair for pair in report.pairs if pair.status == "fail"]
    for pair in failures[:SHOWN]:
        print(f"\n{pair.op} of {pair.dtype}: {pair.kind}: {pair.detail}\n{pair.script}")
    if len(failures) > SHOWN:
        print(f"\nand {len(failures) - SHOWN} more: --report failures.html shows all")
    print(f"\n{report.summary}")
