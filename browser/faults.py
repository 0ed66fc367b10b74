"""Finds faults of a page in a browser, and dead links in a folder of pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

LOOK = (Path(__file__).parent / "page.js").read_text(encoding="utf-8")


def faults(page: Any, address: str) -> list[str]:
    """Opens an address and returns the faults of the page, one line for each.

    Parameters
    ----------
    page : playwright.sync_api.Page
        A window of the browser.
    address : str
        The address to open.

    Returns
    -------
    list of str
        Console messages, failed requests, content wider than the window, images without alternative text or with one
        word of it, pictures too small to be read, links and buttons without text, and text with too little contrast.
    """
    messages: list[str] = []

    def told(message: Any) -> None:
        if message.type in ("error", "warning"):
            messages.append(f"console: {message.text}")

    def lost(request: Any) -> None:
        if request.failure != "net::ERR_ABORTED":  # cancelled, as the window went on to another page
            messages.append(f"not loaded: {request.url}")

    def raised(error: Any) -> None:
        messages.append(f"error: {error}")

    listeners = {"console": told, "pageerror": raised, "requestfailed": lost}
    for event, listener in listeners.items():
        page.on(event, listener)
    page.goto(address, wait_until="load")
    messages += page.evaluate(LOOK)
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
    return messages


class _Page(HTMLParser):
    """The anchors of a page, and the addresses that it links to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.addresses: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.anchors |= {attributes.get("id") or "", attributes.get("name") or "" if tag == "a" else ""}
        self.addresses += [attributes[name] or "" for name in ("href", "src") if name in attributes]


def dead_links(root: Path) -> tuple[int, list[str]]:
    """Follows each link of each page below a folder.

    Parameters
    ----------
    root : Path
        The folder of a site.

    Returns
    -------
    count : int
        The number of links.
    dead : list of str
        Links to no file or no anchor of the site, and malformed external addresses.
    """
    root = root.resolve()
    pages = {path: _Page(path) for path in sorted(root.rglob("*.html"))}
    target = cache(partial(_target, root))  # as each page has the links of the menu
    dead = [
        f"{path.relative_to(root)}: {address}"
        for path, page in pages.items()
        for address in page.addresses
        if not _leads_somewhere(address, path, target, pages)
    ]
    return sum(len(page.addresses) for page in pages.values()), dead


def _leads_somewhere(
    address: str, path: Path, target: Callable[[Path, str], Path | None], pages: dict[Path, _Page]
) -> bool:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return _well_formed(address)
    found = target(path.parent, parts.path) if parts.path else path
    if found is None:
        return False
    return not parts.fragment or found not in pages or unquote(parts.fragment) in pages[found].anchors


def _target(root: Path, folder: Path, link: str) -> Path | None:
    """The file that a link of a page in a folder leads to; `None` if there is none."""
    inside = unquote(link)
    found = (root / inside.lstrip("/") if inside.startswith("/") else folder / inside).resolve()
    found = found / "index.html" if found.is_dir() else found
    return found if found.is_file() else None


def _well_formed(address: str) -> bool:
    """Return whether an external address has a valid syntax; no server is contacted."""
    parts = urlsplit(address)
    if parts.scheme in ("data", "mailto"):
        return bool(parts.path)
    host = parts.hostname or ""
    return (
        parts.scheme in ("http", "https") and "." in host and not any(character in address for character in " <>\"'`|")
    )


def site_pages(root: Path) -> Iterator[str]:
    """Yield the paths of the pages, relative to the site's folder, without the error page, which has no fixed path."""
    for path in sorted(root.rglob("*.html")):
        if path.name != "404.html":
            yield path.relative_to(root).as_posix()
