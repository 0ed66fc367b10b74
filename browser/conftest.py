"""Fixtures for the tests of this folder: a browser, the built site, and a server of the site."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from limits import Chromium, limited
from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

MISSING = """no Chromium on this machine; the browser is not part of the project. Any of these gives one:
  - the package manager of the machine: apt install chromium, dnf install chromium, brew install --cask chromium
  - .venv-docs/bin/playwright install chromium
  - CHROMIUM=<path of a Chromium or Chrome> make browser"""

SITE = Path(__file__).resolve().parents[1] / "site"

SECONDS = 180
"""How long the setup, the call and the teardown of a test may each take, on a machine that has other work, too."""


def executable(default: str) -> str:
    """Return the path of Chromium: from the variable `CHROMIUM`, a command on the machine, or Playwright's own."""
    for name in (os.environ.get("CHROMIUM"), *NAMES, default):
        path = name and shutil.which(name)
        if path:
            return path
    pytest.exit(MISSING, returncode=2)


def pytest_configure(config: pytest.Config) -> None:
    """Looks for Chromium before there are workers, which would stop without saying what is missing."""
    if not hasattr(config, "workerinput"):
        with sync_playwright() as playwright:
            executable(playwright.chromium.executable_path)


def _within_the_limit(item: pytest.Item) -> Generator[None]:
    """A step of a test, after whose limit of time its browser is stopped."""
    browser = item.config.stash.get(BROWSER, None)
    with limited(browser.stop if browser else lambda: None, SECONDS):
        return (yield)


BROWSER = pytest.StashKey[Chromium]()

pytest_runtest_setup = pytest.hookimpl(wrapper=True)(_within_the_limit)
pytest_runtest_call = pytest.hookimpl(wrapper=True)(_within_the_limit)
pytest_runtest_teardown = pytest.hookimpl(wrapper=True)(_within_the_limit)


@pytest.fixture(scope="session")
def chromium(pytestconfig: pytest.Config) -> Iterator[Chromium]:
    """A browser without a visible window."""
    with sync_playwright() as playwright:
        # Chromium refuses to run in its sandbox as root, the usual user in containers.
        arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        path = executable(playwright.chromium.executable_path)
        browser = Chromium(lambda: playwright.chromium.launch(executable_path=path, args=arguments))
        pytestconfig.stash[BROWSER] = browser
        yield browser
        browser.close()


VIEWS = {"desktop": (1280, 900), "phone": (390, 844)}


@pytest.fixture(params=[(view, scheme) for view in VIEWS for scheme in ("light", "dark")], ids="-".join)
def page(request: pytest.FixtureRequest, chromium: Any) -> Iterator[Any]:
    """Windows with the size of a desktop and of a phone, in light and dark colours."""
    view, scheme = request.param
    width, height = VIEWS[view]
    phone = view == "phone"
    context = chromium.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, is_mobile=phone, has_touch=phone
    )
    yield context.new_page()
    context.close()


@pytest.fixture(params=VIEWS)
def window(request: pytest.FixtureRequest, chromium: Any) -> Iterator[Any]:
    """Windows with the size of a desktop and of a phone."""
    width, height = VIEWS[request.param]
    context = chromium.new_context(viewport={"width": width, "height": height})
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site."""
    assert (SITE / "index.html").exists(), "build the site first: make docs"
    return SITE


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        """Prints nothing."""


@pytest.fixture(scope="session")
def server(site: Path) -> Iterator[str]:
    """The address of a local server of the site."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site))) as served:
        Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_port}"
        served.shutdown()
