"""Models that others published, from file to results, compared with onnxruntime; and ONNX's models of networks."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy
import onnxruntime
import pytest
import tensorbackend as tb

from tensorbackend_onnx import load

SPEECH, SEQUENCE, STATE = (1, 576), (16, 576), (2, 1, 128)

PUBLISHED: dict[str, tuple[str, dict[str, tuple[int, ...]]]] = {
    "ch_PP-OCRv4_det_infer": ("rapidocr_onnxruntime/models", {"x": (1, 3, 64, 96)}),
    "ch_PP-OCRv4_rec_infer": ("rapidocr_onnxruntime/models", {"x": (1, 3, 48, 96)}),
    "ch_ppocr_mobile_v2.0_cls_infer": ("rapidocr_onnxruntime/models", {"x": (1, 3, 48, 192)}),
    "silero_vad": ("silero_vad/data", {"input": SPEECH, "state": STATE, "sr": ()}),
    "silero_vad_16k_op15": ("silero_vad/data", {"input": SPEECH, "state": STATE, "sr": ()}),
    "silero_vad_16k_sequence": ("silero_vad/data", {"input": SEQUENCE, "h": (1, 1, 128), "c": (1, 1, 128)}),
    "silero_vad_half": ("silero_vad/data", {"input": SPEECH, "state": STATE}),
    "silero_vad_op18_ifless": ("silero_vad/data", {"input": SPEECH, "sr": (), "state": STATE}),
    "silero_vad_openvino_16k": ("silero_vad/data", {"input": SPEECH, "state": STATE}),
}
"""Detection, recognition and direction of text in images, and of speech in sound: the folder and the inputs."""


def path_of(name: str) -> Path:
    """Where the wheel of a package, which is not imported, has put a model."""
    package, _, folder = PUBLISHED[name][0].partition("/")
    spec = find_spec(package)
    assert spec is not None, f"{package} is not installed: make onnx does"
    return Path(str(spec.origin)).parent / folder / f"{name}.onnx"


def inputs_of(name: str) -> dict[str, Any]:
    rng = numpy.random.default_rng(0)
    shapes = PUBLISHED[name][1]
    return {
        key: numpy.array(16000) if key == "sr" else (rng.standard_normal(shape) / 2).astype("f")
        for key, shape in shapes.items()
    }


def by_onnxruntime(name: str) -> list[Any]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path_of(name), options, providers=["CPUExecutionProvider"])
    results: list[Any] = session.run(None, inputs_of(name))
    return results


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
def test_a_published_model_computes_what_onnxruntime_computes(name: str, backend: str) -> None:
    model = load(path_of(name))
    results = model(**{key: tb.asarray(x, backend=backend) for key, x in inputs_of(name).items()})
    results = results if isinstance(results, tuple) else (results,)
    right = by_onnxruntime(name)
    assert len(results) == len(right)
    for result, expected in zip(results, right, strict=True):
        assert result.backend.name == backend
        near = 1e-5 * max(1.0, float(numpy.abs(expected).max()))
        numpy.testing.assert_allclose(numpy.asarray(result), expected, rtol=0, atol=near)


def test_the_smallest_runs_in_pure_python() -> None:
    model = load(path_of("silero_vad_op18_ifless"))
    result, _ = model(
        **{key: tb.asarray(x, backend="binary") for key, x in inputs_of("silero_vad_op18_ifless").items()}
    )
    assert result.backend.name == "binary"
    numpy.testing.assert_allclose(numpy.asarray(result), by_onnxruntime("silero_vad_op18_ifless")[0], rtol=0, atol=1e-5)


def test_a_published_model_is_differentiated_and_its_costs_are_predicted_without_data() -> None:
    model = load(path_of("ch_ppocr_mobile_v2.0_cls_infer"))
    x = tb.asarray(inputs_of("ch_ppocr_mobile_v2.0_cls_infer")["x"])

    def score(x: tb.Tensor) -> tb.Tensor:
        first: tb.Tensor = model(x)[0, 0]
        return first

    gradient = numpy.asarray(tb.grad(score)(x))
    assert gradient.shape == x.shape
    direction = numpy.random.default_rng(1).standard_normal(x.shape).astype("f")
    _, slope = tb.jvp(score, (x,), (tb.asarray(direction),))
    numpy.testing.assert_allclose(float((gradient * direction).sum()), slope.item(), rtol=1e-3)
    detector = load(path_of("ch_PP-OCRv4_det_infer"))
    report = tb.dry_run(detector.apply, detector.templates, tb.Template((1, 3, 640, 640), "f32"))
    assert 4e9 < report.flops < 6e9
    assert 30e6 < report.peak.memory < 100e6
