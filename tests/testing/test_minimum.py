"""The fewest callbacks that a backend needs."""

from __future__ import annotations

import re
from pathlib import Path

from tensorbackend.dtypes import bool_, float32, int64
from tensorbackend.testing.minimum import minimum

PAGE = Path(__file__).parents[2] / "docs" / "write-a-backend.md"


def test_the_page_on_writing_a_backend_lists_them() -> None:
    text = PAGE.read_text()
    listed = text[text.index("Two methods that carry data") : text.index("Most other primitives")]
    real = minimum([bool_, int64, float32])
    assert f"and {len(real)} callbacks are enough" in listed
    _, transport, numbers, complex_numbers = (set(re.findall("`(.+?)`", part)) for part in listed.split("\n- "))
    assert transport == {"from_binary", "to_binary"}
    assert numbers == set(real)
    assert complex_numbers == set(minimum()) - set(real)
