"""Rules of ops that fold elements by a function of the user."""

from __future__ import annotations

from ..errors import ShapeError, expected
from ..template import Template


def check_initial(initial: Template) -> None:
    """Raises `ShapeError` for an initial value with axes."""
    if initial.shape:
        raise ShapeError(expected("an initial value without axes", initial=initial))
