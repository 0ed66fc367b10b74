"""Files of quantised models: names, folders, configurations, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import FileError

RNG = np.random.default_rng(0)
NUMBERS = tb.asarray(RNG.integers(-128, 128, (4, 8)).astype(np.int8))
SCALES = tb.asarray([[0.5], [1.0], [2.0], [4.0]])
DENSE = (np.asarray(NUMBERS) * np.asarray(SCALES)).tolist()


def dense(found: Any, name: str = "up.weight") -> Any:
    return tb.dequantize(found[name]).tolist()


def test_other_tensors_come_as_they_are(tmp_path: Path) -> None:
    bias = tb.asarray([1.0, 2.0], dtype="bfloat16", names=("feature",))
    tensors = {
        "up.weight_scale": SCALES.rename("out", None),  # before the numbers
        "bias": bias,
        "up.weight": NUMBERS.rename("out", "in"),
        "down.weight": tb.ones((2, 2)),
        "up.input_scale": tb.asarray(0.5),
        "num_blocks": tb.asarray([3]),
        "num_scales": tb.asarray([4]),
        "mask.scales": tb.asarray([1.5]),
    }
    tb.save(tmp_path / "m.safetensors", tensors)
    found: Any = tb.load_quantized(tmp_path / "m.safetensors")
    assert list(found) == [name for name in tensors if name != "up.weight_scale"]
    assert dense(found) == DENSE
    assert found["bias"].template is bias.template
    assert found["bias"].tolist() == [1.0, 2.0]
    assert isinstance(found["down.weight"], tb.Tensor)
    assert found["mask.scales"].tolist() == [1.5]


@pytest.mark.parametrize("backend", ["jax", "template"])
def test_tensors_are_on_the_backend(backend: str, tmp_path: Path) -> None:
    tb.save(tmp_path / "m.safetensors", {"weight": NUMBERS, "weight_scale": SCALES, "bias": tb.ones(4)})
    found: Any = tb.load_quantized(tmp_path, backend)
    assert {x.backend.name for x in tb.tree_leaves(found)} == {backend}
    if backend != "template":
        assert dense(found, "weight") == DENSE


def test_a_matrix_may_be_in_two_files_of_a_folder(tmp_path: Path) -> None:
    tb.save(tmp_path / "model-1.safetensors", {"up.weight": NUMBERS})
    tb.save(tmp_path / "model-2.safetensors", {"up.weight_scale": SCALES})
    assert dense(tb.load_quantized(tmp_path)) == DENSE
    assert tb.load_quantized(tmp_path / "model-1.safetensors")["up.weight"].dtype is tb.int8
    message = "the numbers of a quantised matrix .*name='up.weight_scale'; .*pass their folder"
    with pytest.raises(FileError, match=message):
        tb.load_quantized(tmp_path / "model-2.safetensors")
    tb.save(tmp_path / "model-3.safetensors", {"up.weight": NUMBERS})
    with pytest.raises(FileError, match=r"each tensor in one file, got path='.*model-3.*', name='up.weight'"):
        tb.load_quantized(tmp_path)


def gptq(stored: int) -> dict[str, Any]:
    """Return a matrix of 8 by 8 with the code 9 everywhere, and a stored zero point."""
    word = sum(9 << 4 * place for place in range(8))
    point = sum(stored << 4 * place for place in range(8))
    return {
        "up.qweight": tb.asarray(np.full((1, 8), word, np.uint32).view(np.int32)),
        "up.qzeros": tb.asarray(np.full((1, 1), point, np.uint32).view(np.int32)),
        "up.scales": tb.ones((1, 8), dtype="float16"),
    }


@pytest.mark.parametrize(
    ("configuration", "less"),
    [(None, 1), ({}, 1), ({"quantization_config": {"checkpoint_format": "gptq"}}, 1), ([], 1),
     ({"quantization_config": {"checkpoint_format": "gptq_v2"}}, 0)],
)  # fmt: skip
def test_the_configuration_says_how_zero_points_are_stored(configuration: Any, less: int, tmp_path: Path) -> None:
    tb.save(tmp_path / "m.safetensors", gptq(8 - less))
    if configuration is not None:
        (tmp_path / "config.json").write_text(json.dumps(configuration))
    for path in (tmp_path, tmp_path / "m.safetensors"):
        assert dense(tb.load_quantized(path)) == [[1.0] * 8] * 8


def test_the_configuration_says_the_size_of_blocks(tmp_path: Path) -> None:
    scales = np.array([[1, 2], [4, 8]], np.float32)
    weight = tb.ones((4, 8), dtype="float8_e4m3fn")
    tb.save(tmp_path / "m.safetensors", {"up.weight": weight, "up.weight_scale_inv": tb.asarray(scales)})
    with pytest.raises(FileError, match="block of 128 by 128 of 4 by 8"):
        tb.load_quantized(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"quantization_config": {"weight_block_size": [2, 4]}}))
    assert dense(tb.load_quantized(tmp_path)) == np.kron(scales, np.ones((2, 4))).tolist()


@pytest.mark.parametrize(
    "text", ["{", "[" * 100_000, '{"quantization_config": {"weight_block_size": [0, 4]}}', "\xff", " " * 10_000_001]
)
def test_a_broken_configuration_is_named(text: str, tmp_path: Path) -> None:
    tb.save(tmp_path / "m.safetensors", gptq(7))
    (tmp_path / "config.json").write_bytes(text.encode("latin1"))
    with pytest.raises(FileError, match=r"load_quantized: .*config\.json"):
        tb.load_quantized(tmp_path)


FOREIGN = {
    "bitsandbytes": {"up.weight": tb.ones((4, 1), dtype="uint8"), "up.weight.absmax": tb.ones(1)},
    "LLM.int8": {"up.weight": NUMBERS, "up.SCB": tb.ones(4)},
    "Marlin": {"up.B": tb.ones((2, 2), dtype="int32"), "up.s": tb.ones((2, 2))},
    "sparse": {"up.weight.bitmask": tb.ones((2, 2), dtype="uint8"), "up.weight.compressed": tb.ones(4)},
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_unknown_layouts_are_refused(kind: str, tmp_path: Path) -> None:
    tb.save(tmp_path / "m.safetensors", FOREIGN[kind])
    with pytest.raises(FileError, match=r"a layout of GPTQ, .*name='up\..*read the tensors as they are with load"):
        tb.load_quantized(tmp_path)


def test_a_name_can_stand_for_one_tensor(tmp_path: Path) -> None:
    tb.save(tmp_path / "m.safetensors", {**gptq(7), "up.weight": tb.ones((8, 8))})
    with pytest.raises(FileError, match=r"one tensor for each matrix, got .*name='up\.weight', other='up\.qweight'"):
        tb.load_quantized(tmp_path)


def test_two_matrices_of_one_name_are_refused(tmp_path: Path) -> None:
    packed = {"up.weight_packed": tb.ones((8, 2), dtype="int32"), "up.weight_shape": tb.asarray([8, 16])}
    tb.save(tmp_path / "m.safetensors", {**gptq(7), **packed, "up.weight_scale": tb.ones((8, 1))})
    with pytest.raises(FileError, match="one tensor for each matrix"):
        tb.load_quantized(tmp_path)


def test_files_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"a folder with files that end in \.safetensors"):
        tb.load_quantized(tmp_path)
    with pytest.raises(FileNotFoundError):
        tb.load_quantized(tmp_path / "m.safetensors")
    (tmp_path / "m.safetensors").write_bytes(b"\xff" * 8)
    with pytest.raises(FileError, match=r"an intact file, got path='.*m\.safetensors"):
        tb.load_quantized(tmp_path)
