"""The numbers that decide when what comes again is made quicker: each is read, and each decides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tensorbackend as tb
from tensorbackend.caching.memos import POLICY, Policy
from tensorbackend.dispatch import kinds, watching
from tensorbackend.dispatch.path import FullPath


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    watching.forget()
    yield
    watching.forget()


def path_of(name: str) -> FullPath:
    """The full path of an op."""
    (path,) = (place for place in watching._places if isinstance(place, FullPath) and place.spec.name == name)
    return path


def test_each_number_is_read_somewhere() -> None:
    package = Path(tb.__file__).parent
    read = {name for file in package.rglob("*.py") for name in re.findall(r"POLICY\.(\w+)", file.read_text())}
    assert read == {*Policy._fields}


@pytest.mark.parametrize("shapes", [0, 1, 4])
def test_shapes_before_symbolic(shapes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "POLICY", POLICY._replace(shapes_before_symbolic=shapes))
    for size in range(2, 2 + shapes):
        tb.exp(tb.ones(size))
    assert [len(kind) for kind in path_of("exp").kinds.values()] == [0] * (shapes > 0)
    tb.exp(tb.ones(20))
    assert [len(kind) for kind in path_of("exp").kinds.values()] == [1]


@pytest.mark.parametrize("calls", [1, 3])
def test_calls_before_exact(calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "POLICY", POLICY._replace(calls_before_exact=calls))
    held = []
    for size in (2, 3, 4, *[5] * calls):
        held.append(tb.exp(tb.ones(size)))
    ready = len(path_of("exp").calls)
    assert len(held) == 3 + calls
    tb.exp(tb.ones(5))
    assert len(path_of("exp").calls) == ready + 1


@pytest.mark.parametrize("most", [1, 2])
def test_plans_of_a_kind(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "POLICY", POLICY._replace(plans_of_a_kind=most))
    for size in range(2, 8):
        assert (tb.ones((size, 1)) + tb.ones(size)).shape == (size, size)
    for size in range(2, 8):
        assert (tb.ones((size, size)) + tb.ones(size)).shape == (size, size)
    assert [len(kind) for kind in path_of("add").kinds.values()] == [most]
