"""A plugin of pytest: a test that takes longer than two minutes fails, so that a mutant cannot hang."""

from __future__ import annotations

import signal
from collections.abc import Generator
from types import FrameType

import pytest

SECONDS = 120


def _stop(number: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"the test takes longer than {SECONDS} seconds")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Runs the test with an alarm."""
    before = signal.signal(signal.SIGALRM, _stop)
    signal.alarm(SECONDS)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
