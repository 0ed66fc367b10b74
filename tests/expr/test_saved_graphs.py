"""Graphs in files: what comes back computes the same, and what a stranger wrote is refused."""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, FileError, TensorBackendError
from tensorbackend.expr.saved_graphs import KEY
from tensorbackend.files import safetensors


class Pair(NamedTuple):
    """A result with names."""

    mean: tb.Tensor
    rest: tb.Tensor


WEIGHT = tb.asarray(numpy.random.default_rng(0).standard_normal((3, 2)), names=("feature", None))


def network(parameters: dict[str, Any], x: tb.Tensor, scale: float = 2.0) -> Pair:
    hidden = tb.nn.relu(tb.dot(x, WEIGHT, contract="feature") * scale + parameters["bias"])
    windows = tb.window_max(hidden, (1, 2), padding="same")
    return Pair(tb.mean(windows, axis=1), tb.conv(hidden[:, None], parameters["kernel"], padding="same"))


PARAMETERS = {"bias": tb.asarray([0.5, -1.0]), "kernel": tb.ones((1, 1, 3))}
X = tb.asarray(numpy.random.default_rng(1).standard_normal((4, 3)), names=("batch", "feature"))


def back(graph: tb.Graph, folder: Path, backend: str = "numpy") -> tb.Graph:
    """The graph after it was in a file."""
    tb.save_graph(folder / "graph.safetensors", graph)
    return tb.load_graph(folder / "graph.safetensors", backend=backend)


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_a_network_comes_back(tmp_path: Path, backend: str) -> None:
    graph = tb.trace(network)(PARAMETERS, X, 2.0)
    program = back(graph, tmp_path, backend)
    assert [node.op for node in program.nodes] == [node.op for node in graph.nodes]
    parameters, x = tb.backend_copy((PARAMETERS, X), backend)
    found, wanted = program(parameters, x, 2.0), network(PARAMETERS, X)
    assert found.mean.names == ("batch",)
    assert found.mean.backend.name == backend
    for one, other in zip(found, wanted, strict=True):
        numpy.testing.assert_allclose(numpy.asarray(one), numpy.asarray(other), rtol=1e-6)
    with pytest.raises(ArgumentError, match="trace again"):
        program(parameters, x, 3.0)


def test_a_program_is_differentiated_and_compiled(tmp_path: Path) -> None:
    program = back(tb.trace(network)(PARAMETERS, X), tmp_path)

    def loss(function: Callable[..., Any], parameters: Any) -> tb.Tensor:
        return tb.sum(function(parameters, X)[1] ** 2)

    one, other = (
        tb.jit(tb.grad(lambda parameters, function=function: loss(function, parameters)))(PARAMETERS)
        for function in (program, network)
    )
    for name in PARAMETERS:
        numpy.testing.assert_allclose(numpy.asarray(one[name]), numpy.asarray(other[name]), rtol=1e-5)
    assert tb.trace(program)(PARAMETERS, X).results == tb.trace(network)(PARAMETERS, X).results
    assert str(tb.dry_run(program, PARAMETERS, X)).count("conv") == str(tb.dry_run(network, PARAMETERS, X)).count(
        "conv"
    )


def test_a_captured_complex_tensor_keeps_infinities_and_signs_of_zeros(tmp_path: Path) -> None:
    numbers = tb.tensor([complex(0.0, math.inf), complex(math.inf, 1.0), complex(1.0, -0.0)], dtype="c128")
    program = back(tb.trace(lambda: numbers)(), tmp_path)
    assert program().to_binary() == numbers.to_binary()


def test_control_flow_and_every_kind_of_number(tmp_path: Path) -> None:
    complex_numbers = tb.asarray([1 + 2j, 3 - 1j], dtype="c128")

    def function(x: tb.Tensor, n: tb.Tensor) -> Any:
        x = tb.cond(n > 2, lambda x: x * 2, lambda x: tb.sqrt(x), x)
        x, _ = tb.while_loop(lambda state: state[1] > 0, lambda state: (state[0] + 1.5, state[1] - 1), (x, n))
        total, rows = tb.scan(lambda total, row: (total + row, total * row), tb.zeros(()), x, reverse=True)
        extras = tb.linspace(0.0, 1.0, 3), tb.full((2,), -tb.inf), tb.eye(2, k=1), tb.arange(5, dtype="u8")
        return {"a": [total, rows], "b": extras, "c": complex_numbers * tb.sum(x), "none": None}

    arguments = tb.asarray([1.0, 4.0]), tb.asarray(3)
    found, wanted = back(tb.trace(function)(*arguments), tmp_path)(*arguments), function(*arguments)
    assert repr(found) == repr(wanted)


@tb.composite
def ours(x: tb.Tensor, /) -> tb.Tensor:
    """A composite that no other program has."""
    return tb.exp(x) + 1


def test_ops_of_elsewhere_become_their_parts(tmp_path: Path) -> None:
    double = tb.custom_gradient(lambda x: (x * 2, lambda cotangent: (cotangent * 100,)))
    program = back(tb.trace(lambda x: double(ours(x)))("f32[n=2]"), tmp_path)
    assert [node.op for node in program.nodes if node.inputs] == ["exp", "add", "multiply"]
    assert program(tb.zeros(2)).tolist() == [4.0, 4.0]


def test_what_a_file_cannot_hold_is_refused_with_its_line(tmp_path: Path) -> None:
    graph = tb.trace(lambda x: tb.map(x, function=lambda element: element + 1))("f32[n=2]")
    with pytest.raises(ArgumentError, match=r"op='map', line='test_saved_graphs.py:\d+'"):
        tb.save_graph(tmp_path / "graph.safetensors", graph)
    with pytest.raises(ArgumentError, match=r"a file name that ends in \.safetensors"):
        tb.save_graph(tmp_path / "graph.json", graph)


def rewritten(path: Path, change: Callable[[Any], Any]) -> None:
    """Change the program in a file."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header["__metadata__"][KEY] = json.dumps(change(json.loads(header["__metadata__"][KEY])))
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])


def node_of(document: Any, op: str) -> Any:
    return next(node for node in document["graph"]["nodes"] if node["op"] == op)


MISTAKES: list[tuple[Callable[[Any], Any], str]] = [
    (lambda d: node_of(d, "window_max")["out"].update(shape=[4, 99]), "in node .*, window_max: .*expected the result"),
    (lambda d: node_of(d, "window_max")["options"]["windows"]["windows"].__setitem__(0, 7), "window_max"),
    (lambda d: node_of(d, "conv")["out"].update(shape=[4, 1, 10**9]), "conv: .*expected the result"),
    (lambda d: node_of(d, "conv")["options"].update(feature_groups=0), "feature_groups of at least 1"),
    (lambda d: node_of(d, "relu")["in"].__setitem__(0, [10**6, 0]), "an input .* that is not computed before"),
    (lambda d: node_of(d, "relu").update(op="os.system"), "KeyError"),
    (lambda d: node_of(d, "relu")["in"].append([0, 0]), "1 operands of relu"),
    (lambda d: node_of(d, "relu")["options"].update(y=1), "the options"),
    (lambda d: node_of(d, "captured").update(tensor="1"), "KeyError"),
    (lambda d: d["ops"].update(conv=2), "ops in the versions of this tensorbackend, got .*versions={'conv': 2}"),
    (lambda d: d["ops"].update(fft_of_2040=1), "ops that this version of tensorbackend has"),
    (lambda d: d.update(format=9), "a program of format 1"),
    (lambda d: d["graph"]["outputs"].pop(), "results that do not fit their nesting"),
]


@pytest.mark.parametrize(("mistake", "text"), MISTAKES)
def test_a_false_program_is_refused(tmp_path: Path, mistake: Callable[[Any], Any], text: str) -> None:
    path = tmp_path / "graph.safetensors"
    tb.save_graph(path, tb.trace(network)(PARAMETERS, X))

    def change(document: Any) -> Any:
        mistake(document)
        return document

    rewritten(path, change)
    with pytest.raises(FileError, match=text):
        tb.load_graph(path)


def spoil(value: Any, rng: random.Random) -> Any:
    """A document with one part of it replaced by another value."""
    if isinstance(value, dict | list) and value and rng.random() < 0.9:
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        copy: Any = dict(value) if isinstance(value, dict) else list(value)
        copy[key] = spoil(copy[key], rng)
        return copy
    if isinstance(value, dict) and value and rng.random() < 0.5:
        key = rng.choice(list(value))
        return {f"{name}x" if name == key else name: part for name, part in value.items()}
    if isinstance(value, list) and value and rng.random() < 0.5:
        return [*value, rng.choice(value)]
    return rng.choice([None, -1, 0, 10**12, 2**70, "x", [], {}, [[0, 0]], 1.5, True, {"tuple": [1]}, "float32"])


MUTATIONS = int(os.environ.get("TENSORBACKEND_EXAMPLES", "150"))


def test_random_changes_are_refused_or_harmless(tmp_path: Path) -> None:
    path, rng = tmp_path / "graph.safetensors", random.Random(0)
    tb.save_graph(path, tb.trace(network)(PARAMETERS, X))
    whole = path.read_bytes()
    refused = ran = 0
    for _ in range(MUTATIONS):
        path.write_bytes(whole)
        rewritten(path, lambda document: spoil(document, rng))
        try:
            program = tb.load_graph(path)
        except FileError:
            refused += 1
            continue
        assert [template.shape for template in program.results] == [(4,), (4, 1, 2)]
        try:
            results = program(*(tb.ones(x.shape, dtype=x.dtype, names=x.names) for x in program.templates))
        except TensorBackendError:  # such as for arguments nested in another way
            continue
        assert len(results) == 2
        ran += 1
    assert MUTATIONS / 2 < refused < MUTATIONS
    assert ran
    path.write_bytes(whole[:40])
    with pytest.raises(FileError):
        tb.load_graph(path)
    with path.open("wb") as file:
        safetensors.write(file, {"x": tb.ones(2)})
    with pytest.raises(FileError, match=r"a file that save_graph\(\) wrote"):
        tb.load_graph(path)
