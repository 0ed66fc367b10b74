"""Programs that are drawn: each runs as it is printed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.testing import profile
from tensorbackend.testing.programs import KINDS, programs


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_runs_as_it_is_printed(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    @profile(5)
    @given(st.data())
    def runs(data: st.DataObject) -> None:
        program = data.draw(programs(kind, tb.float32))
        scope: dict[str, Any] = {}
        try:
            exec(program.script(tb.get_backend("numpy"), compiled=False), scope)
        finally:
            tb.set_default_backend("numpy")
        assert capsys.readouterr().out

    runs()
