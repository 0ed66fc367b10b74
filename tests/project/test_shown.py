"""The check of the built reference, `docs/shown.py`, finds what is planted in a page."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SHOWN = runpy.run_path(str(Path(__file__).resolve().parents[2] / "docs" / "shown.py"))

PAGE = """
<h2 id="tensorbackend.demo" class="doc doc-heading">demo</h2>
<div class="language-python doc-signature highlight"><pre>{signature}</pre></div>
<p><span class="doc-section-title">Parameters:</span></p>
    <ul>
        <li><b><code>size</code></b> (<code>{kind}</code>, default: <code>{size}</code>) – Text.</li>
        <li><b><code>side</code></b> (<code>{{"left", "right"}}</code>, default: <code>{side}</code>) – Text.</li>
    </ul>
"""

RIGHT = {"signature": 'demo(size: int = 2, *, side: str = "left")', "kind": "int", "size": "2", "side": '"left"'}


def demo(size: int = 2, *, side: str = "left") -> None:
    """Do nothing.

    Parameters
    ----------
    size : int, default 2
        A size.
    side : {"left", "right"}, default "left"
        A side.
    """


def lies(**changed: str) -> list[str]:
    (entry,) = SHOWN["shown"](PAGE.format(**{**RIGHT, **changed}))
    return list(SHOWN["wrong"](entry, demo))


def test_a_right_entry_has_no_lies() -> None:
    assert lies() == []


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"size": "3"}, "size is shown as 3, and is 2"),
        ({"side": '"right"'}, "side is shown as \"right\", and is 'left'"),
        ({"kind": "float"}, "the type of size is shown as float, and is int"),
        ({"signature": 'demo(size: int, *, side: str = "left")'}, "size is shown as required, and its default is 2"),
        ({"signature": 'demo(size: int = 2, *, mode: str = "left")'}, "the signature has ['size', 'mode'], not"),
    ],
)
def test_a_planted_lie_is_found(changed: dict[str, str], found: str) -> None:
    assert any(lie.startswith(found) for lie in lies(**changed))


def test_functions_that_modules_hide_are_found() -> None:
    assert SHOWN["found"]("tensorbackend.select.devices.devices").__name__ == "devices"
    assert SHOWN["found"]("tensorbackend.Tensor.astype").__name__ == "astype"
    assert SHOWN["found"]("tensorbackend.devices.devices") is None
