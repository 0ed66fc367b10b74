"""Tests that the plugin changes no setting of MLX, uses only public modules, and imports quickly."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import mlx.core as mx
import tensorbackend as tb
from tensorbackend.testing import private_imports

import tensorbackend_mlx


def test_imports_only_what_is_public() -> None:
    assert not private_imports([Path(tensorbackend_mlx.__file__).parent, Path(__file__).parent])


def test_importing_it_imports_no_array_library() -> None:
    code = "import sys, tensorbackend_mlx; print({'mlx', 'mlx.core', 'numpy'} & set(sys.modules))"
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert completed.stdout == "set()\n"


def state_of_generator() -> list[Any]:
    state: Any = mx.random.state
    return [word.tolist() for word in state]


def test_the_default_device_and_the_state_of_the_generator_are_left_alone() -> None:
    device, state = mx.default_device(), state_of_generator()
    x = tb.random.normal(tb.random.key(0, backend="mlx"), (3, 3))
    tb.conv(x[None, None], x[None, None]), tb.softmax(x), tb.linalg.qr(x)
    assert mx.default_device() == device
    assert state_of_generator() == state
