"""What a distribution of a plugin imports of tensorbackend: only what is public does not change."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import tensorbackend

PUBLIC = ("annotations", "dtypes", "errors", "extending", "protocol", "testing")
"""The modules of tensorbackend that plugins may import."""


def private_imports(paths: Iterable[Path]) -> list[str]:
    """The imports in Python files that reach into tensorbackend, as `file:line: name`.

    Parameters
    ----------
    paths : iterable of Path
        Files, and folders whose files count.

    Returns
    -------
    list of str
        An entry for each module and name that is not public; empty if all are.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tensorbackend.testing import private_imports
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "plugin.py"
    ...     _ = file.write_text("from tensorbackend.rules import shapes")
    ...     private_imports([file])
    ['plugin.py:1: tensorbackend.rules']
    """
    files = [file for path in paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    return [
        f"{file.name}:{line}: {name}"
        for file in files
        for line, name in _find_imports(ast.parse(file.read_text()))
        if not _is_public(name)
    ]


def _find_imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The full names that a file imports, with their lines; a name of the package itself as `tensorbackend:name`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            if node.module == "tensorbackend":
                yield from ((node.lineno, f"tensorbackend:{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module


def _is_public(name: str) -> bool:
    if name.startswith("tensorbackend:"):
        attribute = name.partition(":")[2]
        return not attribute.startswith("_") and hasattr(tensorbackend, attribute)
    package, _, inner = name.partition(".")
    return package != "tensorbackend" or not inner or inner.partition(".")[0] in PUBLIC
