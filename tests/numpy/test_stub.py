"""The stub that editors read says what the functions of the namespace say."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

import tensorbackend.numpy as np
from tensorbackend.numpy.functions import PUBLIC
from tensorbackend.numpy.namespace_stub import ARRAYS, ARRAYS_OR_NUMBERS, TUPLES
from tensorbackend.numpy.stub import texts

CALLS: dict[str, Any] = {
    "append": ([1, 2], 3), "argpartition": ([2, 1], 0), "bincount": ([1],), "compress": ([True], [1]),
    "concat": ([[1], [2]],), "concatenate": ([[1], [2]],), "convolve": ([1], [2]), "correlate": ([1], [2]),
    "delete": ([1, 2], 0), "diff": ([1, 2],), "extract": ([True], [1]), "geomspace": (1, 2, 1), "histogram": ([1],),
    "histogram2d": ([1, 2], [1, 2]), "histogramdd": ([[1, 2]],), "insert": ([1], 0, 1), "kaiser": (1, 1.0),
    "logspace": (1, 2, 1), "mask_indices": (1, np.triu), "diag_indices": (1,), "outer": (1, 2), "pad": ([1], 0),
    "packbits": ([1],), "partition": ([2, 1], 0), "piecewise": (1.0, [True], [2.0]), "repeat": (1, 1),
    "roots": ([1, 1],), **dict.fromkeys(["column_stack", "dstack", "hstack", "vstack"], ([1, 2],)),
    **dict.fromkeys(["bartlett", "blackman", "hamming", "hanning", "argwhere", "flatnonzero", "cumsum", "cumprod",
                     "nancumsum", "nancumprod", "diagflat", "ediff1d"], (1,)),
    "select": ([True], [1.0]), "setdiff1d": (1, 2), "setxor1d": (1, 1), "stack": ([1, 2],), "tile": (1, 1),
    "resize": (1, (1,)), "isin": (1, 1), "in1d": (1, 1), "row_stack": ([1],), "union1d": (1, 1),
    "take_along_axis": ([1], [0], 0), "unpackbits": (np.array([1], np.uint8),), "vander": ([1],),
    "diag_indices_from": ([[1]],), "tril_indices": (1,), "triu_indices": (1,), "tril_indices_from": ([[1]],),
    "triu_indices_from": ([[1]],), "tril": ([[1]],), "triu": ([[1]],), "block": (1,), "nonzero": ([1],),
}  # fmt: skip
"""Arguments with the fewest axes that a function takes, if they are not one list of one number."""


@pytest.mark.parametrize("name", [*sorted(ARRAYS), *TUPLES])
def test_what_is_declared_as_an_array_is_one(name: str) -> None:
    made = PUBLIC[name](*CALLS.get(name, ([1.0],)))
    parts = made if name in TUPLES else [made]
    assert all(type(part) is np.ndarray or all(type(each) is np.ndarray for each in part) for part in parts)


MORE: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(["cross", "dot", "inner", "isclose", "kron", "vdot"], ()), "tensordot": (2.0, 0), "clip": (0, 1),
    "digitize": ([0, 3],), "interp": ([0, 3], [0, 3]), "polyval": (2.0,), "roll": (1,), "searchsorted": (1.0,),
    "take": (0,), **dict.fromkeys(["quantile", "nanquantile"], (0.5,)),
    **dict.fromkeys(["percentile", "nanpercentile"], (50,)),
}  # fmt: skip
"""Arguments besides the first one; none for one more like it."""


@pytest.mark.parametrize("name", sorted(ARRAYS_OR_NUMBERS & PUBLIC.keys()))
def test_what_is_declared_as_an_array_or_a_number_is_one(name: str) -> None:
    for x in ([1.0, 2.0, 3.0], [[1.0, 2.0], [3.0, 4.0]]):
        if numpy.ndim(x) == (1 if name == "trace" else 2) and name in ("trace", "searchsorted", "cross", "polyval"):
            continue
        arguments = ("...->...", x) if name == "einsum" else (x, *(MORE[name] or [x])) if name in MORE else (x,)
        assert isinstance(PUBLIC[name](*arguments), np.ndarray | numpy.generic)


PROGRAM = """\
import tensorbackend.numpy as np

x = np.linspace(0.0, 1.0, 12).reshape(3, 4)
w: float = np.sum(x * x) / len(x)
total = np.sum(x)
total += 1
def norm(v: np.ndarray) -> float:
    return np.sqrt(np.dot(v, v))
reveal_type(np.sum(x, axis=0))
reveal_type(x.mean(axis=1, keepdims=True))
reveal_type(np.dot(x, x.T))
reveal_type((x - x.mean(axis=0)) / x.std(axis=0))
reveal_type(np.exp(-x))
reveal_type(x[1:])
reveal_type(x[x > 0.5])
reveal_type(np.where(x > 0, x, 0))
reveal_type(np.concatenate([x, x]))
reveal_type(np.zeros((2, 2)))
reveal_type(np.argmax(x, axis=1))
reveal_type(np.percentile(x, 50))
rng = np.random.default_rng(0)
draws = rng.normal(size=(3, 4))
reveal_type(draws @ x.T)
reveal_type(np.random.rand(3))
reveal_type(np.random.default_rng(1).poisson(2.0, 5))
reveal_type(np.linalg.solve(x @ x.T, x[:, 0]))
reveal_type(np.linalg.eigh(x @ x.T).eigenvalues)
reveal_type(np.linalg.svd(x, compute_uv=False))
reveal_type(np.linalg.qr(x).Q)
reveal_type(np.linalg.norm(x) / 2)
reveal_type(np.fft.rfft(x, axis=0))
[1, 2, 3][rng.integers(3)]
left, values, right = np.linalg.svd(x)
reveal_type(left)
np.linalg.slove(x, x)  # mistake
np.random.default_rng(0).norml(3)  # mistake
np.linalg.inv(x).shpe  # mistake
np.fft.fft(x, axes=0)  # mistake
np.summ(x)  # mistake
np.sum(x, axes=0)  # mistake
np.mean(x).shpe  # mistake
x.revel()  # mistake
np.zeros((2, 2)).appendd  # mistake
np.dot(x)  # mistake
x[1:].meen()  # mistake
"""


def test_a_type_checker_knows_results_and_finds_mistakes(tmp_path: Path) -> None:
    """On the stub alone, as the whole package takes a minute to check."""
    package = tmp_path / "tensorbackend"
    (package / "numpy").mkdir(parents=True)
    (package / "__init__.pyi").write_text("class Tensor: ...\n")
    for path, text in texts().items():
        (package / "numpy" / path.name).write_text(text)
    (tmp_path / "program.py").write_text(PROGRAM)
    options = ["--ignore-missing-imports", "--cache-dir", os.devnull, "--config-file", os.devnull, "--no-error-summary"]
    run = subprocess.run([sys.executable, "-m", "mypy", *options, "program.py"], cwd=tmp_path, capture_output=True,
                         text=True, check=False)  # fmt: skip
    lines = [line.split(":", 3) for line in run.stdout.splitlines() if line.startswith("program.py")]
    mistakes = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# mistake")]
    assert [int(number) for _, number, kind, _ in lines if kind == " error"] == mistakes, run.stdout
    revealed = [text for _, _, _, text in lines if "Revealed type" in text]
    assert len(revealed) == PROGRAM.count("reveal_type")
    assert all("numpy.ndarray" in text or "_ArrayOrNumber" in text for text in revealed), run.stdout


def test_the_stubs_are_those_of_the_functions() -> None:
    for path, text in texts().items():
        assert path.read_text() == text, "run python -m tensorbackend.numpy.stub"


SQUARE = [[2.0, 1.0], [1.0, 3.0]]
OF_MATRICES: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(["cross", "outer", "vecdot"], ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])), "matrix_power": (SQUARE, 2),
    **dict.fromkeys(["lstsq", "matmul", "solve", "tensordot"], (SQUARE, SQUARE)), "multi_dot": ([SQUARE, SQUARE],),
    "tensorinv": (SQUARE, 1), "tensorsolve": (SQUARE, [1.0, 2.0]), "vector_norm": ([1.0, 2.0],),
}  # fmt: skip
"""Arguments of functions of `linalg`, other than one matrix."""


UNSIZED = {"bytes", "get_state", "permutation", "permuted", "rand", "randn", "seed", "set_state", "shuffle", "spawn",
           "tomaxint"}  # fmt: skip
DRAWN: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(["beta", "f", "gamma", "uniform", "vonmises", "wald"], (1.0, 2.0)), "binomial": (3, 0.5),
    **dict.fromkeys(["chisquare", "pareto", "power", "standard_gamma", "standard_t", "weibull"], (2.0,)),
    **dict.fromkeys(["bytes", "choice", "integers", "permutation", "randint", "random_integers", "spawn"], (5,)),
    "dirichlet": ([1.0, 2.0],), "multivariate_hypergeometric": ([3, 3], 2), "permuted": ([1, 2],),
    **dict.fromkeys(["geometric", "logseries"], (0.5,)), "hypergeometric": (5, 5, 3), "multinomial": (3, [0.5, 0.5]),
    "multivariate_normal": ([0.0, 0.0], SQUARE), "negative_binomial": (3, 0.5), "noncentral_chisquare": (2.0, 1.0),
    "noncentral_f": (2.0, 2.0, 1.0), "set_state": (np.random.RandomState(0).get_state(),), "shuffle": (np.arange(3),),
    "triangular": (0.0, 1.0, 2.0), "zipf": (2.0,),
}  # fmt: skip
"""Arguments of draws that have no defaults."""


def declared(module: str, of: str | None = None) -> dict[str, str]:
    """The results that a stub declares for its functions, or for a class's methods, that have one declaration."""
    path = next(path for path in texts() if path.stem == module)
    nodes: list[ast.stmt] = ast.parse(path.read_text()).body
    if of is not None:
        nodes = next(node.body for node in nodes if isinstance(node, ast.ClassDef) and node.name == of)
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name != "__init__"]
    return {node.name: ast.unparse(node.returns) for node in functions if node.returns and not node.decorator_list}


def as_declared(result: str, value: Any) -> bool:
    """Whether a value is of the type that a stub declares."""
    if result in ("None", "Any"):
        return value is None or result == "Any"
    if result == "_ArrayOrNumber":
        return isinstance(value, np.ndarray | numpy.generic | int | float)
    return (
        type(value) is np.ndarray
        if result == "ndarray"
        else type(value).__name__ == result.partition("[")[0].removeprefix("builtins.")
    )


@pytest.mark.parametrize("name", sorted(declared("linalg")))
def test_results_of_linalg_are_as_declared(name: str) -> None:
    value = getattr(np.linalg, name)(*OF_MATRICES.get(name, (SQUARE,)))
    assert as_declared(declared("linalg")[name], value)
    assert all(type(part) in (np.ndarray, numpy.float64) for part in (value if isinstance(value, tuple) else [])[:2])


@pytest.mark.parametrize("name", sorted(declared("fft")))
def test_results_of_fft_are_as_declared(name: str) -> None:
    argument = 4 if name.endswith("freq") else SQUARE
    assert as_declared("ndarray", getattr(np.fft, name)(argument))


@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in ("Generator", "RandomState") for name in declared("random", kind)]
)
def test_results_of_random_are_as_declared(kind: str, name: str, size: int | None) -> None:
    source = np.random.default_rng(0) if kind == "Generator" else np.random.RandomState(0)
    sizes = {} if size is None or name in UNSIZED else {"size": size}
    assert as_declared(declared("random", kind)[name], getattr(source, name)(*DRAWN.get(name, ()), **sizes))


def test_the_stub_declares_each_function() -> None:
    tree = ast.parse(next(iter(texts().values())))
    declared = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    declared |= {
        node.target.id for node in tree.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    assert {name for name in PUBLIC if "." not in name and name not in ("view", "sliding_window_view")} <= declared
