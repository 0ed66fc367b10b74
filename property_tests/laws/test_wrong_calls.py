"""Wrong calls of every public function raise the library's own errors, the same for templates as for data.

Each call is drawn from the function's signature and then spoilt: a value of another kind, too few or too many
arguments, an unknown keyword, or an axis, dtype, name or shape that does not fit. A call that is valid by accident
passes. A wrong number of arguments and an unknown keyword raise Python's own `TypeError`, also in a user's function.

`TENSORBACKEND_CALL_ROUNDS` sets the number of calls on each backend, `TENSORBACKEND_CALL_BACKENDS` the backends. A seed
and a number reproduce each call. The backends get different calls, as each call is compared with its dry run.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import os
import random
import re
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.declarations.argument_errors import check_arguments
from tensorbackend.dispatch.watching import forget
from tensorbackend.errors import (
    ArgumentError,
    DataError,
    DeallocatedError,
    TemplateDataError,
    TensorBackendError,
    UnsupportedOp,
)
from tensorbackend.expr import tree_containers
from tensorbackend.testing import wrong_calls
from tensorbackend.testing.wrong_calls import (
    WRONG,
    Call,
    Subject,
    UnknownObject,
    UserError,
    deep,
    itself,
    nest_mutually,
    only_itself,
    spoilt_call,
    subject_of,
    subjects,
    wrong_call,
)

ROUNDS = int(os.environ.get("TENSORBACKEND_CALL_ROUNDS", "1600"))
SEED = int(os.environ.get("TENSORBACKEND_CALL_SEED", "16"))
BACKENDS = os.environ.get("TENSORBACKEND_CALL_BACKENDS", "numpy,binary").split(",")

SECONDS = 20
"""The seconds after which a call counts as hanging."""

MOST_SECONDS = 2
"""The seconds after which a function, such as a profile of a very slow one, gets no more wrong values."""

PACKAGE = os.path.dirname(tb.__file__)


ON_DATA = {"tb.debug_callback", "tb.host_call"}
"""Functions that call a user's function only where there are data, so that a dry run cannot show what it raises."""

UNNAMED = {"tb.Mesh", *(f"tb.{name}" for name in dir(tb) if name.endswith("Backend"))}
"""Classes whose errors say what they are about without the name of the class."""


# The outcome of a call

DATA = "what only data or a backend shows"


def run(call: Call) -> str:
    """Run a call and return the library's error as text, or an empty text if it succeeds; pass on any other error."""
    try:
        result = call.subject.function(*call.arguments, **call.keywords)
        _use(result, call.operands)
    except TensorBackendError as error:
        if error.operation is None and call.subject.name.startswith("tb.") and call.subject.name not in UNNAMED:
            raise AssertionError(f"the text names no function: {error}") from error
        if isinstance(error, DataError | TemplateDataError | DeallocatedError | UnsupportedOp):
            return DATA
        return re.sub("0x[0-9a-f]+", "0x", f"{type(error).__name__}: {error}")
    except UserError:
        return "UserError"
    except Exception as error:
        if isinstance(error, OSError) and any(parameter.name == "path" for parameter in call.subject.parameters):
            return "OSError"  # from the operating system, about a file that does not exist
        if _refused_by_python(call, error):
            return "TypeError"
        raise
    return ""


def _use(result: Any, operands: Sequence[Any]) -> None:
    """Use a result that is not yet a value: enter a block, advance an iterator, call a function."""
    if isinstance(result, tb.Tensor | tb.Template | tb.Backend | type):
        return
    if hasattr(result, "__enter__"):
        with result:
            pass
    elif isinstance(result, Iterator):
        list(itertools.islice(result, 3))
    elif callable(result) and not isinstance(result, ModuleType | UnknownObject) and _takes(result, operands):
        result(*operands)


def _takes(function: Callable[..., Any], operands: Sequence[Any]) -> bool:
    """Return whether a function accepts that many positional arguments."""
    try:
        inspect.signature(function).bind(*operands)
    except TypeError:
        return False
    return True


NO_INT = re.compile(r"cannot be interpreted as|can be converted|int\(\) argument must be")
"""What `int` says, as a user's function, about a tensor or a base that it does not take."""

COUNTED = re.compile(
    r"\(\) (takes|missing|got) |takes no arguments|takes exactly|expected at most|no signature found|not supported for"
)
"""What Python says about a wrong number of arguments, also to a user's function."""


def _refused_by_python(call: Call, error: Exception) -> bool:
    """Return whether Python itself refused the call: the number or names of arguments, or an operand of an operator."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None and frame.tb_frame.f_code.co_filename == __file__:
        frame = frame.tb_next
    file = "" if frame is None else frame.tb_frame.f_code.co_filename
    if not file.startswith(PACKAGE) or file == wrong_calls.__file__:
        return True
    if str(error).startswith(f"{call.subject.name.rpartition('.')[2]}() takes"):  # raised by a decorator with options
        return True
    values = [*call.arguments, *call.keywords.values(), *call.operands]
    values += [value for several in values if isinstance(several, list) for value in several]
    if isinstance(error, TypeError) and COUNTED.search(str(error)) and any(map(callable, values)):
        return True
    if isinstance(error, TypeError) and int in values and NO_INT.search(str(error)):
        return True
    try:
        inspect.signature(call.subject.function).bind(*call.arguments, **call.keywords)
    except TypeError:
        return True
    except ValueError:  # a builtin without a signature
        return False
    return False


@contextlib.contextmanager
def _watched() -> Iterator[None]:
    """A block that fails if it hangs, and that restores the process's settings afterwards."""

    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    kinds = dict(tree_containers.registered)
    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of the processor, as other programs may keep it busy
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        tb.set_default_backend("numpy")
        tree_containers.registered.clear()
        tree_containers.registered.update(kinds)


def told(number: int, subject: Subject, backend: str) -> str:
    """Describe a call in words."""
    call = wrong_call(random.Random(f"{SEED} {number}"), subject, backend)
    parts = [*map(_shown, call.arguments), *(f"{name}={_shown(value)}" for name, value in call.keywords.items())]
    after = f", then ({', '.join(map(_shown, call.operands))})"
    return f"call {number} of seed {SEED} on {backend}: {subject.name}({', '.join(parts)}){after}"


def _shown(value: Any) -> str:
    try:
        return repr(value)[:200]
    except (Exception, RecursionError):
        return f"<{type(value).__name__}>"


def same(dry: str, eager: str, backend: str) -> bool:
    """Return whether a dry run and an eager run raise one error, apart from what only data or a backend shows."""
    if (dry, eager) == ("", "UserError"):  # raised by a user's hook, which runs only where there are data
        return True
    texts = [re.sub("the devices are .*", "", text.replace("'template'", repr(backend))) for text in (dry, eager)]
    return DATA in (dry, eager) or texts[0] == texts[1]


def outcome(number: int, subject: Subject, backend: str) -> str:
    """Return what a call raises on a backend; fail if the error is not the library's own."""
    with _watched():
        call = wrong_call(random.Random(f"{SEED} {number}"), subject, backend)
        try:
            return run(call)
        except (MemoryError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise AssertionError(f"{told(number, subject, backend)} raises {type(error).__name__}: {error}") from error


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    forget()  # a profile starts and ends with a pass over all kernels, and other tests leave very many


@pytest.mark.parametrize("backend", BACKENDS)
def test_wrong_calls(backend: str) -> None:
    known = list(subjects().values())
    raised, first = 0, BACKENDS.index(backend) * ROUNDS
    for number in range(first, first + ROUNDS):
        subject = known[number % len(known)]
        dry, eager = outcome(number, subject, "template"), outcome(number, subject, backend)
        raised += eager not in ("", DATA)
        if not dry and subject.name in ON_DATA:
            continue
        assert same(dry, eager, backend), f"{told(number, subject, backend)} raises {eager!r}, in a dry run {dry!r}"
    assert raised > ROUNDS // 2  # else too many calls are valid


@pytest.mark.parametrize("part", range(8))
def test_every_parameter_refuses_values_of_every_kind(part: int) -> None:
    """Each parameter of each function gets each of many wrong values once; an eighth of the functions at a time."""
    for subject in [*subjects().values()][part::8]:
        started = time.monotonic()
        for place, number in itertools.product(range(len(subject.parameters)), range(len(WRONG))):
            if subject.parameters[place].annotation != "self" and time.monotonic() - started < MOST_SECONDS:
                call = spoilt_call(random.Random(f"{SEED} {place} {number}"), subject, place, WRONG[number])
                _check(call, f"{subject.name}, {subject.parameters[place].name}={_shown(WRONG[number]())}")


def _check(call: Call, text: str) -> None:
    """Fail if a call raises an error that is not the library's own."""
    with _watched():
        try:
            run(call)
        except (MemoryError, KeyboardInterrupt):
            pass
        except BaseException as error:
            raise AssertionError(f"{text}: {type(error).__name__}: {error}") from error


def planted(x: tb.Tensor, axis: int = 0) -> tb.Tensor:
    """A function with a planted defect: valid arguments can raise an error that is not the library's own."""
    if axis == 1:
        raise ValueError("planted")
    return x


def other_text(x: tb.Tensor, axis: int = 0) -> tb.Tensor:
    """A function with a planted defect: its error has another text for templates."""
    if isinstance(x, tb.Tensor) and axis == 1:
        raise ArgumentError(f"{x.backend.name} refuses")
    return x


@pytest.mark.parametrize("function", [planted, other_text])
def test_a_planted_defect_is_found(function: Callable[..., Any]) -> None:
    subject = subject_of(function.__name__, check_arguments(function))

    def every() -> None:
        for number in range(300):
            dry, eager = outcome(number, subject, "template"), outcome(number, subject, "numpy")
            assert same(dry, eager, "numpy"), "they differ"

    with pytest.raises(AssertionError, match="planted" if function is planted else "they differ"):
        every()


@pytest.mark.parametrize("make", [itself, nest_mutually, only_itself, deep], ids=lambda make: make.__name__)
@pytest.mark.parametrize("call", [
    lambda value: tb.tensor(value), lambda value: tb.zeros(value), lambda value: tb.sum(tb.ones(2), axis=value),
    lambda value: tb.ones(2)[value], lambda value: tb.jit(lambda x: x)(value), lambda value: tb.vmap(value),
    lambda value: tb.tensor([tb.ones(2), value]), lambda value: tb.save("x.npz", value),
])  # fmt: skip
def test_containers_that_hold_themselves(make: Callable[[], Any], call: Callable[[Any], Any]) -> None:
    with _watched(), pytest.raises(TensorBackendError) as caught:
        call(make())
    assert len(str(caught.value)) < 2000
