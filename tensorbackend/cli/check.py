"""Checks a backend: every op with every dtype, in random calls, against the reference.

tensorbackend.testing draws the calls and judges their results. With --onnx, ONNX's own tests are run instead, through
the distribution tensorbackend-onnx: models of one operator and of networks, with published results. With --programs N,
programs of a few lines are drawn in place of single ops: of views, writes, chains of ops, reductions, loops and
gradients. Each runs op by op and compiled, and is shrunk and printed to be pasted if it is wrong. The exit
status is 0 if nothing fails, 1 if something does, and 2 for a backend, op or dtype that does not exist. A run that is
interrupted (SIGINT) or terminated (SIGTERM) prints and writes what it has found so far, and exits with 130 or 143.
Pairs of op and dtype that fail by the same error are one failure. A run ends early where that is all it finds.
"""

from __future__ import annotations

import signal
import threading
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from ..declarations.op_specs import unreached
from ..dtypes import ALL_DTYPES, NARROW_DTYPES, DType, as_dtype, complex64, float8_e4m3fn, float32, int4, int32, uint8
from ..errors import ArgumentError, TensorBackendError, expected
from ..protocol import Backend
from ..select import get_backend
from ._common import PLACE, mistake, onnx_plugin, place, print_table
from ._progress import progress

if TYPE_CHECKING:
    from ..testing.report import Report
    from ..testing.runner import Pair

SHOWN = 5
"""The number of failures that are printed in full; the report holds them all."""

EXAMPLES, QUICK_EXAMPLES = 100, 10
"""The numbers of calls for each op and dtype: of a full run and of a quick one."""

ALIKE = 25
"""The number of failures by one error, at least three in four of all outcomes so far, after which a run ends."""


def arguments(parser: ArgumentParser) -> None:
    """Declares the command's arguments."""
    add = parser.add_argument
    add("name", metavar="NAME", help="the backend: a name, or module:class or file.py:class")
    add("--device", help="the backend's device; its default one unless given")
    add(
        "--op", nargs="+", action="extend", metavar="OP", help="only these ops, such as linalg.qr, or kinds of programs"
    )
    add("--dtype", nargs="+", action="extend", metavar="DTYPE", help="only these dtypes, such as float32 or f32")
    add("--examples", type=int, metavar="N", help=f"calls for each op and dtype (default: {EXAMPLES})")
    quick = f"{QUICK_EXAMPLES} calls of one dtype of each kind, unless others are requested"
    add("--quick", action="store_true", help=quick)
    add("--programs", type=int, metavar="N", help="about N random programs of float32 and int32, or of --dtype")
    add("--seed", type=int, default=0, metavar="S", help="seed of the random calls (default: 0)")
    add("--jobs", type=int, default=1, metavar="N", help="processes (default: 1)")
    add(
        "--keep-going", action="store_true", help=f"goes on where {ALIKE} failures by one error are nearly all there is"
    )
    add("--onnx", action="store_true", help="ONNX's own tests through tensorbackend-onnx instead of random calls")
    add("--report", type=Path, metavar="FILE", help="writes FILE.html for people or FILE.json for programs")


def run(options: Namespace) -> int:
    """Checks, with a progress bar, and prints a table by family, the failures, and the totals."""
    if options.onnx:
        return _run_onnx(options)
    try:
        from ..testing.calls import dtypes_to_draw
        from ..testing.report import Report
        from ..testing.runner import cause_of, check_pairs
    except ModuleNotFoundError as error:
        return mistake("check", error)
    try:
        backend = _backend(options)
        _check_options(options)
        if options.programs is not None:
            ops, dtypes = _kinds(options)
        else:
            if options.examples is None:
                options.examples = QUICK_EXAMPLES if options.quick else EXAMPLES
            ops, dtypes = _ops(options.op), _dtypes(options.dtype, quick=options.quick)
    except TensorBackendError as error:
        return mistake("check", error)
    start = perf_counter()
    pairs: list[Pair] = []
    asked, status = sum(len(dtypes_to_draw(op, dtypes)) for op in ops), None
    try:
        failed = judged = alike = 0
        causes: Counter[str] = Counter()
        with _stop_on_signals() as proceed, progress(asked) as advance:
            found = check_pairs(
                backend, ops, dtypes, examples=options.examples, start=options.seed, jobs=options.jobs, proceed=proceed
            )
            for pair in found:
                pairs.append(pair)
                failed += pair.status == "fail"
                judged += pair.status in ("pass", "divergence", "fail")
                if pair.status == "fail" and not options.keep_going:
                    causes[cause_of(pair)] += 1
                    ((_, alike),) = causes.most_common(1)
                    if alike >= ALIKE and 4 * alike >= 3 * judged:
                        found.close()  # which ends the loop
                # Comes last: from Python 3.13 on no handler covers the end of an iteration that a condition ends.
                advance(f"{pair.op} of {pair.dtype}", f"{failed} failed")
    except _StopSignal as stopped:
        status = 128 + stopped.number
    seconds = perf_counter() - start
    report = Report.of(backend, pairs, asked=asked, examples=options.examples, seed=options.seed, seconds=seconds)
    _print(report)
    for line in (wrong := unreached(type(backend))):
        print(line)
    if status is None and len(pairs) < asked:
        print(f"stopped, as {alike} failures are the same error: mend it first, or add --keep-going")
    if options.report is not None:
        report.write(options.report)
        print(f"wrote {options.report}")
    return status or (1 if report.totals["fail"] or wrong else 0)


def _run_onnx(options: Namespace) -> int:
    """Runs ONNX's tests, and prints a table by kind and the failures."""
    try:
        conformance = onnx_plugin("conformance")
        backend = _backend(options)
    except TensorBackendError as error:
        return mistake("check", error)
    kinds = conformance.kinds_for(backend)
    cases, outcomes, failed = list(conformance.cases(*kinds)), [], 0
    with progress(len(cases)) as advance:
        for case in cases:
            outcomes.append(conformance.run(case, backend))
            failed += outcomes[-1].status == "fail"
            advance(case.name, f"{failed} failed")
    statuses, counts = conformance.STATUSES, conformance.totals(outcomes)
    rows = [[kind, *(str(found[status] or "") for status in statuses)] for kind, found in counts.items()]
    everything = [str(sum(found[status] for found in counts.values())) for status in statuses]
    print_table(["kind", *statuses], [*rows, ["total", *everything]])
    if kinds != conformance.KINDS:
        print(f"only the kinds {', '.join(kinds)}: networks take hours on {backend.name}")
    for outcome in outcomes:
        if outcome.status == "fail":
            print(f"\n{outcome.name}: {outcome.detail}")
    return 1 if failed else 0


def _backend(options: Namespace) -> Backend:
    """The backend that is asked for, of a name or of a class that is not registered."""
    if not PLACE.fullmatch(options.name):
        return get_backend(options.name, device=options.device)
    found = place(options.name)
    if not (isinstance(found, type) and issubclass(found, Backend)):
        raise ArgumentError(expected("a class that derives from tb.Backend", **{options.name: type(found).__name__}))
    return get_backend(found, **({} if options.device is None else {"device": options.device}))


class _StopSignal(KeyboardInterrupt):
    """The process got SIGINT or SIGTERM."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def _stop_on_signals() -> Iterator[Callable[[], None]]:
    """Raises `_StopSignal` on SIGINT and SIGTERM, where signals are handled at all: in the main thread.

    Yields a function that raises it again, for code that may have swallowed it.
    """
    sent: list[int] = []

    def again() -> None:
        if sent:
            raise _StopSignal(sent[0])

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


def _ops(asked: Sequence[str] | None) -> list[str]:
    """The requested ops under the names of `tensorbackend.testing`; all by default."""
    from ..testing.calls import find, names
    from ..testing.transport import TRANSPORT

    if asked is None:
        return [TRANSPORT, *names()]
    return list(dict.fromkeys(name if name == TRANSPORT else find(name) for name in asked))


def _kinds(options: Namespace) -> tuple[Sequence[str], list[DType]]:
    """The requested kinds of programs, by default all, and their dtypes; sets how many programs each pair gets."""
    from ..testing.programs import KINDS

    kinds = list(dict.fromkeys(options.op or KINDS))
    for kind in kinds:
        if kind not in KINDS:
            raise ArgumentError(expected(f"--programs with a kind of programs: {', '.join(KINDS)}", op=kind))

    dtypes = [float32, int32] if options.dtype is None else _dtypes(options.dtype, quick=False)
    wrong = [dtype for dtype in dtypes if dtype.is_narrow or not (dtype.is_floating or dtype.is_integer)]
    if wrong:
        raise ArgumentError(expected("--programs with floating dtypes or integers", "choose another", dtype=wrong[0]))
    options.examples = -(-options.programs // (len(kinds) * len(dtypes)))
    return kinds, dtypes


def _dtypes(asked: Sequence[str] | None, *, quick: bool) -> list[DType]:
    if asked is not None:
        return list(dict.fromkeys(map(as_dtype, asked)))
    return [
        dtype for dtype in (*ALL_DTYPES, *NARROW_DTYPES) if not quick or dtype.kind == "bool" or dtype in _OF_EACH_KIND
    ]


_OF_EACH_KIND = (int32, uint8, float32, complex64, float8_e4m3fn, int4)


def _check_options(options: Namespace) -> None:
    """Raises `ArgumentError` before the work for options that would otherwise fail after it."""
    for name in ("examples", "jobs", "programs"):
        if getattr(options, name) is not None and getattr(options, name) < 1:
            raise ArgumentError(expected(f"--{name} of at least 1", **{name: getattr(options, name)}))
    if options.programs is not None and (options.examples or options.quick):
        raise ArgumentError(expected("--programs without --examples and --quick", "leave them out"))
    path: Path | None = options.report
    if path is not None and (path.suffix not in (".html", ".json") or not path.parent.is_dir()):
        raise ArgumentError(expected("a report named .html or .json in an existing folder", report=str(path)))


def _print(report: Report) -> None:
    from ..testing.runner import STATUSES, by_family, cause_of, totals

    counts = {family: totals(pairs) for family, pairs in by_family(report.pairs).items()}
    rows = [
        [family, *(str(family_counts[status] or "") for status in STATUSES)] for family, family_counts in counts.items()
    ]
    print_table(["family", *STATUSES], [*rows, ["total", *(str(report.totals[status]) for status in STATUSES)]])
    failures: dict[str, list[Pair]] = {}
    for pair in report.pairs:
        if pair.status == "fail":
            failures.setdefault(cause_of(pair), []).append(pair)
    by_number = sorted(failures.values(), key=len, reverse=True)
    for first, *others in by_number[:SHOWN]:
        print(f"\n{first.op} of {first.dtype}: {first.kind}: {first.detail}\n{first.script}")
        if others:
            print(f"the same error in {len(others) + 1} pairs of op and dtype, such as {_some(others)}")
    if len(by_number) > SHOWN:
        print(f"\nand {sum(map(len, by_number[SHOWN:]))} more: --report failures.html shows all")
    print(f"\n{report.summary}")


def _some(pairs: Sequence[Pair]) -> str:
    """The first ops of some pairs, with dtypes.

    Each op has a place of its own where there are several, so that one sees how far an error reaches.
    """
    first = list({pair.op: pair for pair in reversed(pairs)}.values())[::-1]
    return ", ".join(f"{pair.op} of {pair.dtype}" for pair in first[:3])
