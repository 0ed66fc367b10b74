"""Windows and convolutions: axes along which windows reach from block to block are needed whole."""

from __future__ import annotations

from typing import Any

from tensorbackend import Template, Tensor
from tensorbackend.protocol import Payload

from .base import DaskBase, lazily
from .graphs import Lazy, by_labels

Sizes = tuple[int, ...]
Padding = tuple[tuple[int, int], ...]


class DaskWindow(DaskBase):
    """Pooling and convolution."""

    def windowed(self, name: str, out: Template, *inputs: Tensor, **options: Any) -> Lazy:
        """A callback over windows; axes whose windows are single elements stay in blocks."""
        x = inputs[0]
        steps = zip(options["window_dimensions"], options["strides"], options["padding"], strict=True)
        whole = [axis for axis, step in enumerate(steps) if step != (1, 1, (0, 0))]
        labels = tuple(range(x.ndim))
        other = tuple(x.ndim + axis if axis in whole else axis for axis in labels)
        # A scatter's result looks like x, a reduction's like what it gives for each window.
        given = [(each.data, each.dtype, () if not each.ndim else labels if number == 0 else other)
                 for number, each in enumerate(inputs)]  # fmt: skip
        result = labels if len(inputs) > 1 else other
        moved = [x.ndim + axis for axis in whole]
        return by_labels(name, out, given, [result], whole=[*whole, *moved], options=options)

    @lazily
    def window_sum(
        self, out: Template, x: Tensor, /, *, window_dimensions: Sizes, strides: Sizes, padding: Padding,
        window_dilations: Sizes,
    ) -> Payload:  # fmt: skip
        """Sum of each window."""
        return self.windowed("window_sum", out, x, window_dimensions=window_dimensions, strides=strides,
                             padding=padding, window_dilations=window_dilations)  # fmt: skip

    @lazily
    def window_product(
        self, out: Template, x: Tensor, /, *, window_dimensions: Sizes, strides: Sizes, padding: Padding,
        window_dilations: Sizes,
    ) -> Payload:  # fmt: skip
        """Product of each window."""
        return self.windowed("window_product", out, x, window_dimensions=window_dimensions, strides=strides,
                             padding=padding, window_dilations=window_dilations)  # fmt: skip

    @lazily
    def window_max(
        self, out: Template, x: Tensor, /, *, window_dimensions: Sizes, strides: Sizes, padding: Padding,
        window_dilations: Sizes,
    ) -> Payload:  # fmt: skip
        """Greatest element of each window."""
        return self.windowed("window_max", out, x, window_dimensions=window_dimensions, strides=strides,
                             padding=padding, window_dilations=window_dilations)  # fmt: skip

    @lazily
    def window_min(
        self, out: Template, x: Tensor, /, *, window_dimensions: Sizes, strides: Sizes, padding: Padding,
        window_dilations: Sizes,
    ) -> Payload:  # fmt: skip
        """Least element of each window."""
        return self.windowed("window_min", out, x, window_dimensions=window_dimensions, strides=strides,
                             padding=padding, window_dilations=window_dilations)  # fmt: skip

    @lazily
    def window_scatter_max(
        self, out: Template, x: Tensor, source: Tensor, initial: Tensor, /, *, window_dimensions: Sizes,
        strides: Sizes, padding: Padding,
    ) -> Payload:  # fmt: skip
        """Elements of the source at the greatest of each window."""
        return self.windowed("window_scatter_max", out, x, source, initial, window_dimensions=window_dimensions,
                             strides=strides, padding=padding)  # fmt: skip

    @lazily
    def window_scatter_min(
        self, out: Template, x: Tensor, source: Tensor, initial: Tensor, /, *, window_dimensions: Sizes,
        strides: Sizes, padding: Padding,
    ) -> Payload:  # fmt: skip
        """Elements of the source at the least of each window."""
        return self.windowed("window_scatter_min", out, x, source, initial, window_dimensions=window_dimensions,
                             strides=strides, padding=padding)  # fmt: skip

    @lazily
    def conv(
        self, out: Template, x: Tensor, kernel: Tensor, /, *, strides: Sizes, padding: Padding, input_dilation: Sizes,
        kernel_dilation: Sizes, feature_groups: int, batch_groups: int,
    ) -> Payload:  # fmt: skip
        """Examples, and channels of the result, stay in blocks where there are no groups of them."""
        count = x.ndim
        labels, reads, found = tuple(range(count)), range(count, 2 * count), range(2 * count, 3 * count)
        ours = (reads[0], labels[1], *reads[2:]) if feature_groups == 1 else tuple(reads)
        result = (labels[0], ours[0], *found[2:])
        whole = {*labels[1:], *ours[1:], *found}
        if batch_groups != 1 or feature_groups != 1:
            whole |= {labels[0], ours[0]}
        if batch_groups != 1:
            result = (found[0], found[1], *found[2:])
        options = {
            "strides": strides, "padding": padding, "input_dilation": input_dilation,
            "kernel_dilation": kernel_dilation, "feature_groups": feature_groups, "batch_groups": batch_groups,
        }  # fmt: skip
        given = [(x.data, x.dtype, labels), (kernel.data, kernel.dtype, ours)]
        return by_labels("conv", out, given, [result], whole=whole, options=options)
