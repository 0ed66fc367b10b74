"""What people type who come from NumPy, SciPy, JAX, PyTorch, xarray and Nx, and what to write here instead.

The rows are in `hints.toml`: the name, and what to write, in sections by where the name is looked for. The file is
parsed when the first error asks. At import only the names that tensors lack are read: a class has them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

NAMESPACES: Final = ("linalg", "fft", "nn", "optimize", "random", "solvers", "sparse", "ragged", "checkpoints")
"""The namespaces that have a section of their own."""
FUNCTIONS: Final = ("recipes", "package")
"""The sections of functions that are looked for in `tb`, or among the attributes of a tensor."""

_FILE: Final = os.path.join(os.path.dirname(__file__), "hints.toml")
_OF_TENSORS: Final = {"[synonyms]", "[recipes]", "[package]", "[tensor]"}
"""The headings of the sections whose names are attributes that a tensor lacks. The file begins with them."""


@cache
def rows(*sections: str) -> Mapping[str, str]:
    """The hints of sections such as `"linalg"`, by name: what to write, by what was written. A section may be missing.

    >>> rows("linalg")["pinverse"], rows("keywords.of_functions")["sum.weights"]
    ('tb.linalg.pinv(x)', 'write tb.dot(x, weights, contract=...)')
    """
    return {name: text for section in sections for name, text in _sections().get(section, {}).items()}


@cache
def _sections() -> dict[str, dict[str, str]]:
    import tomllib  # only errors need it

    with open(_FILE, "rb") as file:
        table = tomllib.load(file)
    sections: dict[str, dict[str, str]] = {}
    for section, name, text in _flat(table):
        sections.setdefault(section, {})[name] = text
    return sections


def _flat(table: Mapping[str, Any], section: str = "") -> Iterator[tuple[str, str, str]]:
    """The section, the name and the text of each row; a key may hold several names."""
    for key, value in table.items():
        for name in key.split(", "):
            if isinstance(value, dict):
                yield from _flat(value, f"{section}.{name}".lstrip("."))
            else:
                yield section, name, value


def lacking() -> list[str]:
    """Return the names that people look for among the attributes of a tensor.

    Returns
    -------
    list of str
        The keys of the first sections, read line by line: to parse the file takes some 30 times as long.

    Examples
    --------
    >>> {"cumsum", "fillna", "requires_grad"} <= {*lacking()}
    True
    """
    names: list[str] = []
    with open(_FILE, encoding="utf-8") as file:
        for line in file:
            key, _, text = line.partition(" = ")
            if text:
                names += key.strip('"').split(", ")
            elif line[0] == "[" and line.split()[0] not in _OF_TENSORS:
                break
    return names


def advice(name: str, space: str = "") -> str | None:
    """What to write instead of a name of another library, as code or words with code; `None` if there is no equivalent.

    `space` is where it was looked for, such as `"linalg"` or `"Tensor"`; by default the package itself.

    >>> advice("cumsum"), advice("ravel"), advice("randn", "random"), advice("numpy", "Tensor")
    ('tb.cumulative_sum', 'tb.reshape(x, -1)', 'tb.random.normal(key, shape)', 'numpy.asarray(x)')
    >>> advice("fillna"), advice("randperm")  # a method elsewhere, and what has a namespace here
    ('tb.where(tb.isnan(x), value, x)', 'tb.random.permutation(key, n)')
    """
    own = rows("tensor") if space == "Tensor" else rows(space) if space in NAMESPACES else {}
    alike = name if name in own or space == "Tensor" else find_alike(name, own)
    if alike in own:
        return own[alike]
    if name in rows("synonyms"):
        return f"tb.{rows('synonyms')[name]}{'(x, ...)' if space == 'Tensor' else ''}"
    functions = rows(*FUNCTIONS)
    if name in functions or space:
        return functions.get(name) or (None if space == "Tensor" else _on_host(name, space))
    held = next((rows(held)[name] for held in ("tensor", *NAMESPACES) if name in rows(held)), None)
    return held or rows("nn").get(find_alike(name, rows("nn"))) or _on_host(name, space)


def find_alike(name: str, names: Iterable[str]) -> str:
    """The name of another library among these that differs in capitals, underscores or a number of axes; else itself.

    >>> find_alike("LazyConv3d", ["Linear", "Conv2d"])
    'Conv2d'
    """
    return next((other for other in names if _stem(other) == _stem(name)), name)


def _stem(name: str) -> str:
    folded = fold(name).removeprefix("lazy")
    return folded[:-2] if folded.endswith(("1d", "2d", "3d")) else folded


def _on_host(name: str, space: str) -> str | None:
    """What to write for a function that only SciPy or NumPy has, the one for a namespace's subject if there are two."""
    modules = [module for module, names in rows("host").items() if name in names.split()]
    module = next((module for module in modules if module.endswith(space)), next(iter(modules), None))
    if module is None:
        return None
    return f"{module}.{name} with numpy.asarray(x), on the host; in jit tb.host_call({module}.{name}, template, x)"


def fold(name: str) -> str:
    """Return a name without what libraries spell differently: capitals and underscores.

    >>> fold("LayerNorm"), fold("layer_norm")
    ('layernorm', 'layernorm')
    """
    return name.replace("_", "").lower()


def parameter_for(keyword: str, parameters: Sequence[str]) -> str | None:
    """Return the parameter that a keyword of another library means, or one that it resembles; `None` without any.

    >>> parameter_for("dim", ["axis", "keepdims"]), parameter_for("keepdimz", ["axis", "keepdims"])
    ('axis', 'keepdims')
    """
    meanings = rows("keywords.meant").get(keyword, "").split(", ")
    meant = next((name for name in meanings if name in parameters), None)
    if meant is None:
        from difflib import get_close_matches  # slow to import, and only errors need it

        meant = next(iter(get_close_matches(keyword, parameters, 1, 0.75)), None)
    return meant
