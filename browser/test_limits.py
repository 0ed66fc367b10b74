"""Tests of the limits of time: what would wait for good fails, and the next test has a browser."""

from __future__ import annotations

from threading import Event

import pytest
from limits import Chromium, limited


def test_a_page_that_never_answers_is_an_error(chromium: Chromium) -> None:
    window = chromium.new_context().new_page()
    with pytest.raises(TimeoutError, match="took longer than 1 s"), limited(chromium.stop, 1):
        window.evaluate("() => new Promise(() => {})")
    assert window.is_closed()
    context = chromium.new_context()
    assert context.new_page().evaluate("1 + 1") == 2
    context.close()


def test_a_page_that_is_busy_for_good_is_an_error(chromium: Chromium) -> None:
    context = chromium.new_context()
    window = context.new_page()
    with pytest.raises(TimeoutError, match="took longer than 1 s"), limited(chromium.stop, 1):
        window.evaluate("() => { for (;;); }")
    context.close()


def test_work_without_the_browser_that_takes_too_long_is_an_error(chromium: Chromium) -> None:
    chromium.new_context().close()
    stopped = Event()

    def stop() -> None:
        chromium.stop()
        stopped.set()

    with pytest.raises(TimeoutError, match="took longer than"), limited(stop, 0.1):
        assert stopped.wait(30)
    context = chromium.new_context()  # though no call has told Playwright that the browser is gone
    context.close()


def test_an_error_within_the_limit_stays(chromium: Chromium) -> None:
    with pytest.raises(ZeroDivisionError), limited(chromium.stop, 60):
        raise ZeroDivisionError
