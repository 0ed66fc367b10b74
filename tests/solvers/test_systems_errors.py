"""Arguments that a solver refuses before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import (
    ArgumentError,
    DTypeError,
    NamesError,
    OperandError,
    ShapeError,
    TensorBackendError,
)
from tensorbackend.solvers import solve

A, B = tb.eye(3), tb.ones(3)

WRONG: list[tuple[dict[str, Any], type[TensorBackendError], str]] = [
    (
        {"method": "gauss"},
        ArgumentError,
        "solve: expected one of the methods 'auto', 'cg', 'cg-adaptive', 'bicgstab', 'bicgstab",
    ),
    ({"method": "bicgstab(0)"}, ArgumentError, r"got method='bicgstab\(0\)'"),
    (
        {"A": tb.ones((2, 3)), "b": tb.ones(2)},
        ShapeError,
        r"expected a square A, got A=f32\[2\]\[3\], rows=2, columns=3",
    ),
    ({"b": tb.ones(4)}, ShapeError, r"expected b with 3 elements in a vector, the number of rows of A, got b=f32\[4\]"),
    ({"A": tb.ones(3)}, ShapeError, "expected A as a matrix"),
    (
        {"A": "matrix"},
        OperandError,
        "expected A as a tensor, a matrix of tb.sparse or a linear function, got A='matrix'",
    ),
    ({"b": tb.ones(3, dtype="s32"), "A": tb.eye(3, dtype="s32")}, DTypeError, "expected a floating or complex b"),
    ({"rtol": -1e-3}, ArgumentError, "expected rtol of at least 0, got rtol=-0.001"),
    ({"atol": float("nan")}, ArgumentError, "expected atol of at least 0, got atol=nan"),
    (
        {"rtol": 0.0, "method": "cg"},
        ArgumentError,
        "expected a tolerance above 0, got rtol=0.0, atol=0.0; pass rtol= or",
    ),
    (
        {"rtol": tb.ones(2)},
        ShapeError,
        r"expected rtol of shape \(\), got rtol=f32\[2\]; give one number, or one for each",
    ),
    ({"max_iterations": 3.5}, DTypeError, "expected max_iterations as an int for each example"),
    (
        {"x0": tb.ones(4)},
        ShapeError,
        r"expected x0 with 3 elements in a vector, the number of columns of A, got x0=f32\[4\]",
    ),
    (
        {"preconditioner": "best"},
        ArgumentError,
        "expected a preconditioner of 'jacobi', 'ilu', or a function or matrix",
    ),
    (
        {"A": lambda x: x, "method": "cg", "preconditioner": "ilu"},
        ArgumentError,
        "expected a matrix for a preconditioner",
    ),
    ({"method": "direct", "A": lambda x: x}, ArgumentError, "expected a matrix for the method 'direct'"),
    ({"method": "lsqr", "preconditioner": "jacobi"}, ArgumentError, "expected no preconditioner for the method 'lsqr'"),
    ({"method": "direct", "null_space": "constant"}, ArgumentError, "expected no null_space for the method 'direct'"),
    ({"method": "lsqr", "null_space": "constant"}, ArgumentError, "expected no null_space for the method 'lsqr'"),
    ({"null_space": "linear", "method": "cg"}, ArgumentError, "expected null_space as 'constant' or a tensor"),
    ({"null_space": tb.ones(4), "method": "cg"}, ShapeError, "expected vectors of the null space of 3 elements"),
    (
        {"A": lambda x: x[1:], "method": "cg"},
        ShapeError,
        "expected b with 2 elements in a vector, the number of rows of A",
    ),
    ({"A": lambda x: (x, x), "method": "cg"}, OperandError, "expected A to return one tensor"),
    ({"A": lambda x: tb.sum(x)}, ShapeError, "expected A to return a vector, got given="),
    (
        {"A": lambda x: tb.sum(x), "b": tb.ones((2, 3)), "vector_axes": 1},
        ShapeError,
        r"expected A to keep the axes before a vector, \(2,\)",
    ),
    ({"vector_axes": 2, "b": tb.ones((3, 3))}, ArgumentError, "expected vector_axes=1 for a matrix, got vector_axes=2"),
    ({"vector_axes": 0}, ShapeError, "expected a b with the axes of a vector, got vector_axes=0"),
    ({"restart": 0, "method": "gmres"}, ArgumentError, "expected a restart after at least 1 iteration, got restart=0"),
    ({"trajectory": (3, 1), "method": "cg"}, ArgumentError, "expected a trajectory of ascending numbers of iterations"),
    (
        {"A": A.rename("n", "m"), "b": B.rename("k")},
        NamesError,
        "expected one name for the rows of A and the vectors of b",
    ),
]


@pytest.mark.parametrize(("options", "error", "text"), WRONG)
def test_a_mistake_is_told(options: dict[str, Any], error: type[TensorBackendError], text: str) -> None:
    call = {"A": A, "b": B, **options}
    with pytest.raises(error, match=text):
        solve(call.pop("A"), call.pop("b"), **call)
