"""Descriptions of a backend's failures, for people and programs."""

from __future__ import annotations

from pathlib import Path
from traceback import extract_tb
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["value", "template", "payload", "error", "exception", "dry run", "mutation", "alias"]
"""The kind of a failure:

- `value`: an element farther from the reference's than the op's bound;
- `template`: another shape, dtype or names, or another number of results;
- `payload`: a payload that is not what its template says, as `Backend.violation` or its own bytes show;
- `error`: an error of another class or text than the reference's, or an error on one side and a result on the other;
- `exception`: an exception that tensorbackend does not raise on purpose;
- `dry run`: another outcome of the call on templates alone than on data;
- `mutation`: an input that the call changed;
- `alias`: a result that changes after it was returned.
"""


class Disagreement(AssertionError):
    """The failure of a backend on a call."""

    def __init__(self, kind: Kind, detail: str, *, subject: str = "", script: str = "") -> None:
        super().__init__(kind, detail, subject, script)
        self.kind = kind
        self.detail = detail
        """The expected and the actual result."""
        self.subject = subject
        """The op, dtype and backend, such as `exp of float32 on numpy`."""
        self.script = script
        """A program that makes the call again."""

    def __str__(self) -> str:
        head = f"{self.subject}: {self.detail}" if self.subject else self.detail
        return f"{head}\nto see it again:\n{self.script}" if self.script else head


_OURS: Final = str(Path(__file__).parent.parent)


def raised(error: BaseException) -> str:
    """What a backend's code raised, and the function and line of it that tensorbackend called."""
    frames = [frame for frame in extract_tb(error.__traceback__) if not frame.filename.startswith((_OURS, "<"))]
    place = f", in {frames[0].name} at {Path(frames[0].filename).name}:{frames[0].lineno}" if frames else ""
    return f"raises {type(error).__name__}: {error}{place}"
