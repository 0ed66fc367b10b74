"""Convolution and pooling over spatial dims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import returnn.frontend as rf
import tensorbackend as tb
from returnn.tensor import Dim, Tensor

from .base import result
from .contraction import Contraction


def several(x: Any, count: int, default: int = 1) -> list[int]:
    """Convert one number, or one for each dim, to a list of `count` numbers; `None` means the default."""
    if x is None:
        return [default] * count
    return [x] * count if isinstance(x, int) else list(x)


def paddings(
    padding: Any, shape: Sequence[int], window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> list[tuple[int, int]]:
    """The number of zeros before and after each dim.

    With "same", the output has size ceil(size / stride); if the number of zeros is odd, the extra zero goes after.
    """
    margins = []
    dim_paddings = [padding] * len(shape) if isinstance(padding, int | str) else padding
    for dim_padding, size, width, stride, dilation in zip(dim_paddings, shape, window, strides, dilations, strict=True):
        word = dim_padding.lower() if isinstance(dim_padding, str) else dim_padding
        if word == "same":
            total = (width - 1) * dilation - (size - 1) % stride
            margins.append((total // 2, total - total // 2))
        elif word == "valid":
            margins.append((0, 0))
        elif isinstance(word, int):
            margins.append((word, word))
        else:
            raise ValueError(f"expected a padding of 'same', 'valid' or numbers, got padding={padding!r}")
    return margins


class Convolution(Contraction):
    """Convolution and pooling. The spatial dims of a result come last."""

    @classmethod
    def conv(
        cls,
        source: Tensor,
        *,
        in_dim: Dim,
        out_dim: Dim,
        in_spatial_dims: Sequence[Dim],
        out_spatial_dims: Sequence[Dim] | None = None,
        filter: Tensor,
        filter_size: Sequence[Dim],
        padding: Any,
        strides: int | Sequence[int] | None = None,
        dilation_rate: int | Sequence[int] | None = None,
        groups: int | None = None,
        bias: Tensor | None = None,
    ) -> tuple[Tensor, Sequence[Dim]]:
        """Convolve along spatial dims; return the result and its spatial dims."""
        count = len(in_spatial_dims)
        if not out_spatial_dims:
            out_spatial_dims = rf.make_conv_out_spatial_dims(
                in_spatial_dims=in_spatial_dims,
                filter_size=filter_size,
                strides=strides or 1,
                dilation_rate=dilation_rate or 1,
                padding=padding,
            )
        source, filter, bias = rf.amp_cast_compute(source, filter, bias)
        groups = groups or 1
        kernel = filter.copy_transpose([out_dim, in_dim if groups == 1 else in_dim // groups, *filter_size])
        batch = [dim for dim in source.dims if dim != in_dim and dim not in in_spatial_dims]
        moved = source.copy_transpose([*batch, in_dim, *in_spatial_dims]).raw_tensor
        paces, dilations = several(strides, count), several(dilation_rate, count)
        window = [dim.dimension for dim in filter_size]
        shape = moved.shape[len(batch) + 1 :]
        raw = tb.nn.conv(
            moved,
            kernel.raw_tensor,
            None if bias is None else bias.raw_tensor,
            axis=len(batch),
            spatial=tuple(range(len(batch) + 1, len(batch) + 1 + count)),
            strides=tuple(paces),
            padding=tuple(paddings(padding, shape, window, paces, dilations)),
            dilation=tuple(dilations),
            groups=groups,
        )
        return result("conv", [*batch, out_dim, *out_spatial_dims], raw, feature_dim=out_dim), out_spatial_dims

    @classmethod
    def transposed_conv(
        cls,
        source: Tensor,
        *,
        in_dim: Dim,
        out_dim: Dim,
        in_spatial_dims: Sequence[Dim],
        out_spatial_dims: Sequence[Dim] | None = None,
        filter: Tensor,
        filter_size: Sequence[Dim],
        padding: str,
        remove_padding: Sequence[int] | int = 0,
        output_padding: Sequence[int | None] | int | None = None,
        strides: Sequence[int] | None = None,
        bias: Tensor | None = None,
    ) -> tuple[Tensor, Sequence[Dim]]:
        """Apply a transposed convolution along spatial dims; return the result and its spatial dims.

        Each entry along the spatial dims adds a scaled kernel to the result.
        """
        count = len(in_spatial_dims)
        if padding.lower() != "valid":
            raise NotImplementedError(
                f"transposed_conv: expected padding='valid', got padding={padding!r}; slice the result"
            )
        if not out_spatial_dims:
            out_spatial_dims = rf.make_transposed_conv_out_spatial_dims(
                in_spatial_dims=in_spatial_dims,
                filter_size=filter_size,
                strides=strides,
                padding=padding,
                output_padding=output_padding,
            )
        source, filter, bias = rf.amp_cast_compute(source, filter, bias)
        paces = [dim.dimension for dim in filter_size] if strides is None else several(strides, count)
        removed = several(remove_padding, count, 0)
        added = [extra or 0 for extra in several(output_padding, count, 0)]
        kernel = filter.copy_transpose([in_dim, out_dim, *filter_size])
        batch = [dim for dim in source.dims if dim != in_dim and dim not in in_spatial_dims]
        moved = source.copy_transpose([*batch, in_dim, *in_spatial_dims]).raw_tensor
        raw = tb.nn.conv_transpose(
            moved,
            kernel.raw_tensor,
            None if bias is None else bias.raw_tensor,
            axis=len(batch),
            spatial=tuple(range(len(batch) + 1, len(batch) + 1 + count)),
            strides=tuple(paces),
            # Cut only at the end, where PyTorch adds `output_padding`.
            padding=tuple((0, cut - more) for cut, more in zip(removed, added, strict=True)),
        )
        dims = [*batch, out_dim, *out_spatial_dims]
        return result("transposed_conv", dims, raw, feature_dim=out_dim), out_spatial_dims

    @classmethod
    def pool(
        cls,
        source: Tensor,
        *,
        mode: str,
        pool_size: Sequence[int],
        padding: Any = "valid",
        dilation_rate: Sequence[int] | int = 1,
        strides: Sequence[int],
        in_spatial_dims: Sequence[Dim],
        out_spatial_dims: Sequence[Dim] | None = None,
    ) -> tuple[Tensor, Sequence[Dim]]:
        """Compute the maximum or mean of windows along spatial dims. The zeros of `padding` do not count."""
        if mode not in ("max", "avg"):
            raise ValueError(f"pool: expected mode 'max' or 'avg', got mode={mode!r}")
        if out_spatial_dims is None:
            out_spatial_dims = rf.make_conv_out_spatial_dims(
                in_spatial_dims=in_spatial_dims,
                filter_size=pool_size,
                strides=strides,
                dilation_rate=dilation_rate,
                padding=padding,
            )
        batch = [dim for dim in source.dims if dim not in in_spatial_dims]
        moved = source.copy_transpose([*batch, *in_spatial_dims]).raw_tensor
        lead, count = len(batch), len(in_spatial_dims)
        paces, dilations = several(strides, count), several(dilation_rate, count)
        around = paddings(padding, moved.shape[lead:], pool_size, paces, dilations)
        axes = range(lead, lead + count)
        options: dict[str, Any] = {
            "strides": dict(zip(axes, paces, strict=True)),
            "padding": dict(zip(axes, around, strict=True)),
            "dilation": dict(zip(axes, dilations, strict=True)),
        }
        window = dict(zip(axes, pool_size, strict=True))
        raw = (tb.nn.max_pool if mode == "max" else tb.nn.mean_pool)(moved, window, **options)
        return result("pool", [*batch, *out_spatial_dims], raw, feature_dim=source.feature_dim), out_spatial_dims
