"""Templates written as text, such as `"f32[batch=32, feature=784]"`."""

from __future__ import annotations

import re

from ..dtypes import as_dtype
from ..errors import DTypeError, ShapeError, expected
from ..template import Template

_TEMPLATE = re.compile(r"(?P<dtype>[a-z]\w*)(?:\[(?P<axes>[^\]]*)\])?")
_MAX_DIGITS = 100
"""More digits than any size has, and fewer than Python refuses to parse."""

_LIKE_A_TEMPLATE = re.compile(r"\s*(?P<dtype>\w+)\s*(?P<axes>[\[(].*)?", re.DOTALL)


def is_template(text: str) -> bool:
    """Whether a text is meant as a template: a dtype, alone or before a bracket, or any word before `[`."""
    match = _LIKE_A_TEMPLATE.fullmatch(text)
    if match is None:
        return False
    try:
        as_dtype(match["dtype"])
    except DTypeError:
        return (match["axes"] or "").startswith("[")
    return True


def parse_template(text: str) -> Template:
    """A template written as text: `"f32[batch=32, feature=784]"`, `"s64[3]"`, `"bool"`.

    Raises `ShapeError` for a text that is not a template, and `DTypeError` for an unknown dtype.

    >>> parse_template("f32[batch=32, 784]")
    f32[batch: 32][784]
    """
    match = _TEMPLATE.fullmatch(text.strip())
    axes = [] if match is None or not match["axes"] else [part.strip() for part in match["axes"].split(",")]
    pairs = [axis.rpartition("=") for axis in axes]
    if match is None or not all(size.strip().isdecimal() and len(size) < _MAX_DIGITS for _, _, size in pairs):
        raise ShapeError(expected("a template such as 'f32[batch=32, 784]'", template=text[:200]))
    names = [name.strip() or None for name, _, _ in pairs]
    return Template([int(size) for _, _, size in pairs], match["dtype"], names)
