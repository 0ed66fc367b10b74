"""What other code expects of the package and of tensors: names, methods, Python's and NumPy's protocols."""

import copy
import math
import pickle
from inspect import Parameter, signature
from typing import Any, cast

import numpy as np
import pytest
import scipy.special

import tensorbackend as tb
from tensorbackend.errors import DeallocatedError, OperandError, ShapeError, TemplateDataError
from tensorbackend.errors.hints import FUNCTIONS, rows
from tensorbackend.tensor.methods import OpMethods

BACKENDS = ["binary", "numpy", "jax"]


@pytest.fixture(params=BACKENDS)
def x(request: pytest.FixtureRequest) -> tb.Tensor:
    return tb.tensor([[1.0, -2.5, 3.0], [4.0, 5.5, -6.0]], names=("row", "column"), backend=request.param)


# The package


def test_the_package_lists_its_names() -> None:
    names = dir(tb)
    assert {"add", "jit", "linalg", "CupyBackend", "__version__", "grad"} <= set(names)
    assert "add" in tb.__all__
    assert not any(name.startswith("_") or not hasattr(tb, name) for name in tb.__all__)
    assert tb.__version__.count(".") == 2


@pytest.mark.parametrize("name", ["as_dtype", "expected", "partial", "NamedTuple", "library"])
def test_names_that_modules_import_are_not_advice(name: str) -> None:
    with pytest.raises(AttributeError, match=f"^module 'tensorbackend' has no attribute '{name}'(?!; write)"):
        getattr(tb, name)


def test_backends_by_their_classes() -> None:
    assert tb.get_backend(tb.BinaryBackend).name == "binary"
    assert tb.ones(2).backend_transfer(tb.TemplateBackend).backend.template_only
    assert tb.CupyBackend.name == "cupy"
    assert tb.JaxBackend.name == "jax"


@pytest.mark.parametrize(("name", "ours"), rows("synonyms", *FUNCTIONS).items())
def test_names_of_other_libraries(name: str, ours: str) -> None:
    assert name not in tb.__all__
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; write "):
        getattr(tb, name)
    if name in rows("synonyms"):
        assert hasattr(tb, ours)


@pytest.mark.parametrize(("name", "text"), [("qr", r"write tb\.linalg\.qr"), ("no_such", r"attribute 'no_such'$")])
def test_names_of_namespaces_and_of_nothing(name: str, text: str) -> None:
    with pytest.raises(AttributeError, match=text):
        getattr(tb, name)


# Methods


def test_methods_are_their_ops(x: tb.Tensor) -> None:
    for name in ("sum", "prod", "mean", "var", "std", "max", "min"):
        op = getattr(tb, name)
        for axes in ((), (0,), ("column",)):
            reduced = getattr(x, name)(*axes)
            assert reduced.template is op(x, axis=axes[0] if axes else None).template
            assert np.allclose(np.asarray(reduced), np.asarray(op(x, axis=axes[0] if axes else None)))
    assert x.argmax(axis="column").tolist() == tb.argmax(x, axis="column").tolist()
    assert x.sum(axis=0, keepdims=True).names == x.names
    assert ((x > 0).any().item(), (x > 0).all(1).tolist()) == (True, [False, False])
    assert x.reshape(3, 2).shape == x.reshape((3, 2)).shape == x.reshape(-1, 2).shape == (3, 2)
    assert x.reshape(2, 3, 1).names == ("row", "column", None)
    assert x.flatten().shape == x.ravel().shape == (6,)
    assert x.transpose().names == x.transpose(1, 0).names == x.transpose(("column", "row")).names == ("column", "row")
    assert x[:1, :1].squeeze().shape == ()
    assert x[:1].squeeze("row").names == ("column",)
    assert x.astype("s8").dtype is tb.int8
    assert x.clip(0, 4).tolist() == [[1.0, 0.0, 3.0], [4.0, 4.0, 0.0]]
    assert x.round().tolist() == [[1.0, -2.0, 3.0], [4.0, 6.0, -6.0]]
    assert (x * 1j).conj().imag.tolist() == (-x).tolist()
    assert (x * 1j).real.shape == x.shape
    assert (x.real.tolist(), x.imag.tolist()) == (x.tolist(), (x * 0).tolist())


def test_methods_have_the_options_and_the_text_of_their_ops() -> None:
    for name, method in vars(OpMethods).items():
        if name[:1] == "_" or isinstance(method, property) or name in ("flatten", "ravel", "transpose"):
            continue
        op = getattr(tb, name)
        assert method.__doc__ == op.__doc__
        theirs = signature(op).parameters
        for parameter in list(signature(method).parameters.values())[1:]:
            if (name, parameter.name) == ("round", "decimals"):  # as in `round(x, 2)`, which is several ops
                continue
            if parameter.annotation == "Never":  # unknown ones, which the op refuses
                continue
            assert parameter.name in theirs
            if parameter.kind is not Parameter.VAR_POSITIONAL:
                assert parameter.default == theirs[parameter.name].default, (name, parameter)


# Python's protocols


def test_numbers_of_one_element() -> None:
    x = tb.asarray(2.675)
    assert f"{x:.1f}" == "2.7"
    assert f"{tb.ones(2)}" == str(tb.ones(2))
    assert math.trunc(x) == 2
    with pytest.raises(ShapeError, match="a tensor of one element"):
        format(tb.ones(2), ".1f")


def test_round_and_divmod(x: tb.Tensor) -> None:
    assert round(x).tolist() == [[1.0, -2.0, 3.0], [4.0, 6.0, -6.0]]
    assert round(x / 8, 1).tolist() == (tb.round(x / 8 * 10) / 10).tolist()
    assert round(tb.asarray([1234.0]), -2).tolist() == [1200.0]
    quotient, remainder = divmod(x, 2)
    assert (quotient * 2 + remainder).tolist() == x.tolist()
    assert [tensor.tolist() for tensor in divmod(7, tb.asarray([2, 3]))] == [[3, 2], [1, 1]]


class Own:
    """An array that defines its own operators."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.ones(2)

    def __rmul__(self, other: object) -> str:
        return "mine"

    def __rmatmul__(self, other: object) -> str:
        return "mine"


class Plain:
    """An array without operators."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.ones(2, dtype="f4")


def test_operators_leave_it_to_operands_with_their_own() -> None:
    assert tb.ones(2) * Own() == tb.ones(2) @ Own() == "mine"
    with pytest.raises(OperandError, match="add: expected a tensor, a Python number or an array"):
        tb.ones(2) + Own()
    with pytest.raises(OperandError, match=r"wrap it in asarray\(\)"):
        tb.multiply(tb.ones(2), Own())
    assert tb.multiply(tb.ones(2), tb.asarray(Own())).tolist() == [1.0, 1.0]
    assert (tb.ones(2) * Plain()).tolist() == [1.0, 1.0]


def test_copies_and_pickles(x: tb.Tensor) -> None:
    for duplicate in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert duplicate is not x
        assert duplicate.template is x.template
        assert duplicate.backend is x.backend
        assert duplicate.tolist() == x.tolist()
    dry = tb.template((2, 3), "f32", ("row", None))
    for duplicate in (copy.copy(dry), copy.deepcopy({"x": dry})["x"], pickle.loads(pickle.dumps(dry))):
        assert duplicate.template is dry.template
        assert duplicate.backend.template_only
    assert tb.grad(lambda x: tb.sum(copy.deepcopy(x) * x))(tb.asarray([3.0])).tolist() == [6.0]


def test_a_deallocated_tensor_has_a_text(x: tb.Tensor) -> None:
    x.backend_deallocate()
    assert repr(x) == f"f32[row: 2][column: 3] {x.backend.name}, deallocated"
    with pytest.raises(DeallocatedError):
        x + 1


def test_transfers_go_to_the_default_backend(x: tb.Tensor) -> None:
    assert x.backend_copy().backend.name == "numpy"
    with tb.default_backend("binary"):
        assert x.backend_transfer().backend.name == "binary"


# NumPy


def test_dtypes_for_numpy() -> None:
    for dtype in tb.dtypes.ALL_DTYPES:
        assert np.dtype(dtype).name == dtype.name
    assert np.zeros(2, dtype=tb.int8).dtype == np.int8


def test_universal_functions_are_ops(x: Any) -> None:
    exponentials: Any = np.exp(x)
    assert isinstance(exponentials, tb.Tensor)
    assert exponentials.template is x.template
    assert exponentials.backend is x.backend
    assert np.arctan2(x, np.ones(3, dtype="f4")).template is x.template
    assert (np.ones(3, dtype="f4") + x).template is (np.float32(2) * x).template is x.template
    assert (np.ones(3, dtype="f4") < x).dtype.kind == "bool"
    assert (np.ones((3, 2), dtype="f4") @ x).names == (None, "column")
    assert np.logical_and(x, True).dtype.kind == "bool"
    assert tb.trace(np.exp)("f32[n=3]").results[0].names == ("n",)
    with pytest.raises(TypeError):
        np.add(x, cast(Any, object()))


def test_other_functions_run_on_the_host(x: Any) -> None:
    assert np.allclose(scipy.special.expit(x), 1 / (1 + np.exp(-np.asarray(x))))
    assert scipy.special.j0(x).template is np.logaddexp2(x, x).template is x.template
    assert np.add.reduce(x, axis=0).tolist() == x.sum(0).tolist()
    assert [type(part) for part in np.modf(x)] == [tb.Tensor, tb.Tensor]
    array = np.zeros((2, 3), dtype="f4")
    array += x
    assert array.tolist() == x.tolist()
    assert np.exp(x, out=array) is array


def test_functions_of_numpy(x: Any) -> None:
    assert cast(Any, np.sum(x, axis=0)).template is tb.sum(x, axis=0).template
    assert np.mean(x).backend is x.backend
    assert cast(Any, np.concatenate([x, x], axis=1)).names == ("row", "column")
    assert cast(Any, np.concatenate([x, x], 1)).names == ("row", "column")
    assert cast(Any, np.where(cast(Any, x > 0), x, 0.0)).names == ("row", "column")
    assert np.linalg.norm(x).item() == pytest.approx(tb.linalg.norm(x).item())
    assert np.cumsum(x, axis=1).tolist() == np.cumsum(np.asarray(x), axis=1).tolist()
    assert np.percentile(x, 50, axis=0).shape == (3,)
    column = np.ones((3, 1), "f4")
    assert np.dot(x, column).tolist() == (x @ column).tolist()  # our function of that name takes other arguments
    assert np.shape(x) == (2, 3)
    assert isinstance(np.nansum(x), tb.Tensor)
    assert np.allclose(x, np.asarray(x))


def test_functions_of_numpy_in_a_trace() -> None:
    def asked(x: Any) -> Any:
        assert (np.ndim(x), np.shape(x), np.iscomplexobj(x), np.isrealobj(x)) == (1, (3,), False, True)
        return x

    assert tb.trace(asked)("f32[n=3]").results[0].names == ("n",)
    for function in (np.gradient, np.exp2):
        with pytest.raises(TemplateDataError, match=f"NumPy's {function.__name__}, which is computed on the host"):
            tb.trace(function)("f32[n=3]")


def test_the_inspection_interface_lists_devices() -> None:
    assert tb.__array_namespace_info__().devices() == ("cpu",)
