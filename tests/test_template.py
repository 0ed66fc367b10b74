"""Interning of templates, and the rules that combine axis names."""

import pickle
import re
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend import Template
from tensorbackend.errors import DTypeError, NamesError, ShapeError, TensorBackendError
from tensorbackend.template import merge_names

from .threads import call_in_threads


def test_equal_templates_are_one_object() -> None:
    template = Template((2, 3), "f32", ("a", None))
    assert template is Template([2, 3], "float32", ["a", None])
    assert pickle.loads(pickle.dumps(template)) is template
    assert template is not Template((2, 3), "f32", ("a", "b"))


def test_threads_intern_one_object() -> None:
    templates = call_in_threads(lambda number: Template((97, 89), "f64", ("t", "u")), *range(8))
    assert len(set(map(id, templates))) == 1


def test_a_template_does_not_change() -> None:
    with pytest.raises(AttributeError, match="templates are immutable"):
        Template((2,), "f32").shape = (3,)


@pytest.mark.parametrize(
    ("names", "shape", "remedy"),
    [
        ("batch feature", (2, 3), "write ('batch', 'feature')"),
        ("batch, feature", (2, 3), "write ('batch', 'feature')"),
        ("ab", (2, 3), "write ('a', 'b')"),
        ("time", (2, 3), "write ('time', 'time2'), or ('time', None)"),
        ((["a", "b"],), (2, 3), "write 'a', 'b'"),
        (({"a": "b"},), (2, 3), "write a='b'"),
    ],
)
def test_names_in_one_argument_are_answered_with_what_to_write(names: Any, shape: tuple[int, ...], remedy: str) -> None:
    with pytest.raises(NamesError, match=re.escape(remedy)):
        Template(shape, "f32", names)


def test_a_string_is_the_name_of_one_axis() -> None:
    x = tb.ones(3)
    made = [
        tb.zeros(3, names="state"),
        tb.asarray([1.0, 2.0, 3.0], names="state"),
        tb.tensor([1.0, 2.0, 3.0], names="state"),
        tb.random.normal(tb.random.key(0), (3,), names="state"),
        tb.arange(3, name="state"),
        tb.reshape(x, (3,), names="state"),
        x.rename("state"),
        tb.template((3,), "f32", "state"),
    ]
    assert [tensor.names for tensor in made] == [("state",)] * len(made)
    with pytest.raises(NamesError, match=r"a sequence of names, one for each axis, got names='state'"):
        tb.sparse.coo([1.0], [0], [1], shape=(2, 2), names="state")
    with pytest.raises(NamesError, match=re.escape("write ('a', 'b')")):
        tb.sparse.eye(2, names="ab")


def test_rename_takes_names_by_position() -> None:
    x = tb.zeros((2, 3), names=("a", "b"))
    together: Any = ["c", "d"]
    with pytest.raises(NamesError, match=r"rename: expected 2 names, .*; write 'c', 'd'"):
        x.rename(together)
    with pytest.raises(NamesError, match=r"write rename\(x, \*names\)"):
        tb.rename(x, names=("c", "d"))  # type: ignore[arg-type] # what the test is about
    assert x.rename("c", "d").names == ("c", "d")
    assert tb.zeros(2, names=("names",)).rename(names="row").names == ("row",)


def test_parts_that_make_no_template() -> None:
    with pytest.raises(ShapeError, match=r"without negative sizes, got shape=\(-1,\)"):
        Template((-1,), "f32")
    with pytest.raises(ShapeError, match="a shape of integers"):
        Template((1.5,), "f32")  # type: ignore[arg-type] # what the test is about
    with pytest.raises(DTypeError):
        Template((1,), "f31")
    with pytest.raises(NamesError, match="2 names, one for each axis"):
        Template((1, 2), "f32", ("a",))
    with pytest.raises(NamesError, match="each name once"):
        Template((1, 2), "f32", ("a", "a"))


@pytest.mark.parametrize(
    ("left", "right", "merged"),
    [
        (("a", "b"), ("b",), ("a", "b")),
        (("a", None), (None, "b"), ("a", "b")),
        ((), ("a",), ("a",)),
        ((None,), ("a", "b"), ("a", "b")),
    ],
)
def test_names_meet_from_the_right(left: tuple[str, ...], right: tuple[str, ...], merged: tuple[str, ...]) -> None:
    a, b = (Template((2,) * len(names), "f32", names) for names in (left, right))
    assert merge_names(a, b) == merge_names(b, a) == merged


def test_names_that_do_not_meet() -> None:
    a, b = Template((2,), "f32", ("a",)), Template((2,), "f32", ("b",))
    with pytest.raises(NamesError, match=r"left=f32\[a: 2\], right=f32\[b: 2\]"):
        merge_names(a, b)
    with pytest.raises(NamesError, match="each name once"):
        merge_names(Template((2, 2), "f32", ("a", None)), a)


@pytest.mark.parametrize(
    ("mistake", "text"),
    [
        (lambda x: x.rename({"point": "other"}), "got names=({'point': 'other'},); write point='other'"),
        (lambda x: tb.stack([x, x], dim="c"), "got dim='c'; write name="),  # type: ignore[call-arg] # the mistake
        (lambda x: tb.stack([x, x], dim=1), "got dim=1; write axis="),  # type: ignore[call-arg] # the mistake
        (
            lambda x: x + x.rename("other"),
            "rename() lets their axes pair by position, aligned(x, y, outer=True) by name",
        ),
    ],
)
def test_names_as_another_library_writes_them_are_answered(mistake: Any, text: str) -> None:
    x = tb.ones((3,), names=("point",))
    with pytest.raises(TensorBackendError, match=re.escape(text)):
        mistake(x)
