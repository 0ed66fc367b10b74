"""Checks every op with every dtype on one backend, for a report."""

from __future__ import annotations

import os
import re
import signal
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack
from typing import Any, Literal, NamedTuple, TypeAlias

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy

from ..declarations.op_specs import OPS, word
from ..dtypes import ALL_DTYPES, NARROW_DTYPES, DType
from ..errors import UnsupportedOp
from ..protocol import Backend
from ..protocol.core import Core
from ..tensor import Tensor
from .calls import Invocation, calls, dtypes_to_draw
from .conformance import judge
from .divergences import divergences_of
from .failures import Disagreement
from .judging import Judge
from .program_source import Program
from .programs import KINDS, programs
from .source import public, qualified
from .strategies import tensors
from .transport import TRANSPORT, check_transport

Status: TypeAlias = Literal["pass", "divergence", "unsupported", "refused", "fail"]
"""The outcome of the calls of one op and dtype:

- `pass`: all calls are right;
- `divergence`: all calls are right, some of them only by a row of `divergences`, whose reason is reported;
- `unsupported`: the backend raises `UnsupportedOp` for the op or the dtype;
- `refused`: the op does not take the dtype, and the backend raises the same error as the reference;
- `fail`: a call is wrong.
"""
STATUSES: tuple[Status, ...] = ("pass", "divergence", "unsupported", "refused", "fail")


PROGRAMS = "programs"
"""The family of kinds of programs, which are checked as ops are."""


class Pair(NamedTuple):
    """One op with one dtype on a backend, or one kind of programs."""

    op: str
    """The public name with its namespace, such as `linalg.qr`, or one of `KINDS`."""
    family: str
    dtype: str
    status: Status
    examples: int
    """The number of calls that were drawn."""
    ulps: float = 0
    """The largest distance from the reference, in ulps."""
    reasons: tuple[str, ...] = ()
    """Why the pair diverges or is not supported."""
    kind: str = ""
    """The kind of its failure, as in `failures.Kind`."""
    detail: str = ""
    """The expected and the actual result."""
    script: str = ""
    """A program that makes the failing call, the simplest that was found."""
    judged: int = 0
    """The number of calls that the backend could run, up to the first wrong one."""
    seconds: float = 0
    """The processor time until then, so without that in which the wrong call is shrunk."""


def family_of(name: str) -> str:
    """The family of an op; for a public function that is not an op, the family of its module.

    >>> family_of("add"), family_of("softmax"), family_of("concat")
    ('elementwise', 'reduction', 'shape')
    """
    if name == TRANSPORT:
        return word(Core.__module__)
    if name in KINDS:
        return PROGRAMS
    spec = OPS.get(name)
    return spec.family if spec is not None else word(public(name).__module__)


def go_on() -> None:
    """Does nothing, so that a run continues: the default of `proceed`."""


def check_pair(
    backend: Backend, name: str, dtype: DType, *, examples: int, start: int = 0, proceed: Callable[[], None] = go_on
) -> Pair:
    """Draws calls of an op with a dtype, the same ones for the same `start`, and compares each with the reference.

    `proceed` is called before each call and after an error, and may raise to end the run. So a signal's handler should
    not raise itself, as Hypothesis or a callback of the garbage collector may swallow its exception.

    Parameters
    ----------
    backend : Backend
        The backend.
    name : str
        The name of the op.
    dtype : DType
        The dtype.
    examples : int
        The number of drawn calls.
    start : int, default 0
        The seed of the draws.
    proceed : Callable, optional
        Called between the calls.

    Returns
    -------
    Pair
        The outcome of its calls.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> from tensorbackend.dtypes import float32
    >>> check_pair(tb.get_backend("numpy"), "negative", float32, examples=2).status
    'pass'
    """
    ulps = 0.0
    began = _processor_time()
    first_wrong: list[tuple[int, float]] = []
    wrong: list[Disagreement] = []
    drawn: Counter[str] = Counter()
    judge_program = Judge(backend)
    divergences: dict[str, None] = {}
    lacks: dict[str, None] = {}

    @seed(start)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(_strategy(backend, name, dtype))
    def agree(call: Invocation | Tensor | Program) -> None:
        nonlocal ulps
        proceed()
        drawn["all"] += 1
        try:
            if isinstance(call, Tensor):
                check_transport(call, backend)
                drawn["judged"] += 1
                return
            if isinstance(call, Program):
                compared = judge_program(call)
                drawn["judged"] += compared
                drawn["compared" if compared else "refused"] += 1
                return
            verdict = judge(call, backend)
        except UnsupportedOp as error:
            if error.dtype is None or error.dtype is dtype:
                lacks[str(error)] = None
            return
        except Disagreement as disagreement:
            wrong.append(disagreement)
            if not first_wrong:  # Hypothesis shrinks the call after this
                first_wrong.append((drawn["judged"] + 1, _processor_time() - began))
            raise
        drawn["judged"] += 1
        drawn["refused"] += verdict.refused
        ulps = max(ulps, verdict.ulps)
        if verdict.divergence is not None:
            divergences[verdict.divergence.reason] = None

    def pair(status: Status, reasons: Iterable[str] = (), failure: Disagreement | None = None) -> Pair:
        known = name if name == TRANSPORT or name in KINDS else qualified(name)
        judged, seconds = first_wrong[0] if first_wrong else (drawn["judged"], _processor_time() - began)
        judged_pair = Pair(known, family_of(name), dtype.name, status, drawn["all"], ulps, tuple(reasons))
        judged_pair = judged_pair._replace(judged=judged, seconds=round(seconds, 3))
        if failure is None:
            return judged_pair
        return judged_pair._replace(kind=failure.kind, detail=failure.detail, script=failure.script)

    try:
        agree()
    except Unsatisfiable:
        pass
    except Disagreement as failure:
        return pair("fail", failure=failure)
    except Exception as error:  # Hypothesis raises it for a backend that returns another result the second time
        proceed()
        told = Disagreement("exception", f"{type(error).__name__}: {error}")
        if wrong:
            told = Disagreement(wrong[-1].kind, f"{wrong[-1].detail}, but not each time", script=wrong[-1].script)
        return pair("fail", failure=told)
    if lacks and not drawn["compared"]:
        return pair("unsupported", lacks)
    if divergences:
        return pair("divergence", divergences)
    return pair("refused" if drawn["refused"] == drawn["all"] else "pass")


def _processor_time() -> float:
    """The seconds of processor time of this process, and of those that it started and that have ended: compilers."""
    return sum(os.times()[:4])


def _strategy(backend: Backend, name: str, dtype: DType) -> SearchStrategy[Any]:
    """What is drawn for a name."""
    if name in KINDS:
        return programs(name, dtype, divergences_of(backend))
    return tensors(dtype) if name == TRANSPORT else calls(name, dtype)


def check_pairs(
    backend: Backend,
    names: Sequence[str],
    dtypes: Sequence[DType],
    *,
    examples: int,
    start: int = 0,
    jobs: int = 1,
    proceed: Callable[[], None] = go_on,
) -> Generator[Pair, None, None]:
    """Checks each op with each dtype in `jobs` processes, and yields the outcomes as they complete.

    Ops that compute are checked with narrow dtypes only where no other dtype is asked for: they refuse them.

    With one process, `proceed` is called before each call, as in `check_pair`.

    Parameters
    ----------
    backend : Backend
        The backend.
    names : sequence of str
        The names of ops.
    dtypes : sequence of DType
        The dtypes.
    examples : int
        The number of drawn calls.
    start : int, default 0
        The seed of the draws.
    jobs : int, default 1
        The number of processes.
    proceed : Callable, optional
        Called between the calls.

    Returns
    -------
    iterator of Pair
        The outcome of each op with each dtype.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> from tensorbackend.dtypes import float32
    >>> pairs = check_pairs(tb.get_backend("numpy"), ["add", "exp"], [float32], examples=2)
    >>> sorted(pair.op for pair in pairs)
    ['add', 'exp']
    """
    if jobs == 1:
        yield from (
            check_pair(backend, name, dtype, examples=examples, start=start, proceed=proceed)
            for name in names
            for dtype in dtypes_to_draw(name, dtypes)
        )
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import active_children, get_context

    others = active_children()
    # A library with threads of its own does not survive a fork.
    with ExitStack() as stack:
        pool = stack.enter_context(
            ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_leave_interrupts)
        )
        stack.callback(pool.shutdown, cancel_futures=True)
        try:
            for done in as_completed(
                [pool.submit(_check_op, backend, name, dtypes, examples, start) for name in names]
            ):
                yield from done.result()
        except (KeyboardInterrupt, GeneratorExit):  # nobody waits for running calls
            pool.shutdown(wait=False, cancel_futures=True)
            for child in active_children():
                if child not in others:
                    child.terminate()
            raise


def _leave_interrupts() -> None:
    """Ignores interrupts, which a terminal sends to all processes: the parent process handles them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _check_op(backend: Backend, name: str, dtypes: Sequence[DType], examples: int, start: int) -> list[Pair]:
    return [check_pair(backend, name, dtype, examples=examples, start=start) for dtype in dtypes_to_draw(name, dtypes)]


def cause_of(pair: Pair) -> str:
    """What pairs that fail by the same mistake have in common: their text without ops, dtypes, templates and numbers.

    A wrong value has no text that says why, so each of these pairs has a cause of its own.

    >>> one = Pair("add", "elementwise", "float32", "fail", 1, kind="error", detail="raises KeyError: 'f' of add")
    >>> cause_of(one) == cause_of(one._replace(op="exp", dtype="int8", detail="raises KeyError: 'b' of exp"))
    True
    """
    if pair.kind in ("value", "alias"):
        return f"{pair.op} of {pair.dtype}"
    bare_name = pair.op.rpartition(".")[2]
    callback = OPS[bare_name].callback if bare_name in OPS else bare_name
    words = "|".join(map(re.escape, {pair.op, bare_name, callback, *(dtype.name for dtype in _DTYPES)}))
    return f"{pair.kind}: " + re.sub(rf"\b\w+(?:\[[^]]*\])+|'[^']*'|\b(?:{words})\b|\d[\w.+-]*", "_", pair.detail)


_DTYPES = (*ALL_DTYPES, *NARROW_DTYPES)


def totals(pairs: Iterable[Pair]) -> dict[Status, int]:
    """The number of pairs that have each status."""
    counts = Counter(pair.status for pair in pairs)
    return {status: counts[status] for status in STATUSES}


def by_family(pairs: Iterable[Pair]) -> dict[str, list[Pair]]:
    """The pairs of each family, families and ops sorted by name."""
    pairs_by_family: dict[str, list[Pair]] = {}
    for pair in sorted(pairs, key=lambda pair: (pair.family, pair.op)):
        pairs_by_family.setdefault(pair.family, []).append(pair)
    return pairs_by_family
