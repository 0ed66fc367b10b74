"""Windows and convolutions. The blocks along the axes on which windows slide are merged."""

from __future__ import annotations

from inspect import signature
from typing import Any

from tensorbackend import Template, Tensor
from tensorbackend.protocol import Payload
from tensorbackend.protocol.convolution import Correlation
from tensorbackend.protocol.window import Window, Windows

from .base import DaskBase, lazily
from .graphs import Lazy, by_labels


class DaskWindow(DaskBase):
    """Pooling and convolution."""

    def windowed(self, name: str, out: Template, *inputs: Tensor, **options: Any) -> Lazy:
        """Applies a callback over windows. Axes on which the windows are single elements stay in blocks."""
        x = inputs[0]
        windows: Windows = options["windows"]
        steps = zip(windows.sizes, windows.strides, windows.padding, strict=True)
        whole = [axis for axis, step in enumerate(steps) if step != (1, 1, (0, 0))]
        labels = tuple(range(x.ndim))
        other = tuple(x.ndim + axis if axis in whole else axis for axis in labels)
        # The result of a scatter has the shape of x; that of a reduction has an element for each window.
        operands = [(tensor.data, tensor.dtype, () if not tensor.ndim else labels if number == 0 else other)
                    for number, tensor in enumerate(inputs)]  # fmt: skip
        result = labels if len(inputs) > 1 else other
        moved = [x.ndim + axis for axis in whole]
        return by_labels(name, out, operands, [result], whole=[*whole, *moved], options=options)

    @lazily
    def conv(self, out: Template, x: Tensor, kernel: Tensor, /, *, correlation: Correlation) -> Payload:
        """Without groups, the batch and the channels of the result stay in blocks."""
        count = x.ndim
        labels, reads, result_labels = tuple(range(count)), range(count, 2 * count), range(2 * count, 3 * count)
        ours = (reads[0], labels[1], *reads[2:]) if correlation.feature_groups == 1 else tuple(reads)
        result = (labels[0], ours[0], *result_labels[2:])
        whole = {*labels[1:], *ours[1:], *result_labels}
        if correlation.groups != 1:
            whole |= {labels[0], ours[0]}
        if correlation.batch_groups != 1:
            result = (result_labels[0], result_labels[1], *result_labels[2:])
        operands = [(x.data, x.dtype, labels), (kernel.data, kernel.dtype, ours)]
        return by_labels("conv", out, operands, [result], whole=whole, options={"correlation": correlation})


def _callback(name: str) -> Any:
    def callback(self: DaskWindow, out: Template, /, *inputs: Tensor, **options: Any) -> Payload:
        return self.windowed(name, out, *inputs, **options)

    callback.__name__ = name
    callback.__doc__ = f"`{name}` of blocks that hold the windows whole."
    return lazily(callback)


for _name, _method in vars(Window).items():
    # The project's fallback computes windows that a Python function reduces.
    if getattr(_method, "__declared__", None) == "callback" and "function" not in signature(_method).parameters:
        setattr(DaskWindow, _name, _callback(_name))
