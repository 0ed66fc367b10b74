"""What gradients of convolutions take."""

from __future__ import annotations

import numpy as np

import tensorbackend as tb

from ...peak_memory import peak_memory


def test_the_gradient_of_a_transposed_convolution_takes_few_arrays_of_its_result() -> None:
    def loss(kernel: tb.Tensor, x: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.square(tb.nn.conv_transpose(x, kernel, axis=1, strides=2)))

    generator = np.random.default_rng(0)
    x = tb.asarray(generator.normal(size=(4, 16, 32, 32)).astype("float32"), backend="numpy")
    kernel = tb.asarray(generator.normal(size=(16, 8, 2, 2)).astype("float32"), backend="numpy")
    result = 4 * 8 * 64 * 64 * 4
    taken = peak_memory(lambda: tb.grad(loss)(kernel, x), calls_before=3)
    assert taken < 4 * result  # it took 34 of them
    predicted = tb.dry_run(loss, kernel, x, gradient=True).peak.memory
    assert abs(predicted / (taken + x.nbytes + kernel.nbytes) - 1) < 0.1
