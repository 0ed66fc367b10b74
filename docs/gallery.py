"""The pages of the gallery: each program of examples/gallery/ is run, and shown with what its cells print and draw.

`python docs/gallery.py` runs what has changed since it was run last. Outputs are kept in .gallery/ under a hash of the
program and of the package, so a second build of the site runs none. No notebook server is needed: a program is run cell
by cell in a Python of its own.
"""

from __future__ import annotations

import hashlib
import io
import json
import linecache
import os
import re
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from functools import cache
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
PROGRAMS: Final = sorted((ROOT / "examples" / "gallery").glob("*.py"))
KEPT: Final = ROOT / ".gallery"
"""Where outputs are kept; git ignores it."""

ONE_THREAD: Final = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TENSORBACKEND_THREADS"), "1")
"""What a program runs with, as two run at a time: threads of BLAS that wait for each other take most of the time."""


class Cell(NamedTuple):
    """A part of a program: prose in Markdown, or code with what it printed and drew: PNG in base64, and its words."""

    kind: str
    line: int
    text: str
    printed: str = ""
    pictures: tuple[tuple[str, str], ...] = ()


def cells(source: str) -> Iterator[Cell]:
    """The cells of a program, which begin with `# %%` or `# %% [markdown]`, as in Jupytext's percent format.

    >>> [cell[:3] for cell in cells('# %% [markdown]\\n# # Title\\n\\n# %%\\nx = 1\\n')]
    [('markdown', 2, '# Title'), ('code', 5, 'x = 1')]
    """
    ends = [*(match.start() for match in re.finditer(r"^# %%", source, re.MULTILINE)), len(source)]
    for begin, end in pairwise(ends):
        mark, _, text = source[begin:end].partition("\n")
        line = source.count("\n", 0, begin) + 2
        if mark.endswith("[markdown]"):
            yield Cell("markdown", line, re.sub(r"^# ?", "", text.strip(), flags=re.MULTILINE))
        else:
            yield Cell("code", line + len(text) - len(text.lstrip("\n")), text.strip())


def run(program: Path) -> list[Cell]:
    """Run the cells of a program, one after another. An error ends the build."""
    import matplotlib
    from matplotlib import pyplot

    matplotlib.use("agg")
    matplotlib.rcParams.update({"figure.dpi": 110, "savefig.bbox": "tight"})
    linecache.checkcache()
    values: dict[str, Any] = {"__name__": "__main__", "__file__": str(program)}
    done = []
    for cell in cells(program.read_text()):
        if cell.kind == "code":
            with redirect_stdout(io.StringIO()) as printed:
                # The blank lines give each op of a trace its line of the program.
                exec(compile("\n" * (cell.line - 1) + cell.text, str(program), "exec"), values)
            cell = cell._replace(printed=printed.getvalue(), pictures=tuple(map(_picture, pyplot.get_fignums())))
            pyplot.close("all")
        done.append(cell)
    return done


def _picture(number: int) -> tuple[str, str]:
    from matplotlib import pyplot

    drawn, figure = io.BytesIO(), pyplot.figure(number)
    # Without the version of matplotlib in it, so that equal pictures are equal files.
    figure.savefig(drawn, format="png", metadata={"Software": None})
    return b64encode(drawn.getvalue()).decode(), shows(figure)


def shows(figure: Any) -> str:
    """Say what a figure shows, for those who do not see it: the titles of its parts, and the names in their legends."""
    parts = [title] if (title := figure.get_suptitle()) else []
    for axes in figure.axes:
        if title := axes.get_title():
            names = axes.get_legend_handles_labels()[1]
            parts.append(f"{title} ({', '.join(names)})" if names else title)
    if not parts:
        raise ValueError("a figure without a title has nothing to say to readers who do not see it: set_title(...)")
    return re.sub(r"[\[\]\n]+", " ", "; ".join(parts))


def executed(program: Path) -> list[Cell]:
    """The cells of a program with their outputs, from the last run if nothing has changed."""
    place = KEPT / f"{program.stem}-{_key(program)}.json"
    if not place.exists():
        command = [sys.executable, "-W", "error", "-W", "ignore:FigureCanvasAgg", __file__, str(program)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True, env=os.environ | ONE_THREAD)
        if done.returncode:
            raise SystemExit(f"{program.name} has failed: see above")
        KEPT.mkdir(exist_ok=True)
        for old in KEPT.glob(f"{program.stem}-*.json"):
            old.unlink()
        place.write_text(done.stdout)
    return [Cell(*cell) for cell in json.loads(place.read_text())]


def _key(program: Path) -> str:
    """A hash of what decides the outputs of a program."""
    return hashlib.sha256(program.read_bytes() + _package()).hexdigest()[:16]


@cache
def _package() -> bytes:
    sources = [*sorted((ROOT / "tensorbackend").rglob("*.py")), Path(__file__)]
    text = b"".join(path.read_bytes() for path in sources)
    return hashlib.sha256(text + f"{version('numpy')} {version('matplotlib')} {sys.version}".encode()).digest()


def page(program: Path) -> tuple[str, dict[str, bytes]]:
    """The page of a program in Markdown, and its pictures by name."""
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in executed(program):
        parts.append(f"```python\n{cell.text}\n```" if cell.kind == "code" else cell.text)
        if cell.printed:
            parts.append(f"```text\n{cell.printed.rstrip()}\n```")
        for picture, shown in cell.pictures:
            name = f"{program.stem}-{len(pictures) + 1}.png"
            pictures[name] = b64decode(picture)
            parts.append(f"![{shown}]({name})")
    path = program.relative_to(ROOT).as_posix()
    parts.append(f"`python {path}` runs the program, and `TENSORBACKEND_DEFAULT=jax python {path}` runs it on JAX.")
    return "\n\n".join(parts) + "\n", pictures


def files() -> Iterator[tuple[str, Any]]:
    """The path of each page and picture on the site, with its content."""
    for program in PROGRAMS:
        text, pictures = page(program)
        yield f"gallery/{program.stem}.md", text
        for name, content in pictures.items():
            yield f"gallery/{name}", content


def main() -> None:
    """Runs the programs that have changed, two at a time; with the path of a program, prints its cells as JSON."""
    if sys.argv[1:]:
        print(json.dumps(run(Path(sys.argv[1]))))
        print(f"{Path(sys.argv[1]).stem}: {process_time():.1f} s of the processor", file=sys.stderr)
        return
    begin = perf_counter()
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(executed, PROGRAMS):
            pass
    print(f"gallery: {len(PROGRAMS)} programs in {perf_counter() - begin:.1f} s")


if __name__ == "__main__":
    main()
