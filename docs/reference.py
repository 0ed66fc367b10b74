"""The reference of the site, made from docstrings: a hook of MkDocs, which writes none of its pages to docs/.

An object has an entry under its shortest public name, on the page of its family or of its module. mkdocstrings fills in
the entry from the object at run time, because sections of an op's docstring are added when the op is declared.
"""

from __future__ import annotations

import ast
import os
import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from inspect import getdoc, getsourcefile
from pathlib import Path
from runpy import run_path
from types import ModuleType
from typing import Any, Final

import tensorbackend as tb
from tensorbackend.declarations.op_specs import word

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parent

FAMILIES: Final = {
    "tensors": ("Tensors and templates", ("tensor", "template")),
    "creation": ("Making tensors", ("creation",)),
    "dtypes": ("Dtypes, precision and inspection", ("dtypes", "inspection")),
    "elementwise": ("Elementwise functions", ("elementwise", "divisors")),
    "special": ("Special functions", ("special", "incomplete_beta")),
    "reduction": ("Reductions and statistics", ("reduction", "statistics", "counting")),
    "cumulative": ("Functions along an axis", ("cumulative", "samples")),
    "sorting": (
        "Sorting, searching and sets",
        ("sorting", "lexical", "partitions", "searching", "sets", "set_operations"),
    ),
    "shape": ("Shapes and names of axes", ("shape", "alignment", "padding", "editing")),
    "indexing": ("Indexing", ("indexing",)),
    "contraction": ("Products and contractions", ("contraction",)),
    "windows": ("Convolution and windows", ("convolution", "window")),
    "functional": ("Applying functions to elements", ("functional",)),
    "gradients": ("Gradients", ("grad",)),
    "transforms": (
        "Tracing, jit, vmap and trees",
        (
            "trace",
            "jit",
            "vmap",
            "trees",
            "tree_containers",
            "tree_functions",
            "hooks",
            "host",
            "introspection",
            "libraries",
            "saved_graphs",
        ),
    ),
    "control": ("Control flow", ("choice", "control", "while_loops", "along")),
    "quantized": ("Quantised tensors", ("quantized",)),
    "mesh": ("Meshes of devices", ("mesh", "shards", "collectives")),
    "dry_run": ("Dry runs", ("costs",)),
    "profile": (
        "Profiles, debugging, and what is remembered",
        ("profile", "nonfinite", "comparing", "name_scopes", "compilations", "caching"),
    ),
    "backends": (
        "Backends, devices, transfers and threads",
        ("select", "backends", "containers", "expr_backend", "dispatch"),
    ),
}
"""The pages of the functions of `tb`: each title, and the words (`word_of`) of the modules whose functions it lists."""

MODULES: Final = {
    "linalg": "Linear algebra: tb.linalg",
    "fft": "Fourier transforms: tb.fft",
    "random": "Random numbers: tb.random",
    "axis_types": "Annotations with names of axes: tensorbackend.axis_types",
    "nn": "Neural networks: tb.nn",
    "ragged": "Axes with lengths: tb.ragged",
    "sparse": "Sparse matrices: tb.sparse",
    "solvers": "Linear systems, eigenpairs and differential equations: tb.solvers",
    "optimize": "Minima, roots and optimisers: tb.optimize",
    "distributed": "Several processes: tb.distributed",
    "checkpoints": "Checkpoints: tb.checkpoints",
    "files": "Files",
    "errors": "Errors: tensorbackend.errors",
    "protocol": "The backend protocol: tensorbackend.protocol",
    "extending": "Writing backends: tensorbackend.extending",
    "testing": "Testing backends: tensorbackend.testing",
}
"""The public modules, each with the title of its page."""


def exported(module: ModuleType) -> Iterator[str]:
    """The public names of a module: those that it defines, and those that it imports `as` the same name."""
    source = getsourcefile(module)
    assert source is not None
    for node in ast.walk(_without_bodies(ast.parse(Path(source).read_text()))):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            yield node.name
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names if alias.asname == alias.name and alias.name[0] != "_")


def _without_bodies(tree: ast.Module) -> ast.Module:
    """A module with empty functions and classes, so that only the module's own names are found."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            node.body = []
    return tree


def word_of(module: str) -> str:
    """The word in a module's name that decides the page.

    >>> word_of("tensorbackend.ops.composite.shape.arranging"), word_of("tensorbackend.expr.grad.tape")
    ('shape', 'grad')
    """
    parts = module.split(".")
    if parts[1] == "ops":
        return word(module)
    return parts[2] if parts[1] in ("expr", "looped") or parts[2:3] == ["profile"] else parts[1]


def entries() -> dict[str, dict[str, Any]]:
    """The functions and classes of each page, by their public names."""
    page_of = {word: page for page, (_, words) in FAMILIES.items() for word in words}
    page_of.update({name: name for name in MODULES})
    entries_of_page: dict[str, dict[str, Any]] = {page: {} for page in (*FAMILIES, *MODULES)}
    seen = set()
    for name in ("", *MODULES):
        module = import_module(f"tensorbackend.{name}".removesuffix("."))
        for public in sorted(set(exported(module))):
            value = getattr(module, public)
            # `isfunction` would miss functions that cache their results.
            home = getattr(value, "__module__", "")
            if (
                id(value) in seen
                or not callable(value)
                or isinstance(value, tb.DType)
                or not home.startswith("tensorbackend")
            ):
                continue
            seen.add(id(value))
            place = name or page_of[word_of(home)]
            entries_of_page[place][f"{module.__name__}.{public}"] = value
    return entries_of_page


def _identifier(name: str, value: Any) -> str:
    """The name by which Griffe finds an object: that of its definition if a module has the same name, or had it there.

    A package that imports a function from its module of the same name has two objects of that name for Griffe.
    """
    module, _, public = name.rpartition(".")
    package, _, last = value.__module__.rpartition(".")
    shadowed = hasattr(import_module(module), "__path__") and find_spec(name) is not None
    shadowed |= last == public and getattr(import_module(package), public, None) is value
    return f"{value.__module__}.{public}" if shadowed else name


def pages() -> dict[str, str]:
    """The text of each page by its path on the site: one for each family or module, and one for each of its objects."""
    titles = {**{page: title for page, (title, _) in FAMILIES.items()}, **MODULES}
    listed = entries()
    texts = {f"reference/{page}.md": _page(titles[page], objects) for page, objects in listed.items()}
    lines = (f"- [{title}]({page}.md)" for page, title in titles.items())
    objects_of_page = {
        _place(name, page): _object(name, value, page, titles[page])
        for page, objects in listed.items()
        for name, value in objects.items()
    }
    return {"reference/index.md": "\n".join([INTRODUCTION, *lines, ""]), **texts, **objects_of_page}


@cache
def elsewhere() -> dict[str, list[str]]:
    """The names that functions have in other libraries, for the search, by the functions' pages."""
    names = run_path(str(HERE / "elsewhere.py"))["other_names"]()
    return {
        _place(path, page): names[short(path)]
        for page, objects in entries().items()
        for path in objects
        if short(path) in names
    }


WORDS: Final[dict[str, list[str]]] = tomllib.loads((HERE / "search.toml").read_text())
"""Words by which the search finds a page that does not say them, by the page's path on the site."""


def makers() -> dict[str, Callable[[], str]]:
    """What makes each page of tables, by its path on the site."""
    made: dict[str, Callable[[], str]] = run_path(str(HERE / "tables.py"))["ON_THE_SITE"]
    return made


def tables() -> dict[str, str]:
    """The text of each page of tables by its path on the site."""
    return {path: page() for path, page in makers().items()}


INTRODUCTION: Final = """\
# Reference

These pages describe every public function and class, from its docstring. `tb` stands for `import tensorbackend as tb`.
The [table of ops](../ops.md) says which callback of a backend computes an op, how far results of two backends may
differ, and whether the op has a gradient. [Semantics](../semantics.md) says how ops treat special values.
"""


def _page(title: str, listed: dict[str, Any]) -> str:
    rows = [f"| [`{short(name)}`][{_identifier(name, value)}] | {_summary(value)} |" for name, value in listed.items()]
    return "\n".join([f"# {title}", "", "| | |", "| --- | --- |", *rows, ""])


def _place(name: str, page: str) -> str:
    """The path of the page of an object; a class is told from a function of its name where case makes no difference.

    >>> _place("tensorbackend.sum", "reduction"), _place("tensorbackend.sparse.COO", "sparse")
    ('reference/reduction/sum.md', 'reference/sparse/COO-class.md')
    """
    last = name.rpartition(".")[2]
    return f"reference/{page}/{last}{'' if last[0].islower() else '-class'}.md"


def _object(name: str, value: Any, page: str, title: str) -> str:
    hidden = "navigation" if isinstance(value, type) else "navigation, toc"  # a function needs neither
    path = f"[Reference](../index.md) › [{title}](../{page}.md)"
    module, _, last = short(name).rpartition(".")
    shown = "" if module.partition(".")[0] == "tb" else f"```python\nfrom {module} import {last}\n```\n\n"
    return f"---\ntitle: {short(name)}\nhide: [{hidden}]\n---\n\n{path}\n\n{shown}{_block(name, value)}"


def short(name: str) -> str:
    """The name of a public object as users write it.

    >>> short("tensorbackend.linalg.qr"), short("tensorbackend.errors.DataError")
    ('tb.linalg.qr', 'tensorbackend.errors.DataError')
    """
    head, _, rest = name.partition(".")
    within = rest.partition(".")[0]
    return name if within in ("errors", "protocol", "extending", "testing") else f"tb.{rest}" if head else name


def _summary(value: Any) -> str:
    """The first paragraph of a docstring, in one line of a table."""
    return re.sub(r"\s+", " ", (getdoc(value) or "").partition("\n\n")[0]).replace("|", "\\|")


def _block(name: str, value: Any) -> str:
    options = {"heading": short(name), "toc_label": short(name), "heading_level": "1"}
    if value is tb.Backend:
        options["inherited_members"] = "true"  # the callbacks, which the base classes declare
    elif isinstance(value, type) and issubclass(value, tb.Backend):
        options["members"] = "false"  # a backend's members are overrides of callbacks
    lines = "".join(f"      {option}: {chosen}\n" for option, chosen in options.items())
    return f"::: {_identifier(name, value)}\n    options:\n{lines}"


def _page_of(path: Path) -> str:
    """The page of a plugin's file: for the README of a plugin with a page of its name in docs/, that page."""
    page = f"{path.parent.name.removeprefix('tensorbackend-')}.md"
    if path.stem == "README" and (HERE / page).exists():
        return page
    return f"{path.parent.relative_to(ROOT).as_posix()}/{path.stem.lower()}.md"


OUTSIDE: Final = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    **{path.relative_to(ROOT).as_posix(): _page_of(path) for path in sorted(ROOT.glob("plugins/*/*.md"))},
    **{path.relative_to(ROOT).as_posix(): f"examples/{path.stem}.md" for path in sorted(ROOT.glob("examples/*.py"))},
}
"""The files outside docs/ with their pages on the site: pages of their own, or those in docs/ that stand for them."""

GALLERY: Final = {
    path.relative_to(ROOT).as_posix(): f"gallery/{path.stem}.md" for path in sorted(ROOT.glob("examples/gallery/*.py"))
}
"""The programs that have a page with what they print and draw, each with the path of its page."""

PLACES: Final = {**OUTSIDE, **GALLERY}


def outside(path: str) -> str:
    """The text of the page for a file outside docs/."""
    text = (ROOT / path).read_text()
    return text if path.endswith(".md") else f"# {Path(path).name}\n\n```python\n{text}```\n"


def linked(text: str, source: str, page: str) -> str:
    """The text of a page in which links to files, also to and from files outside docs/, lead to pages of the site.

    >>> linked("[a](../examples/gpt3.py)", "docs/dry-run.md", "dry-run.md")
    '[a](examples/gpt3.md)'
    >>> linked("[a](../../docs/ops.md#sum)", "plugins/tensorbackend-torch/README.md", "plugins/torch/readme.md")
    '[a](../../ops.md#sum)'
    """

    def replaced(match: re.Match[str]) -> str:
        target = os.path.normpath(Path(source).parent / match[1])
        inside = PLACES.get(target, target.removeprefix("docs/") if target.startswith("docs/") else None)
        return match[0] if inside is None else f"]({os.path.relpath(inside, Path(page).parent)}{match[2] or ''})"

    return re.sub(r"\]\(([^)#:]+)(#[^)]*)?\)", lambda match: replaced(match) if match[1] else match[0], text)


def on_config(config: Any) -> None:
    """Enters the pages of the reference and of the gallery in the navigation."""
    for entry in config["nav"]:
        if "Reference" in entry:
            entry["Reference"] = [page for page in pages() if page.count("/") == 1]
        if "Gallery" in entry:
            overview, longer = entry["Gallery"]
            entry["Gallery"] = [overview, *_in_order(), longer]


def _in_order() -> list[str]:
    """The pages of the gallery in the order of its table."""
    table = (HERE / "gallery.md").read_text()
    return [GALLERY[path] for path in re.findall(r"\]\(\.\./(examples/gallery/\w+\.py)\)", table)]


def on_files(files: Any, config: Any) -> None:
    """Adds the pages that are not files in docs/."""
    from mkdocs.structure.files import File

    executed = run_path(str(HERE / "gallery.py"))

    for page, text in {**pages(), **tables()}.items():
        files.append(File.generated(config, page, content=text))
    for path, page in OUTSIDE.items():
        if not (HERE / page).exists():
            files.append(File.generated(config, page, content=outside(path)))
    for place, content in executed["files"]():
        files.append(File.generated(config, place, content=content))


WIDTH: Final = 98
"""The characters of a line in columns that have room next to a table of contents, in a window of 1280 pixels."""
FLAGS: Final = re.DOTALL | re.MULTILINE


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Turns links to files into links to pages, and hides a table of contents that is empty or takes columns' room.

    The gallery gets its pictures, the first page the address of the repository, and the search its words.
    """
    uri = page.file.src_uri
    columns = "".join(re.findall(r"^```table\n(.*?)```", markdown, FLAGS)).splitlines()
    wide = max(map(len, columns), default=0) > WIDTH
    if wide or not re.search(r"^(##|:::) ", markdown, re.MULTILINE):
        page.meta.setdefault("hide", []).append("toc")
    page.meta.setdefault("tags", []).extend([*WORDS.get(uri, ()), *elsewhere().get(uri, ())])
    if uri in WORDS:
        page.meta["search"] = {"boost": 4}  # so that many tags of functions do not hide a few words
    source = {place: path for path, place in PLACES.items() if not (HERE / place).exists()}.get(uri, f"docs/{uri}")
    if uri == "gallery.md":
        markdown = with_thumbnails(markdown, {file.src_uri for file in files})
    if uri == "index.md":
        markdown = with_repository(markdown, config["repo_url"])
    return linked(markdown, source, uri)


def with_thumbnails(markdown: str, files: set[str]) -> str:
    """The tables of the gallery with the last picture of each program, its result, above its name.

    >>> with_thumbnails("| [ODE](../examples/gallery/ode.py) |", {"gallery/ode-1.png"})
    '| [![ODE](gallery/ode-1.png){ width=160 loading=lazy }](gallery/ode.md)<br>[ODE](../examples/gallery/ode.py) |'
    """

    def shown(match: re.Match[str]) -> str:
        title, name = match.groups()
        pictures = sorted(file for file in files if re.fullmatch(rf"gallery/{name}-\d\.png", file))
        picture = f"[![{title}]({pictures[-1]}){{ width=160 loading=lazy }}](gallery/{name}.md)<br>" if pictures else ""
        return f"| {picture}{match[0].removeprefix('| ')}"

    return re.sub(r"^\| \[([^\]]*)\]\(\.\./examples/gallery/(\w+)\.py\)", shown, markdown, flags=re.MULTILINE)


def with_repository(markdown: str, address: str) -> str:
    """The first page with a button that leads to the repository, where its address is known.

    >>> with_repository("[Tour](tour.md){ .md-button }\\n\\nText", "https://example.org")
    '[Tour](tour.md){ .md-button }\\n[Repository](https://example.org){ .md-button }\\n\\nText'
    """
    last = "{ .md-button }\n\n"
    button = f"{last.rstrip()}\n[Repository]({address}){last}"
    return markdown.replace(last, button, 1) if address else markdown
