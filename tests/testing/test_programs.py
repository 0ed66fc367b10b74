"""Programs that are drawn: each runs as it is printed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.testing import profile
from tensorbackend.testing.program_source import MOST_ELEMENTS, Scope
from tensorbackend.testing.programs import KINDS, programs


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_runs_as_it_is_printed(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    @profile(5)
    @given(st.data())
    def runs(data: st.DataObject) -> None:
        program = data.draw(programs(kind, tb.float32))
        assert all(x.size <= MOST_ELEMENTS for _, _, x in program.inputs)
        scope: dict[str, Any] = {}
        try:
            exec(program.script(tb.get_backend("numpy"), compiled=False), scope)
        except tb.errors.GradientError:  # some ops have none
            reject()
        finally:
            tb.set_default_backend("numpy")
        assert capsys.readouterr().out

    runs()


@pytest.mark.parametrize("text", ["tb.full((2**40,), 1)", "x @ tb.broadcast_to(x, (2**30, 2, 2))", "tb.pad(x, 2**20)"])
def test_a_line_that_costs_too_much_does_not_run(text: str) -> None:
    scope = Scope(tb.float32, ())
    scope.values["x"] = tb.ones((2, 2))
    with pytest.raises(tb.errors.ArgumentError, match="costs too much"):
        scope.run(text)
    assert scope.run("x + 1").tolist() == [[2, 2], [2, 2]]


def test_an_input_that_is_taken_back_is_in_no_function() -> None:
    """A call that does not fit adds inputs before it fails, also inside a loop."""
    outer = Scope(tb.float32, ())
    inner = Scope(tb.float32, (), outer)
    before = inner.state()
    name = inner.add_input("tb.ones(2)", tb.ones(2))
    assert name in outer.values
    inner.restore(before)
    assert name not in outer.values
    assert name not in inner.values
    assert not outer.inputs
