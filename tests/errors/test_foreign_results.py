"""The table of attributes of other libraries' results; `tests/tensor/test_missing_names.py` has the errors."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import OperandError
from tensorbackend.errors.foreign_results import OF_RESULTS, OF_UFUNCS

SQUARE = tb.tensor([[2.0, 0.0], [0.0, 1.0]])
EXAMPLES: dict[str, Any] = {
    "DType": tb.float32,
    "EigResult": tb.linalg.eig(SQUARE),
    "EighResult": tb.linalg.eigh(SQUARE),
    "Eigenpairs": tb.solvers.eigsh(SQUARE, 1),
    "GradientTransformation": tb.optimize.adam(0.1),
    "LeastSquares": tb.optimize.least_squares(lambda x: x - 1, tb.ones(2)),
    "LstsqResult": tb.linalg.lstsq(SQUARE, tb.ones(2)),
    "Minimum": tb.optimize.minimize(lambda x: tb.sum(x * x), tb.ones(2)),
    "Ragged": tb.ragged.with_lengths(tb.ones((2, 3), names=("b", "t")), t=tb.asarray([1, 3], names=("b",))),
    "Root": tb.optimize.root(lambda x: x - 1, tb.ones(2)),
    "SVDResult": tb.linalg.svd(SQUARE),
    "SlogdetResult": tb.linalg.slogdet(SQUARE),
    "Solution": tb.solvers.solve(SQUARE, tb.ones(2)),
    "SparseMatrix": tb.sparse.eye(2),
    "Trajectory": tb.solvers.solve_ivp(lambda t, y: -y, (0, 1), tb.ones(2)),
}
"""What x, A or result is in the answers, by class."""


def test_no_attribute_that_exists_is_answered() -> None:
    for owner, held in OF_RESULTS.items():
        assert not [name for name in held if hasattr(EXAMPLES[owner], name)]


def test_an_answer_names_what_exists() -> None:
    for owner, held in OF_RESULTS.items():
        for text in held.values():
            for attribute in re.findall(r"\b(?:x|A|result)\.(\w+)", text):
                assert hasattr(EXAMPLES[owner], attribute)
            for path in re.findall(r"\btb((?:\.\w+)+)", text):
                attrgetter(path[1:])(tb)


def test_results_keep_what_tuples_do() -> None:
    found = tb.linalg.svd(SQUARE)
    assert pickle.loads(pickle.dumps(found)).S.tolist() == copy.deepcopy(found).S.tolist() == [2.0, 1.0]
    assert not hasattr(found, "__array__")
    with pytest.raises(AttributeError, match=r"'SVDResult' object has no attribute 'no_such'$"):
        found.no_such  # type: ignore[attr-defined] # noqa: B018


@pytest.mark.parametrize("owner", ["Solution", "Root", "Minimum", "LeastSquares"])
def test_arithmetic_with_a_result_names_its_tensor(owner: str) -> None:
    found = EXAMPLES[owner]
    mistakes: list[Callable[[], Any]] = [lambda: found * 2, lambda: 2 * found, lambda: found + found]
    for mistake in mistakes:
        with pytest.raises(OperandError, match=r"write \.x for the tensor of this result"):
            mistake()
    assert pickle.loads(pickle.dumps(found)).x.tolist() == found.x.tolist()


def test_an_answer_for_a_ufunc_names_what_exists() -> None:
    for text in OF_UFUNCS.values():
        found = re.findall(r"\btb\.(\w+)", text.format("add"))
        assert found
        assert all(hasattr(tb, name) for name in found)
