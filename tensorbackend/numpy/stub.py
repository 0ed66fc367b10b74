"""The texts of the stubs, which editors and type checkers read: the public names, from the functions themselves.

    python -m tensorbackend.numpy.stub

writes `__init__.pyi` and those of `linalg`, `fft` and `random`. A test compares them with the functions.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Final

import numpy

from . import fft, linalg, random
from .namespace_stub import declaration, text

_MODULE_HEAD: Final = '''\
"""{summary} Written by `python -m tensorbackend.numpy.stub`."""

import builtins
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, overload

from . import _ArrayOrNumber, ndarray

'''

_NUMBERS: Final = frozenset({
    "cond", "det", "matmul", "matrix_norm", "matrix_rank", "multi_dot", "norm", "tensordot", "trace", "vecdot",
    "vector_norm",
})  # fmt: skip
"""The functions of `linalg` whose result is an array, or a number where it has no axes."""

_DECOMPOSITIONS: Final = {
    "eig": [("a: Any", "EigResult")],
    "eigh": [("a: Any, UPLO: str = ...", "EighResult")],
    "lstsq": [("a: Any, b: Any, rcond: Any = ...", "tuple[ndarray, ndarray, Any, ndarray]")],
    "qr": [("a: Any, mode: Literal['reduced', 'complete'] = ...", "QRResult"), ("a: Any, mode: str", "Any")],
    "slogdet": [("a: Any", "SlogdetResult")],
    "svd": [
        ("a: Any, full_matrices: builtins.bool = ..., compute_uv: Literal[True] = ..., hermitian: builtins.bool = ...",
         "SVDResult"),
        ("a: Any, full_matrices: builtins.bool = ..., *, compute_uv: Literal[False], hermitian: builtins.bool = ...",
         "ndarray"),
    ],
}  # fmt: skip
"""The parameters and results of functions with several results."""

_ARRAYS_DRAWN: Final = frozenset({
    "dirichlet", "multinomial", "multivariate_hypergeometric", "multivariate_normal", "permutation", "permuted",
})  # fmt: skip
_NOT_DRAWN: Final = {
    "bit_generator": "Any", "bytes": "builtins.bytes", "get_state": "Any", "seed": "None", "set_state": "None",
    "shuffle": "None", "spawn": "list[Generator]",
}  # fmt: skip
"""The methods of generators whose results are no random numbers."""


_MORE_OF_RANDOM: Final = '''\
ranf = random_sample
sample = random_sample
def default_rng(seed: Any = ...) -> Generator:
    """A generator from a seed."""
def numpy_stream() -> AbstractContextManager[None]:
    """Within the block draw from NumPy's own streams."""
mtrand: Any
'''


def _linalg() -> str:
    lines = []
    for name in sorted(linalg.__dict__.keys() & set(dir(numpy.linalg))):
        value = getattr(linalg, name)
        if name in _DECOMPOSITIONS:
            forms = _DECOMPOSITIONS[name]
            mark = "@overload\n" if len(forms) > 1 else ""
            lines += [f"{mark}def {name}({given}) -> {result}: ...\n" for given, result in forms]
        elif inspect.isfunction(value):
            result = "_ArrayOrNumber" if name in _NUMBERS else "ndarray"
            lines.append(declaration(name, value, result=result))
    for name in ("EigResult", "EighResult", "QRResult", "SVDResult", "SlogdetResult"):
        part = "_ArrayOrNumber" if name == "SlogdetResult" else "ndarray"
        fields = "".join(f"    {field}: {part}\n" for field in getattr(linalg, name)._fields)
        lines.append(f"class {name}(NamedTuple):\n{fields}")
    return "from numpy.linalg import LinAlgError as LinAlgError\n\n" + "".join(lines)


def _fft() -> str:
    names = sorted(name for name in dir(numpy.fft) if inspect.isfunction(vars(fft).get(name)))
    return "".join(declaration(name, getattr(fft, name), result="ndarray") for name in names)


def _public(ours: type, theirs: type) -> set[str]:
    """The names of the methods that a class of generators or NumPy's has."""
    return {name for name in {*dir(ours), *dir(theirs)} if not name.startswith("_")}


def _draws(ours: type, theirs: type) -> str:
    """The declarations of the methods of a class of generators; those that NumPy has alone have any arguments."""
    lines = []
    for name in sorted(_public(ours, theirs)):
        result = _NOT_DRAWN.get(name, "ndarray" if name in _ARRAYS_DRAWN else "_ArrayOrNumber")
        member = inspect.getattr_static(ours, name, None)
        if isinstance(member, property):
            lines.append(f"    @property\n    def {name}(self) -> {result}: ...\n")
        elif inspect.isfunction(member):
            lines.append(declaration(name, member, "    ", result=result))
        else:
            lines.append(f"    def {name}(self, *arguments: Any, **options: Any) -> {result}: ...\n")
    return "".join(lines)


def _random() -> str:
    bits = [f"from numpy.random import {name} as {name}\n" for name in sorted(
        name for name, value in vars(numpy.random).items() if isinstance(value, type) and not hasattr(value, "normal")
    )]  # fmt: skip
    generator = "class Generator:\n    def __init__(self, bit_generator: Any) -> None: ...\n"
    state = "class RandomState:\n    def __init__(self, seed: Any = ...) -> None: ...\n"
    legacy = [f"{name} = _rand.{name}\n" for name in sorted(_public(random.RandomState, numpy.random.RandomState))]
    classes = (
        f"{generator}{_draws(random.Generator, numpy.random.Generator)}\n"
        f"{state}{_draws(random.RandomState, numpy.random.RandomState)}\n"
    )
    return f"{''.join(bits)}\n{classes}_rand: RandomState\n{''.join(legacy)}{_MORE_OF_RANDOM}"


def texts() -> dict[Path, str]:
    """The text of each stub."""
    modules = {linalg: _linalg, fft: _fft, random: _random}
    folder = Path(__file__).parent
    found = {folder / "__init__.pyi": text()}
    for module, declare in modules.items():
        summary = (module.__doc__ or "").partition("\n")[0]
        head = _MODULE_HEAD.format(summary=summary)
        found[folder / f"{module.__name__.rpartition('.')[2]}.pyi"] = head + declare()
    return found


if __name__ == "__main__":
    for path, written in texts().items():
        path.write_text(written)
