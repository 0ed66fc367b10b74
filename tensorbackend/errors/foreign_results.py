"""What people look for among the attributes of results, sparse matrices and the like: a part of `foreign_names`."""

from __future__ import annotations

from typing import Final

ASSIGNED_TO_TENSORS: Final = {
    "T": "x[...] = value, or y = x.T",
    "device": "y = x.to_device(device)",
    "dtype": "y = tb.astype(x, dtype)",
    "imag": "y = tb.real(x) + 1j * value",
    "names": "y = x.rename(old='new'), or y = x.rename(names) with a name for each axis",
    "real": "y = value + 1j * tb.imag(x)",
    "shape": "y = tb.reshape(x, shape)",
}
"""What to write instead of an assignment to an attribute that tensors do have."""

_OF_SEARCHES: Final = {
    "fun": "result.value",
    "message": "result.converged and result.diverged",
    "nfev": "result.iterations",
    "nit": "result.iterations",
    "root": "result.x",
    "status": "result.converged and result.diverged",
    "success": "result.converged",
}

_SAME = (
    "abs",
    "sqrt",
    "sin",
    "tan",
    "asin",
    "atan",
    "sinh",
    "tanh",
    "expm1",
    "log1p",
    "sign",
    "floor",
    "ceil",
    "real",
    "imag",
)
_OF_VALUES = {name: name for name in _SAME} | {"arcsin": "asin", "arctan": "atan", "conjugate": "conj", "rint": "round"}

_SOLVED = "tb.solvers.solve(A, b, 'direct').x"

OF_RESULTS: Final[dict[str, dict[str, str]]] = {
    "DType": {
        "byteorder": "x.name",
        "char": "numpy.asarray(tensor), as SciPy and others need an array of NumPy's",
        "str": "x.name",
        "type": "x.name",
    },
    "EigResult": {"v": "x.eigenvectors", "values": "x.eigenvalues", "vectors": "x.eigenvectors", "w": "x.eigenvalues"},
    "EighResult": {"v": "x.eigenvectors", "values": "x.eigenvalues", "vectors": "x.eigenvectors", "w": "x.eigenvalues"},
    "Generator": {
        **{name: f"result.draw(tb.random.{name}, shape)" for name in ("exponential", "laplace", "normal", "uniform")},
        "gamma": "result.draw(tb.random.gamma, a, shape)",
        "permutation": "result.draw(tb.random.permutation, x)",
        "choice": "result.draw(tb.random.choice, x, shape)",
        "integers": "result.draw(tb.random.randint, shape, minval, maxval)",
        "rand": "result.draw(tb.random.uniform, shape)",
        "randn": "result.draw(tb.random.normal, shape)",
        "random": "result.draw(tb.random.uniform, shape)",
        "standard_normal": "result.draw(tb.random.normal, shape)",
    },
    "Eigenpairs": {"v": "x.eigenvectors", "values": "x.eigenvalues", "vectors": "x.eigenvectors", "w": "x.eigenvalues"},
    "GradientTransformation": {
        "apply": "tb.optimize.apply_updates(parameters, updates)",
        "minimize": "tb.grad(loss)(parameters), and x.update(gradients, state, parameters)",
        "param_groups": "the state that x.init(parameters) returns",
        "state": "the state that x.init(parameters) returns",
        "state_dict": "the state that x.init(parameters) returns",
        "step": "x.update(gradients, state, parameters), and tb.optimize.apply_updates(parameters, updates)",
        "zero_grad": "tb.grad(loss)(parameters), which returns new gradients",
    },
    "LeastSquares": _OF_SEARCHES | {"fun": "result.residuals", "jac": "tb.jacobian(function)(x)"},
    "LstsqResult": {"s": "x.singular_values", "x": "x.solution"},
    "Minimum": _OF_SEARCHES | {"jac": "tb.grad(function)(x)"},
    "Ragged": {
        "data": "x.values",
        "nested_row_lengths": "x.lengths",
        "numpy": "x.filled(0), and numpy.asarray(...) of it",
        "row_lengths": "x.lengths",
        "to_padded": "x.filled(0)",
        "to_padded_tensor": "x.filled(0)",
        "to_tensor": "x.filled(0)",
        "tolist": "tb.ragged.to_list(x), whose entries have tolist()",
    },
    "Root": _OF_SEARCHES,
    "SVDResult": {"V": "x.Vh, whose transpose is V", "Vt": "x.Vh"},
    "SlogdetResult": {"logdet": "x.logabsdet"},
    "Solution": {
        "info": "result.converged and result.diverged",
        "nit": "result.iterations",
        "success": "result.converged",
    },
    "SparseMatrix": {
        "A": "A.to_dense()",
        "argmax": "tb.argmax(A.to_dense(), axis=...)",
        "argmin": "tb.argmin(A.to_dense(), axis=...)",
        "asformat": "A.to_csr(), A.to_csc() or A.to_coo()",
        "count_nonzero": "A.nnz",
        "inv": f"{_SOLVED} for the product of the inverse with b, or tb.linalg.inv(A.to_dense())",
        "matmat": "A @ x",
        "maximum": "tb.maximum(A.to_dense(), x)",
        "mean": "A.sum(axis=...), divided by a size of A.shape",
        "minimum": "tb.minimum(A.to_dense(), x)",
        "reshape": "tb.reshape(A.to_dense(), shape)",
        "solve": _SOLVED,
        "size": "A.nnz for the stored entries, or A.shape",
        "todia": "A.diagonal(), or A.to_coo()",
        "todok": "A.to_coo()",
        "trace": "tb.sum(A.diagonal())",
        "col": "A.to_coo().columns",
        "columns": "A.to_coo().columns",
        "conj": "A.like(tb.conj(A.values))",
        "copy": "A itself, which never changes",
        "data": "A.values",
        "dot": "A @ x",
        "eliminate_zeros": "A itself, as stored zeros are kept",
        "getcol": "A[:, j]",
        "getrow": "A[i]",
        "indptr": "A.to_csr().pointers",
        "nonzero": "A.to_coo(), with its rows and columns",
        "power": "A.like(A.values ** n)",
        "row": "A.to_coo().rows",
        "rows": "A.to_coo().rows",
        "setdiag": "A + tb.sparse.diagonals([values], [0], A.shape)",
        "toarray": "A.to_dense()",
        "tocoo": "A.to_coo()",
        "tocsc": "A.to_csc()",
        "tocsr": "A.to_csr()",
        "todense": "A.to_dense()",
        "tolil": "A.to_coo()",
        "transpose": "A.T",
    }
    | {name: f"A.like(tb.{ours}(A.values))" for name, ours in _OF_VALUES.items()},
    "Trajectory": {"success": "x.converged", "sol": "times= of tb.solvers.solve_ivp", "t": "x.times", "ys": "x.y"},
}
"""What to write instead of attributes that other libraries' results and matrices have, by our classes.

x is the result, except where it has a part of that name.
"""

_OF_SQUARE = (
    "tb.solvers.eigsh(lambda x: A.T @ (A @ x), k, x0=...), whose eigenvalues are the squares of singular values"
)
_OF_FUNCTIONS: Final = {
    "astype": "tb.sparse.astype(A, dtype)",
    "add": "A + B",
    "cholesky": f"{_SOLVED}, or tb.linalg.cholesky(A.to_dense())",
    "cholesky_solve": _SOLVED,
    "concat": "tb.sparse.concatenate(matrices, axis=...)",
    "concatenate": "tb.sparse.concatenate(matrices, axis=...)",
    "diagonal": "A.diagonal()",
    "divide": "A / x",
    "dot": "A @ x",
    "eigh": "tb.solvers.eigsh(A, k) for a few eigenpairs, or tb.linalg.eigh(A.to_dense())",
    "eigvalsh": "tb.solvers.eigsh(A, k).eigenvalues for a few, or tb.linalg.eigvalsh(A.to_dense())",
    "einsum": "A @ x",
    "kron": "tb.sparse.from_function(function, template), which finds the matrix of a stencil on a grid",
    "lstsq": "tb.solvers.solve(A, b, 'lsqr').x",
    "lu": _SOLVED,
    "matmul": "A @ x",
    "matrix_norm": "tb.linalg.vector_norm(tb.sparse.sum_duplicates(A).values) for the root of the sum of squares",
    "matrix_power": "A @ A",
    "matrix_transpose": "A.mT",
    "max": "tb.sparse.max(A, axis=...)",
    "min": "tb.sparse.min(A, axis=...)",
    "multiply": "A * x",
    "negative": "-A",
    "norm": "tb.linalg.vector_norm(tb.sparse.sum_duplicates(A).values) for the root of the sum of squares",
    "outer": "tb.outer(A.to_dense(), y)",
    "permute_dims": "A.mT",
    "pinv": "tb.solvers.solve(A, b, 'lsqr').x for the product of the pseudoinverse with b",
    "pow": "A.like(A.values ** n), or A @ A for a product of matrices",
    "stack": "tb.sparse.concatenate(matrices, axis=...)",
    "subtract": "A - B",
    "sum": "tb.sparse.sum(A, axis=...)",
    "svd": f"tb.linalg.svd(A.to_dense()), or {_OF_SQUARE}",
    "svdvals": f"tb.linalg.svdvals(A.to_dense()), or {_OF_SQUARE}",
    "take_diagonal": "A.diagonal()",
    "tensordot": "A @ x",
    "triangular_solve": "tb.sparse.triangular_solve(A, b, lower=...)",
    "vecdot": "A @ x",
}

TENSOR_OF: Final = {
    "EigResult": ".eigenvalues or .eigenvectors",
    "Eigenpairs": ".eigenvalues or .eigenvectors",
    "EighResult": ".eigenvalues or .eigenvectors",
    "LeastSquares": ".x",
    "LstsqResult": ".solution",
    "Minimum": ".x",
    "Root": ".x",
    "SVDResult": ".U, .S or .Vh",
    "Solution": ".x",
    "Trajectory": ".y",
}
"""The tensor that is meant where a result is used as one, by our classes."""

OF_SPARSE_OPERANDS: Final = {
    "": "use `A @ x`, tb.solvers.solve(A, b).x or a function of tb.sparse, `A.like(function(A.values))` for a function "
    "of the stored values, or `A.to_dense()`",
    **{name: f"write {text}" for name, text in (OF_RESULTS["SparseMatrix"] | _OF_FUNCTIONS).items()},
}
"""What to write in place of a function of tensors of a sparse matrix, by function; `""` is any other function."""

DENSE: Final = {"ragged": "x.filled(0)", "sparse": "A.to_dense()"}
"""The tensor that a function of tensors takes in place of what these namespaces are for."""

OF_UFUNCS: Final = {
    "accumulate": "tb.cumulative_sum(x, axis=0), tb.cumulative_max(x, axis=0) and the like, or "
    "tb.associative_scan(tb.{0}, x)",
    "at": "tb.indexed_add(x, indices[:, None], updates) for a vector of indices, tb.indexed_max and the like",
    "outer": "tb.{0}(x[..., None], y) for a vector y",
    "reduce": "tb.sum(x, axis=0), tb.max(x, axis=0) and the like",
    "reduceat": "tb.segment_sum(x, segments, size=...) and the like",
}
"""What to write instead of the methods of NumPy's functions; `{0}` is the name of the function."""
