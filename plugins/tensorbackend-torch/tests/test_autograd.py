"""Functions of arrays in PyTorch's graphs, in its function transforms, and in what it compiles."""

from __future__ import annotations

import importlib
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import pytest
import tensorbackend as tb
import torch

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
Array = Any


def drawn(*shape: int, dtype: torch.dtype = torch.float64) -> Array:
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(len(shape))).requires_grad_()


@tb.for_arrays
def ours(x: Array, y: Array) -> Array:
    return tb.sum(tb.sin(x @ y) ** 2) * tb.log(2.0)


def theirs(x: Array, y: Array) -> Array:
    return torch.sum(torch.sin(x @ y) ** 2) * numpy.log(2.0)


@tb.for_arrays
def several(tree: Array, number: float = 2.0) -> Array:
    x, y = tree["x"], tree["y"]
    return {"product": tb.exp(x) @ y * number, "place": tb.argmax(x), "same": x, "text": "kept"}


@tb.for_arrays
def complex_parts(z: Array) -> Array:
    return tb.exp(z) * z, tb.abs(z)


def test_arrays_stay_where_they_are() -> None:
    seen = []
    x = torch.ones(2, 3, dtype=torch.bfloat16)
    found = tb.for_arrays(lambda x: seen.append(x) or x)(x)  # type: ignore[func-returns-value] # append
    assert seen[0].data.data_ptr() == x.data_ptr()
    assert (type(found), found.dtype) == (torch.Tensor, torch.bfloat16)
    found += 1  # the caller's own
    assert x.sum() == 6
    eighth = torch.ones(2).to(torch.float8_e5m2)
    assert tb.for_arrays(lambda x: x)(eighth).dtype is torch.float8_e5m2


def test_results_are_nested_as_the_function_says() -> None:
    tree = {"x": drawn(2, 3), "y": drawn(3, 2)}
    found = several(tree, number=3.0)
    assert found["text"] == "kept"
    assert found["product"].requires_grad
    assert not found["place"].requires_grad
    torch.testing.assert_close(found["product"], torch.exp(tree["x"]) @ tree["y"] * 3)
    with torch.no_grad():
        assert not several(tree)["product"].requires_grad


def _part(name: str, x: Array, y: Array) -> Array:
    return several({"x": x, "y": y})[name]


# PyTorch defines some derivatives when they are first asked for, by what it has deprecated.
LAZY = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")


@LAZY
def test_first_and_second_derivatives_are_those_of_differences() -> None:
    x, y = drawn(2, 3), drawn(3, 2)
    for name in ("", "product", "same"):
        function = partial(_part, name) if name else ours
        assert torch.autograd.gradcheck(function, (x, y), check_forward_ad=True)
        assert torch.autograd.gradgradcheck(function, (x, y))
    z = drawn(3, dtype=torch.complex128)
    assert torch.autograd.gradcheck(complex_parts, (z,))
    assert torch.autograd.gradgradcheck(complex_parts, (z,))


def test_higher_derivatives() -> None:
    x = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    cube = tb.for_arrays(lambda x: x**5)
    value = cube(x)
    for order in range(1, 5):
        (value,) = torch.autograd.grad(value, x, create_graph=True)
        wanted = numpy.prod(range(6 - order, 6)) * 0.7 ** (5 - order)
        assert value.item() == pytest.approx(wanted, rel=1e-12)


def test_only_what_requires_a_gradient_has_one() -> None:
    x, y = drawn(2, 3), drawn(3, 2).detach()
    ours(x, y).backward()
    wanted = x.grad.clone()
    x.grad = None
    theirs(x, y).backward()
    torch.testing.assert_close(wanted, x.grad)
    assert y.grad is None


def test_a_value_that_was_written_to_since_is_an_error() -> None:
    x, y = drawn(2, 3), drawn(3, 2)
    loss = ours(x, y)
    with torch.no_grad():
        x += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@LAZY
def test_the_function_transforms_go_through() -> None:
    x, y = drawn(2, 3).detach(), drawn(3, 2).detach()
    xs = torch.stack([x, 2 * x, x * x])
    func = torch.func
    transforms: dict[str, Any] = {
        "grad": lambda f: func.grad(f)(x, y),
        "both": lambda f: func.grad(f, argnums=(0, 1))(x, y),
        "hessian": lambda f: func.hessian(f)(x, y),
        "jacrev": lambda f: func.jacrev(func.grad(f))(x, y),
        "jvp": lambda f: func.jvp(f, (x, y), (y.T, x.T)),
        "vmap": lambda f: func.vmap(f, in_dims=(0, None))(xs, y),
        "vmap of grad": lambda f: func.vmap(func.grad(f), in_dims=(0, None))(xs, y),
        "grad of vmap": lambda f: func.grad(lambda xs: func.vmap(f, in_dims=(0, None))(xs, y).sum())(xs),
    }
    for name, transform in transforms.items():
        torch.testing.assert_close(transform(ours), transform(theirs), msg=name)


@pytest.mark.filterwarnings("ignore")  # PyTorch's own, where its compiler stops at a call
def test_compiled_code_calls_the_function_as_it_is() -> None:
    calls = []

    @tb.for_arrays
    def counted(x: Array) -> Array:
        calls.append(type(x))
        return tb.sum(tb.sin(x))

    x = drawn(5)
    compiled = torch.compile(lambda x: counted(x * 2) * 3, backend="eager")
    for _ in range(3):
        (slope,) = torch.autograd.grad(compiled(x), x)
        torch.testing.assert_close(slope, 6 * torch.cos(2 * x))
    assert calls == [tb.Tensor] * 3
    with pytest.raises(Exception, match="tensorbackend computes it"):
        torch.compile(lambda x: counted(x), backend="eager", fullgraph=True)(x)


def test_two_libraries_are_an_error() -> None:
    with pytest.raises(tb.errors.BackendError, match=r"got x=torch.Tensor, y=numpy.ndarray; convert one"):
        ours(drawn(2, 3), numpy.ones((3, 2)))


def test_the_example_is_trained_by_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    library = importlib.import_module("for_any_library")

    place, points = torch.linspace(-3, 3, 12, dtype=torch.float64), drawn(20, 2).detach()
    seen = torch.sin(2 * place)
    logs = torch.tensor([0.1, -0.2, -1.0], dtype=torch.float64)

    def misfit(logs: Array, place: Array, seen: Array) -> Array:
        distance = (place[:, None] - place[None, :]) / torch.exp(logs[1])
        together = torch.exp(logs[0]) ** 2 * torch.exp(-(distance**2) / 2) + torch.exp(logs[2]) ** 2 * torch.eye(12)
        half = torch.linalg.cholesky(together)
        white = torch.linalg.solve_triangular(half, seen[:, None], upper=False)
        return (white**2).sum() / 2 + torch.log(torch.diagonal(half)).sum() + 6 * numpy.log(2 * numpy.pi)

    def spread(centres: Array, points: Array) -> Array:
        return ((points[:, None] - centres[None]) ** 2).sum(2).min(1).values.mean()

    def trained(loss: Any, start: Array, *data: Array) -> Array:
        weights = start.clone().requires_grad_()
        optimizer = torch.optim.SGD([weights], lr=0.02)
        slopes = []
        for _ in range(10):
            optimizer.zero_grad()
            loss(weights, *data).backward()
            slopes.append(weights.grad.clone())
            optimizer.step()
        return torch.stack(slopes)

    for mine, other, *data in (
        (library.misfit, misfit, logs, place, seen),
        (library.spread, spread, points[:3], points),
    ):
        torch.testing.assert_close(trained(mine, *data), trained(other, *data), rtol=1e-6, atol=1e-9)
    for one, other in zip(library.fitted(torch.from_numpy), library.fitted(numpy.asarray), strict=True):
        assert isinstance(one, torch.Tensor)
        numpy.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    sys.modules.pop("for_any_library")
