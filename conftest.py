"""The setup of all tests: checked payloads, errors with all their frames, fewer garbage collections."""

import gc
import inspect
import os
import re
import signal
from collections.abc import Callable, Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("TENSORBACKEND_CHECK", "1")
os.environ.setdefault("TENSORBACKEND_TRACEBACK", "full")

# Many long-lived objects exist: templates, plans and examples. With Python's default thresholds, the garbage collector
# would take an eighth of the processor time to visit them.
gc.set_threshold(50_000, 20, 50)


OPTIONAL = ("jax", "mpmath", "optax", "rich", "safetensors", "scipy", "shtab", "xarray")
MISSING = [name for name in OPTIONAL if find_spec(name) is None]
"""The libraries of extras that are not installed, as where a new Python has no wheel of them yet. Tests that need them
are left out: files that import them, and tests whose source or parameters name JAX. `make setup` installs all but
xarray, which `make clients` installs."""

_IMPORTS = re.compile(rf"^\s*(?:import|from) (?:{'|'.join(MISSING)})\b", re.MULTILINE)


def pytest_report_header() -> list[str]:
    """Says what is not installed."""
    return [f"not installed, so tests that need it are left out: {name}" for name in MISSING]


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leaves out files that import what is missing."""
    if not MISSING or collection_path.suffix != ".py":
        return None
    return True if _IMPORTS.search(collection_path.read_text("utf-8")) else None


LOOKS = Path(__file__).parent / "browser"
"""Tests of what the site shows: it names JAX, and they do not need it."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips tests that name JAX, where it is missing."""
    for item in items if "jax" in MISSING else ():
        if item.path.is_relative_to(LOOKS):
            continue
        function = getattr(item, "function", None)
        text = item.nodeid if function is None else item.nodeid + inspect.getsource(function)
        if "jax" in text:
            item.add_marker(pytest.mark.skip(reason="needs JAX, which is not installed"))


NO_WHEEL = [name for name in MISSING if name != "xarray"]
"""The libraries that `make setup` installs where they have a wheel: with a usual Python none, so nothing is hidden."""

_ABSENT = re.compile(rf"No module named '({'|'.join(NO_WHEEL)})'")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skips a file that needs what is missing through other files, or that the command names."""
    report = yield
    if NO_WHEEL and report.failed and (found := _ABSENT.search(str(report.longrepr))):
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 0, f"Skipped: needs {found[1]}, which is not installed")
    return report


@pytest.fixture
def few_ready_calls() -> None:
    """Drops the calls that other tests made ready: a watch that begins or ends goes through all of them."""
    from tensorbackend.dispatch import watching

    watching.forget()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Skips a test that first imports what is missing when it runs."""
    try:
        return (yield)
    except Exception as error:  # of any class: a backend's own error may carry that of the import
        causes = [error, *(info[1:2] if (info := getattr(error, "exc_info", None)) else ())]  # of a docstring's example
        text = " ".join(map(str, causes))
        if NO_WHEEL and (found := _ABSENT.search(text)):
            pytest.skip(f"needs {found[1]}, which is not installed")
        raise


def pytest_collection_finish() -> None:
    """Excludes modules and tests, which live until the end, from later garbage collections."""
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Collects what tests left, as its finalizers may warn, and excludes the rest from pytest's own collections."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def nothing_old_to_collect() -> None:
    """Excludes what tests of other files left from garbage collections, each of which would take a second for it."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def whole(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Return a decorator that compiles a function to one program on JAX, for tests on all backends.

    Eagerly, JAX compiles each op for each shape, which takes a tenth of a second.
    """
    import tensorbackend as tb

    return tb.jit if request.node.callspec.params["backend"] == "jax" else lambda function: function


@pytest.fixture
def repeat_until_interrupted() -> Iterator[Callable[[Callable[[], object], float], None]]:
    """Return a function that calls another one again and again, until an interrupt comes after some seconds.

    Python ignores what is raised in a finalizer or in a callback of the garbage collector. So nothing is collected
    meanwhile, and the timer interrupts again after a second.
    """
    if not hasattr(signal, "setitimer"):
        pytest.skip("this system has no timer that interrupts")

    def repeat(function: Callable[[], object], seconds: float) -> None:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
            while True:
                function()
        except KeyboardInterrupt:
            signal.setitimer(signal.ITIMER_REAL, 0)

    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    gc.disable()
    yield repeat
    gc.enable()
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
