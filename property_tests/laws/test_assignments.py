"""More of the random assignments and loops of `property_tests/test_assignment.py`."""

from __future__ import annotations

import pytest

from ..test_assignment import BACKENDS, TRANSFORMS, check_loops, check_values


@pytest.mark.parametrize("backend", BACKENDS)
def test_values_stay_values(backend: str) -> None:
    check_values(backend, 150)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_loops_keep_values(name: str) -> None:
    check_loops(TRANSFORMS[name], 60)
