"""The table of attributes of other libraries' results; `tests/tensor/test_missing_names.py` has the errors."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, MissingNameError, OperandError, expected
from tensorbackend.errors.hints import rows
from tensorbackend.tensor.missing_names import TENSOR_OF

SQUARE = tb.tensor([[2.0, 0.0], [0.0, 1.0]])


@tb.checkpoint
def _total(x: tb.Tensor) -> tb.Tensor:
    return tb.sum(x @ x)


REPORT = tb.dry_run(_total, "f32[n=2, 2]", gradient=True, fits="1MB")
EXAMPLES: dict[str, Any] = {
    "DType": tb.float32,
    "DryRun": REPORT,
    "EigResult": tb.linalg.eig(SQUARE),
    "EighResult": tb.linalg.eigh(SQUARE),
    "Eigenpairs": tb.solvers.eigsh(SQUARE, 1),
    "Generator": tb.random.generator(0),
    "Graph": tb.trace(tb.sin)("f32[2]"),
    "GradientTransformation": tb.optimize.adam(0.1),
    "LeastSquares": tb.optimize.least_squares(lambda x: x - 1, tb.ones(2)),
    "LstsqResult": tb.linalg.lstsq(SQUARE, tb.ones(2)),
    "Minimum": tb.optimize.minimize(lambda x: tb.sum(x * x), tb.ones(2)),
    "Peak": REPORT.peak,
    "Recomputation": REPORT.recomputation,
    "Ragged": tb.ragged.with_lengths(tb.ones((2, 3), names=("b", "t")), t=tb.asarray([1, 3], names=("b",))),
    "Root": tb.optimize.root(lambda x: x - 1, tb.ones(2)),
    "SVDResult": tb.linalg.svd(SQUARE),
    "SlogdetResult": tb.linalg.slogdet(SQUARE),
    "Solution": tb.solvers.solve(SQUARE, tb.ones(2)),
    "SparseMatrix": tb.sparse.eye(2),
    "Tape": tb.tape(),
    "Trajectory": tb.solvers.solve_ivp(lambda t, y: -y, (0, 1), tb.ones(2)),
}
"""What x, A or result is in the answers, by class."""


def test_no_attribute_that_exists_is_answered() -> None:
    for owner in EXAMPLES:
        assert not [name for name in rows(f"results.{owner}") if hasattr(EXAMPLES[owner], name)]


def test_an_answer_names_what_exists() -> None:
    for owner in EXAMPLES:
        assert rows(f"results.{owner}"), owner
        for text in rows(f"results.{owner}").values():
            for attribute in re.findall(r"\b(?:x|A|result)\.(\w+)", text):
                assert hasattr(EXAMPLES[owner], attribute)
            for path in re.findall(r"\btb((?:\.\w+)+)", text):
                attrgetter(path[1:])(tb)
            for path in re.findall(r"\breport((?:\.\w+)+)", text):
                attrgetter(path[1:])(REPORT)


def test_results_keep_what_tuples_do() -> None:
    found = tb.linalg.svd(SQUARE)
    assert pickle.loads(pickle.dumps(found)).S.tolist() == copy.deepcopy(found).S.tolist() == [2.0, 1.0]
    assert not hasattr(tb.linalg.qr(SQUARE), "__array__")
    with pytest.raises(AttributeError, match=r"'SVDResult' object has no attribute 'no_such'; its parts are U, S, Vh$"):
        found.no_such  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(MissingNameError, match=r"no attribute 'peak_memory'; write report\.peak\.memory$"):
        REPORT.peak_memory  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(MissingNameError, match=r"no attribute 'no_such'; its parts are chart, donatable, "):
        REPORT.no_such  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(MissingNameError, match=r"'LSTMState' object has no attribute 'state'; its parts are \w+, \w+$"):
        tb.nn.LSTMState(SQUARE, SQUARE).state  # type: ignore[attr-defined] # noqa: B018


USES: list[Callable[[Any], Any]] = [
    lambda found: found * 2,
    lambda found: 2 * found,
    lambda found: found + found,
    lambda found: found**2,
    lambda found: -found,
    lambda found: abs(found),
    lambda found: found > 2,
    lambda found: tb.ones(2) @ found,
    lambda found: numpy.ones(2) * found,
    lambda found: numpy.testing.assert_allclose(found, numpy.ones(2)),
    lambda found: tb.asarray(found),
    lambda found: tb.sum(found),
    lambda found: tb.reshape(found, (2, 1)),
    lambda found: tb.sparse.eye(2) @ found,
]


@pytest.mark.parametrize("owner", TENSOR_OF)
def test_a_result_that_is_used_as_a_tensor_names_its_tensor(owner: str) -> None:
    found, attributes = EXAMPLES[owner], TENSOR_OF[owner]
    answer = re.escape(f"write {attributes} for ")
    for use in USES:
        with pytest.raises(OperandError, match=answer):
            use(found)
    for name in ("mean", "shape", "tolist", "numpy", "cumsum"):
        with pytest.raises(MissingNameError, match=answer):
            getattr(found, name)
    for attribute in re.findall(r"\.(\w+)", attributes):
        assert isinstance(getattr(found, attribute), tb.Tensor)
    assert type(pickle.loads(pickle.dumps(found))) is type(copy.copy(found)) is type(found)


def test_an_operand_that_is_a_result_is_shown_by_its_parts() -> None:
    with pytest.raises(OperandError, match=re.escape("write one of its parts, .values or .indices")):
        tb.sum(tb.top_k(tb.ones(3), 2))  # type: ignore[arg-type] # the mistake
    with pytest.raises(OperandError, match=re.escape("got x=Solution(x=f32[2], residual=f32[2], iterations=s32, ")):
        tb.sum(EXAMPLES["Solution"])


@pytest.mark.parametrize("owner", [owner for owner in TENSOR_OF if len(EXAMPLES[owner]) != 2])
def test_too_few_names_for_the_parts_of_a_result_are_answered(owner: str) -> None:
    found = EXAMPLES[owner]
    answer = f"expected {len(found)} names on the left, for .*; write {re.escape(TENSOR_OF[owner])} for (a|the) tensor"
    with pytest.raises(ArgumentError, match=answer):
        _, _ = found
    first, *others = found
    assert first is found[0]
    assert [*found] == [first, *others]
    assert len(tuple(found)) == len(found)


def test_as_many_names_as_parts_are_taken() -> None:
    x, residual, iterations, converged, diverged = EXAMPLES["Solution"]
    assert (x, residual, iterations, converged, diverged)[0] is EXAMPLES["Solution"].x
    values, vectors = EXAMPLES["EighResult"]
    assert values is EXAMPLES["EighResult"].eigenvalues
    assert vectors.shape == (2, 2)


@pytest.mark.parametrize(
    ("method", "code", "wanted"),
    [
        ("accumulate", "tb.cumulative_sum(x, axis=0)", numpy.add.accumulate([[1.0, 2.0], [3.0, 5.0]])),
        ("accumulate", "tb.associative_scan(tb.add, x)", numpy.add.accumulate([[1.0, 2.0], [3.0, 5.0]])),
        ("reduce", "tb.sum(x, axis=0)", numpy.add.reduce([[1.0, 2.0], [3.0, 5.0]])),
        ("outer", "tb.add(x[..., None], y)", numpy.add.outer([[1.0, 2.0], [3.0, 5.0]], [7.0, 8.0, 9.0])),
    ],
)
def test_an_answer_for_a_ufunc_does_what_its_method_does(method: str, code: str, wanted: Any) -> None:
    assert code in rows("ufuncs")[method].format("add")
    x, y = tb.asarray([[1.0, 2.0], [3.0, 5.0]], names=("a", "b")), tb.asarray([7.0, 8.0, 9.0])
    numpy.testing.assert_array_equal(eval(code, {"tb": tb, "x": x, "y": y}), wanted)


def test_an_answer_for_a_ufunc_names_what_exists() -> None:
    for text in rows("ufuncs").values():
        found = re.findall(r"\btb\.(\w+)", text.format("add"))
        assert found
        assert all(hasattr(tb, name) for name in found)


A: Any = tb.sparse.from_dense(tb.asarray([[4.0, 1.0], [1.0, 3.0]]))
B = tb.asarray([1.0, 2.0])
WITH_SPARSE: list[tuple[Callable[[], Any], str]] = [
    (lambda: tb.linalg.solve(A, B), "write tb.solvers.solve(A, b, 'direct').x"),
    (lambda: numpy.linalg.solve(A, B), "solve: expected a dense tensor, got A=f32[2][2]; write tb.solvers.solve(A, b"),
    (lambda: tb.linalg.inv(A), "write tb.solvers.solve(A, b, 'direct').x for the product of the inverse with b"),
    (lambda: tb.linalg.lstsq(A, B), "write tb.solvers.solve(A, b, 'lsqr').x"),
    (lambda: tb.linalg.pinv(A), "write tb.solvers.solve(A, b, 'lsqr').x"),
    (lambda: tb.linalg.cholesky(A), "write tb.solvers.solve(A, b, 'direct').x"),
    (lambda: tb.linalg.eigh(A), "write tb.solvers.eigsh(A, k)"),
    (lambda: tb.linalg.eigvalsh(A), "write tb.solvers.eigsh(A, k).eigenvalues"),
    (lambda: tb.linalg.svd(A), "tb.solvers.eigsh(lambda x: A.T @ (A @ x), k, x0=...)"),
    (lambda: tb.linalg.norm(A), "write tb.linalg.vector_norm(tb.sparse.sum_duplicates(A).values)"),
    (lambda: tb.linalg.trace(A), "write tb.sum(A.diagonal())"),
    (lambda: tb.linalg.triangular_solve(A, B), "write tb.sparse.triangular_solve(A, b, lower=...)"),
    (lambda: tb.kron(A, A), "write tb.sparse.from_function(function, template)"),
    (lambda: tb.matmul(A, B), "write A @ x"),
    (lambda: tb.dot(A, B, contract="n"), "write A @ x"),
    (lambda: tb.sum(A, axis=0), "write tb.sparse.sum(A, axis=...)"),
    (lambda: tb.max(A), "write tb.sparse.max(A, axis=...)"),
    (lambda: tb.mean(A), "write A.sum(axis=...), divided by a size of A.shape"),
    (lambda: tb.abs(A), "write A.like(tb.abs(A.values))"),
    (lambda: tb.exp(A), "A.to_dense()"),
    (lambda: tb.add(A, A), "write A + B"),
    (lambda: tb.concatenate([A, A]), "write tb.sparse.concatenate(matrices, axis=...)"),
    (lambda: tb.stack([A, A]), "write tb.sparse.concatenate(matrices, axis=...)"),
    (lambda: tb.reshape(A, (4,)), "write tb.reshape(A.to_dense(), shape)"),
    (lambda: tb.take_diagonal(A), "write A.diagonal()"),
    (lambda: tb.matrix_transpose(A), "write A.mT"),
    (lambda: tb.count_nonzero(A), "write A.nnz"),
]


@pytest.mark.parametrize("place", range(len(WITH_SPARSE)))
def test_a_function_of_tensors_says_what_a_sparse_matrix_has_in_its_place(place: int) -> None:
    call, answer = WITH_SPARSE[place]
    with pytest.raises(OperandError, match=re.escape(answer)):
        call()


def test_the_answers_to_functions_with_a_sparse_matrix_run() -> None:
    dense = numpy.asarray(A.to_dense())
    cases = [
        ("solve", numpy.linalg.solve(dense, B)),
        ("lstsq", numpy.linalg.lstsq(dense, B)[0]),
        ("norm", numpy.linalg.norm(dense)),
        ("trace", numpy.trace(dense)),
        ("sum", dense.sum(axis=0)),
        ("reshape", dense.reshape(4)),
        ("take_diagonal", numpy.diagonal(dense)),
        ("matrix_transpose", dense.T),
        ("eigvalsh", numpy.linalg.eigvalsh(dense)[-1:]),
        ("matmul", dense @ B),
        ("count_nonzero", 4),
    ]
    for function, wanted in cases:
        code = re.split(r", or | for ", tb.sparse.SparseMatrix.operand_remedies[function].removeprefix("write "))[0]
        code = code.replace("axis=...", "axis=0")
        found = eval(code, {"tb": tb, "A": A, "b": B, "x": B, "shape": (4,), "k": 1})
        if isinstance(found, tb.sparse.SparseMatrix):
            found = found.to_dense()
        numpy.testing.assert_allclose(found, wanted, rtol=1e-5, err_msg=function)


def test_an_answer_for_a_sparse_operand_names_what_exists() -> None:
    for text in tb.sparse.SparseMatrix.operand_remedies.values():
        for path in re.findall(r"\btb((?:\.\w+)+)", text):
            assert attrgetter(path[1:])(tb) is not None, path


ANSWERS: list[tuple[Callable[[], Any], str]] = [
    (lambda: tb.random.generator(0).normal(size=3), "write result.draw(tb.random.normal, shape)"),  # type: ignore[attr-defined]
    (lambda: tb.stack([{"a": A}], axis=0), "tb.tree_map(function, *trees) calls a function with the tensors"),  # type: ignore[list-item]
    (lambda: tb.vmap(in_axes=("a",)), "write functools.partial(tb.vmap, in_axes=...) as a decorator with options"),  # type: ignore[call-arg]
    (lambda: tb.random.split(tb.random.key(0), 3, name="a"), "name the axes of the result with rename()"),  # type: ignore[call-arg]
    (lambda: tb.max(tb.ones(2), initial=0), "write tb.maximum(tb.max(x), initial)"),  # type: ignore[call-arg]
    (lambda: tb.linalg.solve(tb.ones((3, 4, 4)), tb.ones((3, 4))), "write solve(a, b[..., None])[..., 0] for a vector"),
    (lambda: tb.random.normal(tb.random.key(0), (3,), 0.0, 0.7), "write mean=... and deviation=..., as in"),  # type: ignore[arg-type,call-arg]
]


@pytest.mark.parametrize(("mistake", "answer"), ANSWERS)
def test_what_ten_programs_guessed_is_answered(mistake: Callable[[], Any], answer: str) -> None:
    with pytest.raises((tb.errors.TensorBackendError, AttributeError), match=re.escape(answer)):
        mistake()


def test_a_named_tuple_is_shown_as_it_shows_itself() -> None:
    class Kind(NamedTuple):
        kind: str

        def __repr__(self) -> str:
            return f"<{self.kind}>"

    class Pair(NamedTuple):
        first: tb.Tensor

    assert expected("one", pair=Pair(tb.ones(2))) == "expected one, got pair=Pair(first=f32[2])"
    assert expected("one", kind=Kind("traced")) == "expected one, got kind=<traced>"
