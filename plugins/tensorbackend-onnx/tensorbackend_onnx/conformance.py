"""ONNX's own tests, `onnx.backend.test`, through the importer on any backend: a judge that others wrote.

>>> from tensorbackend_onnx.conformance import cases, run
>>> [run(case, "numpy").status for case in cases("node", only="test_abs")]
['pass']
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy
import onnx
import tensorbackend as tb
from onnx import ModelProto, TensorProto, numpy_helper
from tensorbackend.dtypes import as_dtype
from tensorbackend.errors import TensorBackendError

from .model import load

KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted", "real")
"""The parts of ONNX's tests; "real" are models of networks, with equal weights."""

NARROW = frozenset({TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2FNUZ})
"""The element types of 8-bit floats that no tensor has: those without infinities and -0.0."""

RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
TEXT = {"StringConcat", "StringNormalizer", "StringSplit", "RegexFullMatch"}

OUT_OF_SCOPE = ("narrow dtypes", "strings", "machine learning", "training", "images", "random numbers")
"""What the importer leaves out, a category each."""

STATUSES = ("pass", "fail", "divergence", *OUT_OF_SCOPE)
"""What may come of a case."""


class Divergence(NamedTuple):
    """Cases in which results differ from ONNX's, and why that stays; they are looked up only after a failure."""

    names: str
    """A pattern that the names match as a whole."""
    reason: str
    backends: tuple[str, ...] = ()
    """The backends concerned, all of them by default."""


_OUT_OF_RANGE = Divergence(
    "test_cast(like)?_FLOAT(16)?_to_U?INT[24](_expanded)?",
    "ONNX leaves open what numbers outside of the range become; ours wrap, ml_dtypes has 0 from 0.7 on",
)
_ZERO = tuple(map(int, ml_dtypes.__version__.split(".")[:2])) >= (0, 7)
"""Whether ml_dtypes, which computes ONNX's values, has 0 for such numbers."""

DIVERGENCES = (
    *((_OUT_OF_RANGE,) if _ZERO else ()),
    Divergence(
        "test_attention_4d_causal_fp16(_expanded)?",
        "ONNX's values are rounded to float16 after each addition, ours once",
    ),
    Divergence(
        "test_dft_inverse(_opset19)?",
        "ONNX's values are rounding errors of 2e-7, more than the tolerance of 1e-7, where ours are zeros",
        ("binary", "torch"),
    ),
    Divergence(
        "test_dft(_axis)?(_opset19)?",
        "rounding errors of float32, more than the tolerance of 1e-7, where ONNX's values are zeros",
        ("jax",),
    ),
    Divergence("test_training_dropout(_default)?(_mask)?", "NumPy's generator drew ONNX's values"),
)
"""All of them: a row a cause."""


class Case(NamedTuple):
    """A test of ONNX's: a model, and what it gives for some inputs."""

    kind: str
    name: str
    model: ModelProto | Path
    data: Sequence[tuple[Sequence[Any], Sequence[Any]]]
    rtol: float
    atol: float


class Outcome(NamedTuple):
    """What came of a case on a backend."""

    kind: str
    name: str
    status: str
    """"pass", "fail", "divergence" for a row of `DIVERGENCES`, or a category of `OUT_OF_SCOPE`."""
    detail: str = ""


def kinds_for(backend: tb.BackendLike) -> tuple[str, ...]:
    """The kinds whose cases a backend runs in minutes: pure Python takes hours for networks."""
    return KINDS if tb.get_backend(backend).name != "binary" else tuple(kind for kind in KINDS if kind != "real")


def cases(*kinds: str, only: str | None = None) -> Iterator[Case]:
    """The tests of some kinds, all by default, or those whose names match a pattern as a whole."""
    for kind in kinds or KINDS:
        for test in _tests(kind):
            if only is None or re.fullmatch(only, test.name):
                yield _case(kind, test)


@cache
def _tests(kind: str) -> list[Any]:
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tests compute infinities and NaN on purpose
        return list(load_model_tests(kind=kind))


def _case(kind: str, test: Any) -> Case:
    if kind == "node":
        return Case(kind, test.name, test.model, test.data_sets, test.rtol, test.atol)
    if kind == "real":
        return Case(kind, test.name, *_light(test), test.rtol, test.atol)
    folder = Path(test.model_dir)
    model = onnx.load(folder / "model.onnx")
    data = []
    for part in sorted(folder.glob("test_data_set_*")):
        inputs = [_read(part / f"input_{n}.pb", value) for n, value in enumerate(model.graph.input)]
        outputs = [_read(part / f"output_{n}.pb", value) for n, value in enumerate(model.graph.output)]
        data.append(([x for x in inputs if x is not _ABSENT], [x for x in outputs if x is not _ABSENT]))
    return Case(kind, test.name, folder / "model.onnx", data, test.rtol, test.atol)


_ABSENT = object()


def _read(path: Path, value: Any) -> Any:
    if not path.exists():
        return _ABSENT
    kind = value.type.WhichOneof("value")
    content = path.read_bytes()
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(content))
    if kind == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(content))
    return numpy_helper.to_array(TensorProto.FromString(content))


def _light(test: Any) -> tuple[Path, list[tuple[list[Any], list[Any]]]]:
    """A model of a network, with equal weights, whose input is a ramp from 0 to 1."""
    from onnx.backend.test.runner import Runner

    path = Path(onnx.__file__).parent.parent / test.url
    model = onnx.load(path)
    stored = {tensor.name for tensor in model.graph.initializer}
    inputs = [Runner.generate_dummy_data(value) for value in model.graph.input if value.name not in stored]
    output = TensorProto.FromString(path.with_name(f"{path.stem}_output_0.pb").read_bytes())
    return path, [(inputs, [numpy_helper.to_array(output)])]


def out_of_scope(model: ModelProto) -> str | None:
    """The category for which the importer leaves a model out, `None` for a model that it takes."""
    domains = {node.domain for node in model.graph.node} | {entry.domain for entry in model.opset_import}
    types = set(re.findall(r"elem_type: (\d+)|data_type: (\d+)", str(model)))
    numbers = {int(number) for pair in types for number in pair if number}
    numbers |= {attribute.i for node in model.graph.node for attribute in node.attribute if attribute.name == "to"}
    names = {node.op_type for node in model.graph.node}
    if numbers & NARROW:
        return "narrow dtypes"
    if TensorProto.STRING in numbers or names & TEXT:
        return "strings"
    if "ai.onnx.ml" in domains:
        return "machine learning"
    if "ai.onnx.preview.training" in domains:
        return "training"
    if "ImageDecoder" in names:
        return "images"
    return "random numbers" if names & RANDOM else None


def run(case: Case, backend: tb.BackendLike) -> Outcome:
    """Run a case on a backend, and compare its results with ONNX's."""
    proto = case.model if isinstance(case.model, ModelProto) else onnx.load(case.model)
    category = out_of_scope(proto)
    if category is not None:
        return Outcome(case.kind, case.name, category)
    try:
        with tb.default_backend(backend):
            model = load(case.model, backend=backend)
            for inputs, wanted in case.data:
                results = model(*map(_tensor, inputs))
                _compare(results if isinstance(results, tuple) else (results,), wanted, case)
    except (AssertionError, TensorBackendError) as error:
        row = divergence(case.name, backend)
        if row is not None:
            return Outcome(case.kind, case.name, "divergence", row.reason)
        return Outcome(case.kind, case.name, "fail", f"{type(error).__name__}: {error}")
    except Exception as error:  # a backend that is being proved may raise anything
        return Outcome(case.kind, case.name, "fail", f"raised {type(error).__name__}: {error}")
    return Outcome(case.kind, case.name, "pass")


def divergence(name: str, backend: tb.BackendLike) -> Divergence | None:
    """The row about a case on a backend, `None` if there is none."""
    chosen = tb.get_backend(backend).name
    concerned = (row for row in DIVERGENCES if not row.backends or chosen in row.backends)
    return next((row for row in concerned if re.fullmatch(row.names, name)), None)


def _tensor(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_tensor(item) for item in value]
    if isinstance(value, TensorProto):
        value = numpy_helper.to_array(value)
    return None if value is None else tb.asarray(numpy.asarray(value))


def _compare(result: Any, right: Any, case: Case) -> None:
    """Compare results, which may be nested."""
    if isinstance(right, list | tuple):
        assert isinstance(result, list | tuple), f"{type(result).__name__}, expected a sequence"
        assert len(result) == len(right), f"{len(result)} results, expected {len(right)}"
        for one, other in zip(result, right, strict=True):
            _compare(one, other, case)
        return
    if right is None:
        assert result is None, "a value, expected none"
        return
    array, rtol = numpy.asarray(result), case.rtol
    expected = numpy_helper.to_array(right) if isinstance(right, TensorProto) else numpy.asarray(right)
    assert array.shape == expected.shape, f"shape {array.shape}, expected {expected.shape}"
    assert array.dtype == expected.dtype, f"dtype {array.dtype}, expected {expected.dtype}"
    bfloat16 = array.dtype.name == "bfloat16"
    if bfloat16 or as_dtype(array.dtype).is_narrow:
        array, expected = array.astype(numpy.float32), expected.astype(numpy.float32)
    # bfloat16 as ONNX's own runner has it
    numpy.testing.assert_allclose(array, expected, rtol=max(rtol, 2**-6) if bfloat16 else rtol, atol=case.atol)


def totals(outcomes: Iterable[Outcome]) -> dict[str, Counter[str]]:
    """The number of cases of each status, by kind."""
    counts: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        counts.setdefault(outcome.kind, Counter())[outcome.status] += 1
    return counts
