"""Preconditioners: approximate inverses of a matrix, chosen by name or passed by the user."""

from __future__ import annotations

from typing import Any, Final

from ..errors import ArgumentError, expected
from ..expr.trees import flatten, unflatten
from ..ops.composite.linalg.matrices import diagonal as dense_diagonal
from ..ops.elementwise.ternary import where
from ..sparse import diagonal, from_dense, ilu0
from ..template import Template
from .linear import Diagonal, Factors, Linear, Sparse, TracedForm, linear

WORDS: Final = ("jacobi", "ilu")


def preconditioner(choice: Any, matrix: Linear, vectors: Template, count: int) -> Linear | None:
    """The linear function that a preconditioner applies to residuals like `vectors`; `None` if there is none.

    Raises `ArgumentError` for an unknown name, and for a name if A is a function, whose entries are not known.
    """
    if choice is None:
        return None
    if not isinstance(choice, str):
        return linear(choice, vectors, count, "preconditioner")
    if choice not in WORDS:
        expectation = (
            f"a preconditioner of {', '.join(map(repr, WORDS))}, or a function or matrix that approximates the inverse"
        )
        raise ArgumentError(expected(expectation, preconditioner=choice))
    form = matrix.form
    if isinstance(form, TracedForm):
        remedy = "find its matrix with tb.sparse.from_function(), or pass a function that approximates the inverse"
        raise ArgumentError(expected("a matrix for a preconditioner by name", remedy, preconditioner=choice))
    a: Any = unflatten(form.tree, matrix.parts) if isinstance(form, Sparse) else matrix.parts[0]
    if choice == "jacobi":
        entries = diagonal(a) if isinstance(form, Sparse) else dense_diagonal(a)
        return Linear(Diagonal(), (where(entries == 0, 1, 1 / where(entries == 0, 1, entries)),))
    leaves, tree = flatten(ilu0(a if isinstance(form, Sparse) else from_dense(a)))
    return Linear(Factors(tree), tuple(leaves))
