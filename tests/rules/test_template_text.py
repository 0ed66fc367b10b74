"""Templates written as text."""

from __future__ import annotations

import pytest

import tensorbackend as tb
from tensorbackend.errors import DTypeError, ShapeError
from tensorbackend.rules.template_text import is_template, parse_template


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("f32[batch=32, 784]", tb.template((32, 784), "f32", ("batch", None)).template),
        (" s64[3] ", tb.template((3,), "s64").template),
        ("bool", tb.template((), "bool").template),
        ("c64[]", tb.template((), "c64").template),
    ],
)
def test_a_text_is_read_as_the_template_that_it_names(text: str, template: object) -> None:
    assert is_template(text)
    assert parse_template(text) is template


def test_other_texts_are_told_from_templates() -> None:
    assert not is_template("reflect")
    assert not is_template("float-ish")
    assert is_template("floot[3]")  # a mistake in a template, not another text
    with pytest.raises(DTypeError, match="floot"):
        parse_template("floot[3]")
    for text in ("f32[batch=]", "f32[-1]", "f32[3", f"f32[{'9' * 200}]"):
        with pytest.raises(ShapeError, match="a template such as"):
            parse_template(text)
