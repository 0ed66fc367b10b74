"""Compares the functions that the built site shows with those of the running package: `python docs/shown.py site`.

For each function and method with an entry: the signature's names, types and defaults, and the type and the default in
the list of parameters. tests/project/test_documented_parameters.py compares what docstrings say.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from html import unescape
from importlib import import_module
from inspect import Parameter, getattr_static, signature
from pathlib import Path
from runpy import run_path
from typing import Any, NamedTuple

DOCSTRINGS = run_path(str(Path(__file__).resolve().parents[1] / "tests" / "project" / "test_documented_parameters.py"))
"""How docstrings are read, and when two defaults are the same."""


class Item(NamedTuple):
    """One item of a list of parameters, as texts."""

    name: str
    type: str
    default: str | None


class Entry(NamedTuple):
    """What the site shows of a function: its path, its signature and its list of parameters."""

    path: str
    signature: str
    items: list[Item]


def text(html: str) -> str:
    """The text of a piece of HTML.

    >>> text("<code>a <b>&lt;</b> 1</code>")
    'a < 1'
    """
    return unescape(re.sub(r"<[^>]+>", "", html)).strip()


def shown(page: str) -> Iterator[Entry]:
    """The functions of a page of the reference."""
    parts = re.split(r'<h\d id="(tensorbackend[\w.]*)" class="doc doc-heading">', page)
    for path, part in zip(parts[1::2], parts[2::2], strict=True):
        signatures = re.findall(r'<div class="language-python doc-signature highlight">(.*?)</div>', part, re.DOTALL)
        if signatures and re.match(r"\w+\(", text(signatures[-1])):  # not an attribute; overloads come first
            listed = re.search(r"Parameters:</span></p>\s*<ul>(.*?)\n    </ul>", part, re.DOTALL)
            yield Entry(path, text(signatures[-1]), list(_items(listed[1] if listed else "")))


def _items(html: str) -> Iterator[Item]:
    for item in html.split("<b><code>")[1:]:
        name, _, rest = item.partition("</code></b>")
        head = rest.partition("–")[0]
        kind = re.match(r"\s*\(<code>(.*?)</code>(?=,|\))", head, re.DOTALL)
        default = re.search(r"default:\s*<code>(.*?)</code>", head, re.DOTALL)
        yield Item(text(name).lstrip("*"), text(kind[1]) if kind else "", text(default[1]) if default else None)


def found(path: str) -> Any:
    """The object of an entry, a function for a method; `None` if the package has no such object."""
    names = path.split(".")
    for count in range(len(names) - 1, 0, -1):
        try:
            value: Any = import_module(".".join(names[:count]))
            for name in names[count:]:
                value = getattr_static(value, name) if isinstance(value, type) else getattr(value, name)
        except (AttributeError, ModuleNotFoundError):
            continue  # the name of a module, or of a function that hides one
        return getattr(value, "__func__", value)
    return None


def wrong(entry: Entry, function: Callable[..., Any]) -> Iterator[str]:
    """What an entry says of a function and its signature denies."""
    parameters = signature(function).parameters
    declared = {argument.arg: (kind, default) for argument, kind, default in _declared(entry.signature)}
    if {*declared} - {"self", "cls"} != {*parameters} - {"self", "cls"}:
        yield f"the signature has {[*declared]}, not {[*parameters]}"
        return
    for name, (_, default) in declared.items():
        if name in parameters:
            yield from _differs(name, default, parameters[name], function)
    documented = {item.name: re.sub("(, |^)optional$", "", item.type) for item in DOCSTRINGS["entries"](function)}
    for item in entry.items:
        if item.name not in parameters:
            yield f"{item.name} is no parameter"
            continue
        yield from _differs(item.name, item.default, parameters[item.name], function)
        kind = documented.get(item.name) or declared[item.name][0]
        if _plain(item.type) != _plain(kind):
            yield f"the type of {item.name} is shown as {item.type}, and is {kind}"


def _declared(code: str) -> Iterator[tuple[ast.arg, str, str | None]]:
    """The parameters of a signature's text, each with its type and its default."""
    node = ast.parse(f"def {code}: ...").body[0]
    assert isinstance(node, ast.FunctionDef)
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(positional) - len(arguments.defaults)), *arguments.defaults]
    pairs: list[tuple[ast.arg, ast.expr | None]] = [
        *zip(positional, defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        *((star, None) for star in (arguments.vararg, arguments.kwarg) if star),
    ]
    for argument, default in pairs:
        kind = ast.unparse(argument.annotation) if argument.annotation else ""
        yield argument, kind, None if default is None else ast.unparse(default)


def _differs(name: str, default: str | None, parameter: Parameter, function: Callable[..., Any]) -> Iterator[str]:
    required = parameter.default is Parameter.empty
    if default is None or required:
        if (default is None) != required:
            yield f"{name} is shown as {default or 'required'}, and its default is {parameter.default!r}"
    elif not DOCSTRINGS["same"](DOCSTRINGS["evaluated"](default, function), parameter.default):
        yield f"{name} is shown as {default}, and is {parameter.default!r}"


def _plain(kind: str) -> str:
    return re.sub(r"[\s`'\"]+", "", kind)


def main(folder: Path) -> int:
    """Return 1 if the site shows what is not so, or hardly anything."""
    functions = parameters = 0
    lies: list[str] = []
    for page in sorted((folder / "reference").rglob("*.html")):
        for entry in shown(page.read_text("utf-8")):
            function = found(entry.path)
            if isinstance(function, type):
                continue  # the list of a class has its fields
            if function is None:
                lies.append(f"{entry.path} is nothing that the package has")
                continue
            functions += 1
            parameters += len(entry.items)
            lies += [f"{entry.path}: {lie}" for lie in wrong(entry, function)]
    print(*lies, f"{functions} functions with {parameters} parameters, {len(lies)} shown wrongly", sep="\n")
    return int(bool(lies) or functions < 600)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
