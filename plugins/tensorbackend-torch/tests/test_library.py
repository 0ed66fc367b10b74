"""Tests that the plugin changes no setting of PyTorch, uses only public modules, and imports quickly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import tensorbackend as tb
import torch
from tensorbackend.testing import private_imports

import tensorbackend_torch


def test_imports_only_what_is_public() -> None:
    folders = [Path(tensorbackend_torch.__file__).parent, Path(__file__).parent]
    assert not private_imports(folders)


def test_importing_it_imports_no_array_library() -> None:
    code = "import sys, tensorbackend_torch; print({'torch', 'numpy'} & set(sys.modules))"
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert completed.stdout == "set()\n"


def settings() -> tuple[object, ...]:
    return (
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.is_grad_enabled(),
        torch.are_deterministic_algorithms_enabled(),
        torch.get_num_threads(),
        torch.get_float32_matmul_precision(),
        torch.backends.cudnn.allow_tf32,
        torch.is_flush_denormal() if hasattr(torch, "is_flush_denormal") else None,
    )


def test_settings_are_left_alone() -> None:
    before = settings()
    x = tb.ones((1, 2, 5), backend="torch")
    tb.conv(x, x), tb.matmul(x, tb.matrix_transpose(x)), tb.softmax(x), tb.linalg.qr(x)
    assert settings() == before


def test_settings_do_not_matter() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        x = tb.ones((2, 2), backend="torch")
        assert tb.mean(x).dtype is tb.float32
        assert tb.exp(tb.tensor([1 + 1j], backend="torch")).dtype is tb.complex64
        assert tb.linalg.eigh(x).eigenvalues.dtype is tb.float32
    finally:
        torch.set_default_dtype(torch.float32)
