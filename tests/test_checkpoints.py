"""Checkpoints: loading restores what was saved, also onto other meshes, and no checkpoint is ever incomplete."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.errors import ArgumentError, DTypeError, FileError, OperandError

SECONDS = 300


def model() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(8, 6)).astype(np.float32)
    return {
        "layers": [(tb.asarray(weight, names=("in", "out")), tb.asarray(weight[0], dtype="bf16", names=("out",)))],
        "scale": tb.asarray(2.5),
        "empty": tb.zeros((0, 3)),
        "flags": tb.asarray([True, False]),
        "steps": 7,
    }


def equal(one: tb.Tensor, other: tb.Tensor) -> bool:
    return one.template is other.template and one.to_binary() == other.to_binary()


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    saved = model()
    tb.checkpoints.save(tmp_path / "run", saved)
    restored = tb.checkpoints.load(tmp_path / "run", like=saved)
    assert restored["steps"] == 7
    pairs = [(restored[key], saved[key]) for key in ("scale", "empty", "flags")]
    pairs += list(zip(restored["layers"][0], saved["layers"][0], strict=True))
    assert all(equal(*pair) for pair in pairs)
    by_place = tb.checkpoints.load(tmp_path / "run", backend="binary")
    assert by_place["['layers'][0][0]"].template is saved["layers"][0][0].template
    assert by_place["['scale']"].item() == 2.5
    single = tb.ones(3)
    tb.checkpoints.save(tmp_path / "run", single)
    assert tb.checkpoints.load(tmp_path / "run", like=single).tolist() == [1.0, 1.0, 1.0]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["1", "current"]


def test_what_does_not_fit_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="load: expected a folder with a checkpoint"):
        tb.checkpoints.load(tmp_path / "none")
    with pytest.raises(ArgumentError, match="save: expected tensors to save"):
        tb.checkpoints.save(tmp_path, [3])
    with pytest.raises(DTypeError, match=r"safetensors"):
        tb.checkpoints.save(tmp_path, tb.zeros(2, dtype="complex128"))
    tb.checkpoints.save(tmp_path, {"a": tb.ones(3)})
    with pytest.raises(
        FileError, match=r"the tensors of like, got like=f32\[4\], checkpoint=f32\[3\], place=\"\['a'\]\""
    ):
        tb.checkpoints.load(tmp_path, like={"a": tb.ones(4)})
    with pytest.raises(FileError, match="got like=f32, checkpoint=None"):
        tb.checkpoints.load(tmp_path, like={"a": tb.ones(3), "b": tb.ones(())})
    index = (tmp_path / "0" / "index.json").read_text()
    (tmp_path / "0" / "index.json").write_text(index.replace("part-0", "../part-0"))
    with pytest.raises(FileError, match="load: expected an intact file"):
        tb.checkpoints.load(tmp_path)
    (tmp_path / "0" / "index.json").write_text("{")
    with pytest.raises(FileError, match="load: expected an intact file"):
        tb.checkpoints.load(tmp_path)
    (tmp_path / "current").write_text("../elsewhere")
    with pytest.raises(FileError, match="a version number in the file current"):
        tb.checkpoints.load(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="a folder for a checkpoint"):
        tb.checkpoints.save(tmp_path / "file", tb.ones(1))


def saving(folder: Path, number: int) -> int:
    """Fork a process that saves increasing numbers; forking starts it at once. Return its process id."""
    child = os.fork()
    if child == 0:
        try:
            while True:
                number += 1
                tensors = {name: tb.full((50_000,), number, dtype="int64") for name in "abc"}
                tb.checkpoints.save(folder, tensors)
        finally:
            os._exit(1)
    return child


def first_save(folder: Path) -> float:
    """Wait until the next save is complete. Return the seconds until then."""
    before, start = (folder / "current").read_text(), time.perf_counter()
    while (folder / "current").read_text() == before:
        time.sleep(0.0005)
    return time.perf_counter() - start


def kills(folder: Path, count: int) -> None:
    """Kills a process in the middle of a write, some times, and checks each time that the last checkpoint is complete.

    The process has finished a save, and a save takes as long as that one took: the moment does not depend on the load.
    """
    draw, last, middle = random.Random(0), 0, 0
    tb.checkpoints.save(folder, {name: tb.zeros(50_000, dtype="int64") for name in "abc"})
    while middle < count:
        child = saving(folder, last)
        time.sleep(draw.uniform(0, first_save(folder)))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        restored = tb.checkpoints.load(folder)
        numbers = {int(element) for x in restored.values() for element in np.unique(np.asarray(x))}
        assert len(restored) == 3
        assert len(numbers) == 1
        (number,) = numbers
        assert number > last
        last = number
        middle += len([path for path in folder.iterdir() if path.is_dir()]) > 1


def test_twenty_five_kills_lose_nothing(tmp_path: Path) -> None:
    program = "import sys; from pathlib import Path; import test_checkpoints as t; t.kills(Path(sys.argv[1]), 25)"
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "run")],
        cwd=Path(__file__).parent,
        timeout=SECONDS,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]


NUMBERS: dict[str, Any] = {
    "step": 500, "large": 10**30, "rate": 0.1, "inf": -np.inf, "zero": -0.0, "on": True, "off": False, "z": 1 - 2.5j,
}  # fmt: skip


def test_numbers_are_those_of_the_checkpoint(tmp_path: Path) -> None:
    saved = {"w": tb.ones(2), "state": (NUMBERS, [3])}
    tb.checkpoints.save(tmp_path, saved)
    like = {"w": tb.zeros(2), "state": (dict.fromkeys(NUMBERS, 0), [0])}
    for backend in ("numpy", "binary", "template"):
        loaded = tb.checkpoints.load(tmp_path, like=like, backend=backend)
        numbers = loaded["state"][0]
        assert {name: repr(number) for name, number in numbers.items()} == {
            name: repr(number) for name, number in sorted(NUMBERS.items())
        }
        assert loaded["state"][1] == [3]
    flat = tb.checkpoints.load(tmp_path)
    assert flat["['state'][0]['step']"] == 500
    assert flat["['w']"].tolist() == [1.0, 1.0]


def test_numbers_must_stand_where_they_were_saved(tmp_path: Path) -> None:
    tb.checkpoints.save(tmp_path, {"w": tb.ones(2), "step": 500, "activation": tb.exp, "name": "a"})
    loaded = tb.checkpoints.load(tmp_path, like={"w": tb.zeros(2), "step": 0, "activation": tb.sin, "name": "b"})
    assert (loaded["step"], loaded["activation"], loaded["name"]) == (500, tb.sin, "b")
    for like in ({"w": tb.zeros(2)}, {"w": tb.zeros(2), "step": "x"}, {"w": tb.zeros(2), "step": 0, "more": 1}):
        with pytest.raises(FileError, match="expected a checkpoint with the numbers of like"):
            tb.checkpoints.load(tmp_path, like=like)


def test_a_checkpoint_without_numbers_leaves_those_of_like(tmp_path: Path) -> None:
    """As those of earlier versions."""
    tb.checkpoints.save(tmp_path, {"w": tb.ones(2), "step": 500})
    index = tmp_path / (tmp_path / "current").read_text() / "index.json"
    content = json.loads(index.read_text())
    del content["numbers"]
    index.write_text(json.dumps(content))
    assert tb.checkpoints.load(tmp_path, like={"w": tb.zeros(2), "step": 7})["step"] == 7


def test_arrays_that_would_be_lost_are_refused(tmp_path: Path) -> None:
    for value in (np.ones(2), np.float32(2), np.int64(3)):
        with pytest.raises(OperandError, match=r"save: expected tensors and Python numbers.*; wrap it in asarray\(\)"):
            tb.checkpoints.save(tmp_path, {"w": tb.ones(2), "other": value})


def test_a_backend_gets_an_array_for_a_tensor_without_axes(tmp_path: Path) -> None:
    class Strict(NumpyBackend):
        """Takes arrays alone, as the libraries of other backends do."""

        name = "strict"

        def from_numpy(self, out: tb.Template, array: Any, /, *, copy: bool) -> Any:
            assert type(array) is np.ndarray
            return super().from_numpy(out, array, copy=copy)

    value = {"scale": tb.asarray(2.5), "step": 3}
    tb.checkpoints.save(tmp_path / "saved", value)
    loaded = tb.checkpoints.load(tmp_path / "saved", like=value, backend=Strict())
    assert (loaded["scale"].item(), loaded["step"]) == (2.5, 3)


@pytest.mark.parametrize("current", [b"\xff\xfe", b"7", b"", b"0/..", b"1" * 400, "\u00b2".encode()])
def test_a_broken_version_number_is_told(tmp_path: Path, current: bytes) -> None:
    tb.checkpoints.save(tmp_path, {"a": tb.ones(2)})
    (tmp_path / "current").write_bytes(current)
    for use in (lambda: tb.checkpoints.load(tmp_path), lambda: tb.checkpoints.save(tmp_path, {"a": tb.ones(2)})):
        with pytest.raises(FileError):
            use()
    (tmp_path / "current").write_bytes(b"0")
    assert tb.checkpoints.load(tmp_path)["['a']"].tolist() == [1.0, 1.0]
    (tmp_path / "0" / "index.json").unlink()
    with pytest.raises(FileError, match="without its index"):
        tb.checkpoints.load(tmp_path)
