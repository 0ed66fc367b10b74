"""Batch normalisation, LSTM and short-time Fourier transform."""

from __future__ import annotations

from collections.abc import Sequence

import returnn.frontend as rf
import tensorbackend as tb
from returnn.tensor import Dim, Tensor, single_step_dim

from .base import arranged, result
from .convolution import Convolution


class Networks(Convolution):
    """Layers as functions of tensors."""

    @classmethod
    def batch_norm(
        cls,
        source: Tensor,
        *,
        in_dim: Dim | Sequence[Dim],
        running_mean: Tensor | None,
        running_variance: Tensor | None,
        gamma: Tensor | None,
        beta: Tensor | None,
        epsilon: float,
        momentum: float,
        affine: bool,
        use_mask: bool,
    ) -> Tensor:
        """Normalise each feature to mean 0 and variance 1 over all other dims, then apply `gamma` and `beta`.

        Training uses the statistics of the batch and updates the running ones; otherwise the running ones are used.
        """
        if not isinstance(in_dim, Dim):
            raise NotImplementedError(
                f"batch_norm: expected one dim of features, got in_dim={in_dim}; merge them by rf.merge_dims"
            )
        if (running_mean is None) != (running_variance is None):
            raise ValueError("batch_norm: expected a running mean and a running variance, or neither")
        trains = rf.get_run_ctx().is_train_flag_enabled(func=rf.BatchNorm.__call__)
        axis = source.get_axis_from_description(in_dim)
        raw = source.raw_tensor
        shape = (raw.template.shape[axis],)
        if running_mean is None or running_variance is None:
            dtype = raw.template.dtype
            held = tb.nn.Statistics(*(tb.full(shape, i, dtype=dtype, backend=cls._home()) for i in (0, 1)))
        else:
            held = tb.nn.Statistics(running_mean.raw_tensor, running_variance.raw_tensor)
        normalised, after = tb.nn.batch_norm(
            raw,
            gamma.raw_tensor if affine and gamma is not None else None,
            beta.raw_tensor if affine and beta is not None else None,
            statistics=held,
            training=bool(trains) or running_mean is None,
            axis=axis,
            momentum=momentum,
            epsilon=epsilon,
            mask=cls._mask(source, [dim for dim in source.dims if dim != in_dim]) if use_mask else None,
        )
        if trains and running_mean is not None and running_variance is not None:
            running_mean.raw_tensor, running_variance.raw_tensor = (statistic.detach() for statistic in after)
        return result("batch_norm", source.dims, normalised, feature_dim=in_dim)

    @classmethod
    def lstm(
        cls,
        source: Tensor,
        *,
        state_h: Tensor,
        state_c: Tensor,
        ff_weight: Tensor,
        rec_weight: Tensor,
        bias: Tensor | None,
        spatial_dim: Dim,
        in_dim: Dim,
        out_dim: Dim,
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Run an LSTM along a dim, or for a single step; return the outputs and the state after the last valid step."""
        single = spatial_dim == single_step_dim
        batch = [dim for dim in source.dims if dim not in (spatial_dim, in_dim)]
        parameters = {
            "input": tb.permute_dims(ff_weight.raw_tensor, (1, 0)),
            "recurrent": tb.permute_dims(rec_weight.raw_tensor, (1, 0)),
        }
        if bias is not None:
            parameters["bias"] = bias.raw_tensor
        raw = source.copy_transpose([*batch, in_dim] if single else [spatial_dim, *batch, in_dim]).raw_tensor
        lengths = None
        if not single and spatial_dim.need_masking():
            lengths = arranged(spatial_dim.get_size_tensor(device=source.device), batch)
        state = tb.nn.LSTMState(*(arranged(tensor, [*batch, out_dim]) for tensor in (state_h, state_c)))
        steps = tb.expand_dims(raw, axis=0) if single else raw
        outputs, (hidden, cell) = tb.nn.lstm(steps, parameters, state, time=0, axis=steps.ndim - 1, lengths=lengths)
        dims = [*batch, out_dim]
        out = result(
            "lstm",
            dims if single else [spatial_dim, *dims],
            tb.squeeze(outputs, axis=0) if single else outputs,
            feature_dim=out_dim,
        )
        return out, (
            result("lstm_h", dims, hidden, feature_dim=out_dim),
            result("lstm_c", dims, cell, feature_dim=out_dim),
        )

    @classmethod
    def stft(
        cls,
        x: Tensor,
        *,
        in_spatial_dim: Dim,
        frame_step: int,
        frame_length: int,
        fft_length: int,
        window_use_frame_length: bool = True,
        align_window_left: bool = True,
        window_enforce_even: bool = True,
        out_spatial_dim: Dim,
        out_dim: Dim,
    ) -> Tensor:
        """Compute the short-time Fourier transform. The result for a signal shorter than a frame is zeros."""
        batch = [dim for dim in x.dims if dim != in_spatial_dim]
        raw = x.copy_transpose([*batch, in_spatial_dim]).raw_tensor
        axis = len(batch)
        if frame_length < fft_length and window_use_frame_length:
            raw = tb.pad(raw, {axis: (0, fft_length - frame_length)})  # so that the last frame still fits
        dims = [*batch, out_dim, out_spatial_dim]
        if raw.shape[axis] < fft_length:
            return cls.full(dims, 0, dtype="complex64", feature_dim=out_dim)
        if window_enforce_even:
            frame_length -= frame_length % 2
        places = tb.arange(frame_length, dtype=tb.float32, backend=cls._home())
        window = 0.5 - 0.5 * tb.cos(places * (2 * tb.pi / frame_length))
        before = 0 if align_window_left else (fft_length - frame_length) // 2
        window = tb.pad(window, [(before, fft_length - frame_length - before)])
        spectra = tb.nn.stft(raw, frame_length=fft_length, frame_step=frame_step, window=window, axis=axis)
        order = (*range(axis), axis + 1, axis)
        return result("stft", dims, tb.permute_dims(spectra, order), feature_dim=out_dim)
