"""Each program of the gallery is listed, says what is learned, and has a test. `make gallery` runs them."""

import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted((ROOT / "examples" / "gallery").glob("*.py"))
LISTED = re.findall(r"\]\(\.\./(examples/gallery/\w+\.py)\)", (ROOT / "docs" / "gallery.md").read_text())
PAGES = runpy.run_path(str(ROOT / "docs" / "gallery.py"))
CELLS = PAGES["cells"]


def test_each_program_is_listed_once() -> None:
    assert sorted(LISTED) == [path.relative_to(ROOT).as_posix() for path in PROGRAMS]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_says_what_is_learned(program: Path) -> None:
    first, *rest = CELLS(program.read_text())
    assert first.kind == "markdown"
    assert first.text.startswith("# ")
    assert "What is learned here:" in first.text
    assert [cell.line for cell in rest if cell.kind == "code" and not cell.text] == [], "empty cells"
    assert (ROOT / "examples" / "test_gallery" / f"test_{program.stem}.py").exists()


def drawn(title: str, *names: str) -> SimpleNamespace:
    """Return a part of a figure."""
    return SimpleNamespace(get_title=lambda: title, get_legend_handles_labels=lambda: ([], [*names]))


def test_a_picture_says_what_it_shows() -> None:
    def shown(title: str, *axes: SimpleNamespace) -> str:
        told: str = PAGES["shows"](SimpleNamespace(get_suptitle=lambda: title, axes=axes))
        return told

    assert (
        shown("", drawn("loss", "float32", "bfloat16"), drawn("peaks"), drawn("")) == "loss (float32, bfloat16); peaks"
    )
    assert shown("digits", drawn("")) == "digits"
    with pytest.raises(ValueError, match="without a title"):
        shown("", drawn(""))
