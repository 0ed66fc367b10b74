"""A browser that is stopped where it does not answer in time, so that a test that would wait for good fails."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Timer
from typing import Any


class Chromium:
    """A browser without a visible window, which is started where it does not run.

    Parameters
    ----------
    launch : callable
        Starts a browser of Playwright.
    """

    def __init__(self, launch: Callable[[], Any]) -> None:
        self._launch = launch
        self._browser: Any = None
        self._process = 0

    def new_context(self, **settings: Any) -> Any:
        """Return a new context with the given settings, after a start of the browser if it does not run."""
        if not self._process or not self._browser.is_connected():
            self._browser = self._launch()
            told = self._browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")
            (self._process,) = (each["id"] for each in told["processInfo"] if each["type"] == "browser")
        return self._browser.new_context(**settings)

    def stop(self) -> None:
        """Ends the browser's process, from any thread: the call that waits for an answer raises an error."""
        if self._process:
            process, self._process = self._process, 0
            os.kill(process, getattr(signal, "SIGKILL", signal.SIGTERM))

    def close(self) -> None:
        """Closes the browser if it runs."""
        if self._browser is not None:
            self._browser.close()


@contextmanager
def limited(stop: Callable[[], None], seconds: float) -> Iterator[None]:
    """A context in which `stop` is called after some seconds; then it ends with an error.

    Most calls of Playwright have limits of their own. Those that evaluate an expression, or open and close windows, do
    not.
    """
    late = Event()

    def end() -> None:
        late.set()
        stop()

    timer = Timer(seconds, end)
    timer.start()
    error: Exception | None = None
    try:
        yield
    except Exception as raised:  # a call that waits for a browser that was stopped may raise anything
        error = raised
        if not late.is_set():
            raise
    finally:
        timer.cancel()
    if late.is_set():
        raise TimeoutError(f"took longer than {seconds:g} s, so the browser was stopped") from error
