"""The progress that long commands show."""

from __future__ import annotations

import pytest

from tensorbackend.cli import _progress
from tensorbackend.cli._progress import progress, steps


def test_a_terminal_shows_a_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress(3) as advance:
        advance("exp of float32", "0 failed")
        advance("sin of float32", "1 failed")
    captured = capsys.readouterr()
    assert "2/3" in captured.err
    assert "1 failed" in captured.err
    assert captured.out == ""


def test_a_log_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    with progress(2) as advance:
        advance("exp", "0 failed")
    assert capsys.readouterr().err == "", "less than half a minute has gone by"
    monkeypatch.setattr(_progress, "PAUSE", 0.0)
    with progress(2) as advance:
        advance("exp", "0 failed")
    assert capsys.readouterr().err == "1 of 2, 0 failed, about 0 s left, now exp\n"


def test_a_search_tells_its_steps_after_a_second(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steps()("size 1 fits")
    assert capsys.readouterr().err == "", "less than a second has gone by"
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    steps()("size 1 fits")
    assert capsys.readouterr().err == "size 1 fits, after 0 s\n"
