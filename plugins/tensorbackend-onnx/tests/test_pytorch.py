"""PyTorch's modules as functions: results and all gradients are PyTorch's, under the parameters' own names."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import tensorbackend as tb
import torch
from tensorbackend.errors import ArgumentError, MissingNameError, ShapeError, UnsupportedOp
from torch_modules import MODULES

from tensorbackend_onnx import from_torch


def leaves(result: Any) -> list[Any]:
    return tb.tree_leaves(result) if not isinstance(result, torch.Tensor) else [result]


@pytest.mark.parametrize("name", MODULES)
def test_results_and_gradients_are_pytorchs(name: str) -> None:
    torch.manual_seed(0)
    make, draw = MODULES[name]
    module, x = make().eval(), draw()
    for buffer in module.buffers():  # running means that differ from those of a new module
        if buffer.is_floating_point():
            buffer.uniform_(0.5, 1.5)
    results = leaves(module(x))
    weights = [torch.randn_like(result) for result in results]
    loss = sum((result * weight).sum() for result, weight in zip(results, weights, strict=True))
    assert isinstance(loss, torch.Tensor)
    loss.backward()  # type: ignore[no-untyped-call] # PyTorch's

    function = from_torch(module, x)
    shapes = {key: tuple(value.shape) for key, value in module.named_parameters()}
    assert {key: value.shape for key, value in function.parameters.items()} == shapes
    scales = [tb.asarray(weight.numpy()) for weight in weights]

    def objective(parameters: dict[str, tb.Tensor], x: tb.Tensor) -> tb.Tensor:
        given = tb.tree_leaves(function.apply(parameters, x))
        return sum((tb.sum(one * scale) for one, scale in zip(given, scales, strict=True)), start=tb.zeros(()))

    inputs = tb.asarray(x.numpy())
    for wanted, got in zip(results, tb.tree_leaves(function(inputs)), strict=True):
        numpy.testing.assert_allclose(numpy.asarray(got), wanted.detach().numpy(), rtol=1e-5, atol=1e-5)
    value, gradients = tb.jit(tb.value_and_grad(objective))(function.parameters, inputs)
    assert float(value) == pytest.approx(float(loss.detach()), rel=1e-4, abs=1e-4)
    for key, parameter in module.named_parameters():
        assert parameter.grad is not None
        wanted = parameter.grad.numpy()
        size = max(1.0, float(numpy.abs(wanted).max()))
        numpy.testing.assert_allclose(numpy.asarray(gradients[key]), wanted, rtol=1e-5, atol=1e-5 * size, err_msg=key)

    report = tb.dry_run(objective, function.templates, inputs.template, gradient=True)
    assert report.flops > 0
    nodes = tb.trace(objective)(function.parameters, inputs).nodes
    files = {node.line.file.rpartition("/")[2] for node in nodes if node.line is not None}
    assert files & {"torch_modules.py", "conv.py"}  # a `Sequential` has no line of the user's


class Halves(torch.nn.Module):
    """Nested inputs and results, an unused parameter, and a number among the inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.used, self.unused = torch.nn.Linear(3, 3), torch.nn.Linear(2, 2)
        self.register_buffer("shift", torch.ones(3))

    def forward(self, pair: dict[str, torch.Tensor], *, power: int = 2) -> tuple[Any, ...]:
        shift: Any = self.shift
        return self.used(pair["a"]) ** power + shift, None, [pair["b"] * 2]


def test_inputs_and_results_are_nested_as_the_modules() -> None:
    module = Halves().train()
    pair = {"a": torch.randn(2, 3), "b": torch.randn(2)}
    function = from_torch(module, pair, power=3)
    assert module.training
    given = {key: tb.asarray(x.numpy()) for key, x in pair.items()}
    first, nothing, (last,) = function(given, power=3)
    wanted = module(pair, power=3)
    numpy.testing.assert_allclose(numpy.asarray(first), wanted[0].detach().numpy(), rtol=1e-5)
    numpy.testing.assert_allclose(numpy.asarray(last), wanted[2][0].numpy(), rtol=1e-6)
    assert nothing is None
    assert {"unused.weight", "unused.bias"} < function.parameters.keys()
    assert [*function.buffers] == ["shift"]
    moved = function.apply({**function.parameters, "shift": tb.zeros(3)}, given, power=3)[0]
    numpy.testing.assert_allclose(numpy.asarray(moved), numpy.asarray(first) - 1, rtol=1e-5, atol=1e-6)
    with pytest.raises(ArgumentError, match=r"^Halves: expected inputs nested as \({'a': x, 'b': x}, power=x\), got "):
        function(given["a"], power=3)
    with pytest.raises(ArgumentError, match=r"missing=\['used.bias'\]"):
        function.apply({key: x for key, x in function.parameters.items() if key != "used.bias"}, given, power=3)


def test_arrays_of_a_library_with_a_backend_are_inputs_there() -> None:
    module = torch.nn.Linear(3, 4)
    function, x = from_torch(module, torch.zeros(2, 3)), torch.randn(2, 3)
    wanted = module(x).detach().numpy()
    for given in (x, x.numpy(), tb.asarray(x.numpy(), backend="binary"), tb.asarray(x.numpy(), backend="jax").data):
        result = function(given)
        assert result.backend.name == tb.asarray(given).backend.name
        numpy.testing.assert_allclose(numpy.asarray(result), wanted, rtol=1e-5, atol=1e-6)


class WithOwn(torch.nn.Module):
    """A module with a parameter, a buffer that is read, and constants."""

    def __init__(self) -> None:
        super().__init__()
        self.used = torch.nn.Linear(3, 3)
        self.register_buffer("mask", torch.tensor([1.0, 0.0, 1.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask: Any = self.mask
        result: torch.Tensor = torch.triu(self.used(x)) * mask + torch.tensor([1.0, 2.0, 3.0]) + torch.zeros(3)
        return result


@pytest.mark.parametrize("backend", ["binary", "jax", "numpy", "torch"])
def test_what_a_module_has_of_its_own_follows_its_inputs(backend: str) -> None:
    torch.manual_seed(0)
    module, x = WithOwn(), torch.randn(3, 3)
    function, here = from_torch(module, x), tb.asarray(x.numpy(), backend=backend)
    parameters = tb.backend_copy(function.parameters, backend)
    wanted = module(x)
    (wanted**2).sum().backward()

    def loss(parameters: dict[str, tb.Tensor], x: tb.Tensor) -> tb.Tensor:
        return tb.sum(function.apply(parameters, x) ** 2)

    calls: dict[str, Callable[[tb.Tensor], Any]] = {
        "call": function, "jit": tb.jit(function), "apply": lambda x: function.apply(parameters, x),
        "compiled": lambda x: tb.jit(function.apply)(parameters, x),
        "vmap": lambda x: tb.vmap(function)(x[None])[0],
    }  # fmt: skip
    for name, call in calls.items():
        result = call(here)
        assert result.backend is here.backend, name
        numpy.testing.assert_allclose(numpy.asarray(result), wanted.detach().numpy(), rtol=1e-5, atol=1e-6)
    for gradient in (tb.grad(loss), tb.jit(tb.grad(loss))):
        slope = gradient(parameters, here)["used.weight"]
        assert slope.backend is here.backend
        of_weight: Any = module.used.weight.grad
        numpy.testing.assert_allclose(numpy.asarray(slope), of_weight.numpy(), rtol=1e-5, atol=1e-5)
    assert tb.dry_run(loss, function.templates, "f32[3, 3]", gradient=True).fits("1MB")


def test_wrong_guesses_say_what_to_write() -> None:
    module, x = torch.nn.Linear(2, 3), torch.zeros(1, 2)
    cases: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
        ((), {}, r"an example of each input of Linear.forward\(input: torch.Tensor\).*; as in from_torch\(module, "),
        ((x,), {"dynamic": True}, r"open sizes are dynamic_shapes=\({0: 'batch'},\)$"),
        (("f32[1, 2]",), {}, r"expected PyTorch's tensors as examples, got example='f32\[1, 2\]'; as in torch.zeros"),
        ((x.numpy(),), {}, r"or torch.as_tensor\(x\)$"),
    ]
    for examples, named, remedy in cases:
        with pytest.raises(ArgumentError, match=rf"^from_torch: .*{remedy}"):
            from_torch(module, *examples, **named)
    with pytest.raises(UnsupportedOp, match=r"write from_torch\(module, \*example\) for the inputs in a tuple$"):
        from_torch(module, (x,))
    function = from_torch(module, x)
    with pytest.raises(ArgumentError, match=r"expected inputs nested as \(x\), .*; f.apply\(parameters, "):
        function(function.parameters, x)
    with pytest.raises(MissingNameError, match=r"write f.parameters, and f.buffers for running means$"):
        function.state_dict()  # type: ignore[attr-defined]


def test_an_open_batch_fits_other_sizes() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    function = from_torch(module, torch.zeros(2, 3), dynamic_shapes=({0: "batch"},))
    kind: Any = function.model.inputs["input"]
    assert kind.names == ("batch", None)
    x = torch.randn(7, 3)
    numpy.testing.assert_allclose(
        numpy.asarray(function(tb.asarray(x.numpy()))), module(x).detach().numpy(), rtol=1e-5, atol=1e-6
    )


def test_a_module_is_trained_and_fitted() -> None:
    torch.manual_seed(0)
    function = from_torch(
        torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)), torch.zeros(4, 3)
    )
    x, y = tb.random.normal(tb.random.key(0), (4, 3)), tb.ones((4, 1))

    def loss(parameters: dict[str, tb.Tensor], x: tb.Tensor) -> tb.Tensor:
        return tb.mean((function.apply(parameters, x) - y) ** 2)

    step = tb.jit(tb.value_and_grad(loss))
    parameters = function.parameters
    first = float(step(parameters, x)[0])
    for _ in range(20):
        _, gradients = step(parameters, x)
        parameters = {key: parameters[key] - 0.1 * gradients[key] for key in parameters}
    assert float(step(parameters, x)[0]) < 0.1 * first
    fitted = tb.fit(tb.value_and_grad(loss), "1MB")
    assert float(fitted(function.parameters, x)[0]) == pytest.approx(first, rel=1e-5)


def test_a_module_is_fitted_into_less_by_parts() -> None:
    """An eager gradient and a trace of it find the same parts, and computing some again changes no bit."""
    torch.manual_seed(0)
    layers = [torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.Tanh(), torch.nn.Linear(64, 32)) for _ in range(8)]
    function = from_torch(torch.nn.Sequential(*layers), torch.zeros(2048, 32))

    def loss(parameters: dict[str, tb.Tensor], x: tb.Tensor) -> tb.Tensor:
        return tb.mean(function.apply(parameters, x) ** 2)

    step, x = tb.value_and_grad(loss), tb.random.normal(tb.random.key(0), (2048, 32))
    limit = int(0.5 * tb.dry_run(step, function.templates, "f32[2048, 32]").peak.memory)
    found = tb.dry_run(step, function.templates, "f32[2048, 32]", fits=limit).recomputation
    assert found is not None
    assert found.fits
    assert {*found.calls} == {"part"}
    fitted = tb.fit(step, limit)
    value, slopes = fitted(function.parameters, x)
    wanted, others = step(function.parameters, x)
    assert float(value) == float(wanted)
    for name, slope in slopes.items():
        numpy.testing.assert_array_equal(numpy.asarray(slope), numpy.asarray(others[name]))
    tracemalloc.start()
    try:
        fitted(function.parameters, x)
        taken = tracemalloc.get_traced_memory()[1] + sum(w.nbytes for w in (x, *function.parameters.values()))
    finally:
        tracemalloc.stop()
    assert taken <= found.promised <= limit


def layers(count: int, make: Any) -> torch.nn.Module:
    return torch.nn.Sequential(*[make() for _ in range(count)])


class Attention(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=x[0, 0, :, :1] <= 0)
        return result


GATED = ((64, 8), lambda: torch.nn.Sequential(torch.nn.Linear(8, 512), torch.nn.SiLU(), torch.nn.Linear(512, 8)), 512)
ATTENDED = ((1, 4, 64, 4), Attention, 4 * 64)


@pytest.mark.parametrize(("shape", "make", "width", "most"), [(*GATED, 2.2), (*ATTENDED, 1.3)])
def test_what_is_kept_of_an_op_that_pytorch_exports_in_parts(
    shape: tuple[int, ...], make: Any, width: int, most: float
) -> None:
    x = torch.zeros(shape)

    def peak(count: int) -> int:
        function = from_torch(layers(count, make), x)

        def loss(parameters: Any, x: tb.Tensor) -> tb.Tensor:
            return tb.sum(function.apply({name: parameters[name] for name in function.parameters}, x + parameters["x"]))

        templates = {**function.templates, "x": tb.asarray(x.numpy()).template}
        report = tb.dry_run(loss, templates, tb.asarray(x.numpy()).template, gradient=True)
        return report.eager.peak.memory - report.eager.timeline.parameters - report.eager.timeline.results

    # Two or one arrays of each layer, next to smaller ones.
    assert peak(8) - peak(4) < most * 4 * 64 * width * 4


def test_attention_that_sees_nothing_is_zero_with_pytorchs_gradients() -> None:
    class Masked(torch.nn.Module):
        def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = torch.nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=mask)
            return result

    torch.manual_seed(0)
    x, mask = torch.randn(1, 2, 3, 4, requires_grad=True), torch.zeros(3, 3)
    mask[0], mask[1, 1], mask[2, 2] = -torch.inf, -torch.inf, 0.5
    wanted = Masked()(x, mask)
    wanted.square().sum().backward()
    function = from_torch(Masked(), x.detach(), mask)
    given, seen = tb.asarray(x.detach().numpy()), tb.asarray(mask.numpy())
    numpy.testing.assert_allclose(numpy.asarray(function(given, seen)), wanted.detach().numpy(), rtol=1e-5, atol=1e-6)
    slopes = tb.grad(lambda x: tb.sum(tb.square(function(x, seen))))(given)
    assert x.grad is not None
    numpy.testing.assert_allclose(numpy.asarray(slopes), x.grad.numpy(), rtol=1e-5, atol=1e-6)
    with torch.no_grad():
        x[0, 0, 1, 2] = torch.nan
        spoilt = Masked()(x, mask).numpy()
    found = numpy.asarray(function(tb.asarray(x.detach().numpy()), seen))
    # A NaN is not taken for nothing seen. Where nothing is seen, it spreads from the values alone.
    numpy.testing.assert_array_equal(numpy.isnan(found).any(-1), numpy.isnan(spoilt).any(-1))


class Branching(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return x + 1
        return x


class Spectral(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = torch.linalg.eigvalsh(x)
        return values


@pytest.mark.parametrize(
    ("inner", "words"),
    [(Branching, "data-dependent"), (Spectral, "No ONNX function found for")],
)
def test_what_is_not_exported_is_said_with_the_module_and_the_line(inner: type[torch.nn.Module], words: str) -> None:
    module = torch.nn.Sequential(torch.nn.Linear(3, 3), inner())
    number = inner.forward.__code__.co_firstlineno + 1
    with pytest.raises(UnsupportedOp, match=rf"{inner.__name__} at '1', .*test_pytorch\.py:{number}: .*{words}"):
        from_torch(module, torch.zeros(3, 3))


def test_parameters_that_the_exporter_cannot_write_are_refused_at_once() -> None:
    with torch.device("meta"):
        without_data = torch.nn.Linear(2, 3)
    with pytest.raises(ArgumentError, match="expected parameters with data, got device='meta'"):
        from_torch(without_data, torch.zeros(1, 2))
    large = torch.nn.Linear(2, 3)
    large.bias = torch.nn.Parameter(torch.zeros(1).expand(2**29))  # 2 GiB of which one number is in memory
    with pytest.raises(ArgumentError, match="less than 2 GiB of parameters"):
        from_torch(large, torch.zeros(1, 2))


def test_another_size_than_at_the_export_says_how_to_leave_it_open() -> None:
    function = from_torch(torch.nn.Linear(2, 3), torch.zeros(1, 2))
    with pytest.raises(ShapeError, match="dynamic_shapes="):
        function(tb.ones((4, 2)))
