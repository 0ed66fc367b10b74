"""Calls of each method and their expected values, by default those of RETURNN's PyTorch backend."""

from __future__ import annotations

import math

import numpy as np
import returnn.frontend as rf
from case_makers import (
    FLOATS,
    Case,
    P,
    again,
    asserted,
    assigned,
    checkpointed,
    chosen,
    convolved,
    distance,
    drawn,
    for_each,
    gathered,
    initialised,
    lstm,
    lstm_step,
    normalised,
    of_x,
    packed_ctc,
    padded,
    paths,
    pooled,
    put_back,
    raw,
    reduced,
    replaced,
    replayed,
    scattered,
    sequences,
    slope,
    spectra,
    stopped,
    stretched,
    ways,
    written,
)
from making import B, I, W, X
from returnn.tensor import Dim

from tensorbackend_returnn.elementwise import ACTIVATIONS, COMBINED, COMPARED

CASES: dict[str, list[Case]] = {
    # Identity, shapes, devices
    "executing_eagerly": [raw("executing_eagerly")],
    "get_dtype_name_raw": [raw("get_dtype_name_raw", x) for x in (X, I, B, X.astype(np.complex64))],
    "as_dtype_raw": [Case(lambda m: [str(m.backend.as_dtype_raw(n)).endswith(n) for n in ("float32", "bool", "int8")])],
    "get_ndim_raw": [raw("get_ndim_raw", X)],
    "get_shape_raw": [raw("get_shape_raw", X)],
    "get_shape_tuple_raw": [raw("get_shape_tuple_raw", X)],
    "get_known_shape_raw": [raw("get_known_shape_raw", X)],
    "set_known_shape_raw": [Case(lambda m: m.backend.set_known_shape_raw(m.raw(X), (2, None, 4)) is None)],
    "get_new_dim_raw": [Case(lambda m: m.backend.get_new_dim_raw(m.raw(X), 2, name="new").dimension)],
    "raw_to_numpy": [raw("raw_to_numpy", X)],
    "should_pickle_tensor": [raw("should_pickle_tensor", X)],
    "get_device": [Case(lambda m: m.backend.get_device(m.x()) == "cpu")],
    "copy_to_device": for_each(lambda m, device: m.backend.copy_to_device(m.x(), device), "cpu", None),
    # Creation and parameters
    "convert_to_tensor": [
        Case(lambda m: m.backend.convert_to_tensor(X, dims=(m.batch, m.time, m.feature), dtype="float32")),
        Case(lambda m: m.backend.convert_to_tensor(3, dims=(), dtype="float64", device="cpu")),
        Case(lambda m: m.backend.convert_to_tensor(m.raw(W), dims=(m.feature, m.other), dtype="float32")),
    ],
    "full": [
        Case(lambda m: m.backend.full([m.batch, m.feature], 2, dtype="int32")),
        Case(lambda m: m.backend.full([m.feature], m(np.array(1.5, np.float32)), dtype="float32")),
        Case(lambda m: m.backend.full([m.feature], np.float32(2), dtype="bool")),
    ],
    "fill_raw": [Case(lambda m: m.backend.fill_raw([2, 3], 1.5), np.full((2, 3), 1.5, np.float32))],
    "range_over_dim": [
        Case(lambda m: m.backend.range_over_dim(m.time)),
        Case(lambda m: m.backend.range_over_dim(m.feature, dtype="float32")),
    ],
    "copy": [of_x("copy")],
    "create_parameter_raw": [Case(lambda m: m.backend.create_parameter_raw(m.parameter()))],
    "set_parameter_initial_value": [
        *for_each(initialised, W, None, 2),
        assigned(lambda m, p: m.backend.set_parameter_initial_value(p, m(W, m.feature, m.other))),
    ],
    "set_parameter_trainable": [assigned(lambda m, p: m.backend.set_parameter_trainable(p, False))],
    "parameter_assign": for_each(replaced, "assign", "add"),
    "parameter_assign_key": [written(), written(op="add")],
    "parameter_move_to": [assigned(lambda m, p: m.backend.parameter_move_to(p, device="cpu"))],
    # Elementwise
    "compare_raw": [raw("compare_raw", X, kind, X[:, ::-1].copy()) for kind in COMPARED],
    "combine_raw": [raw("combine_raw", P, kind, P[:, ::-1].copy()) for kind in COMBINED if "logical" not in kind]
    + [raw("combine_raw", B, kind, ~B) for kind in ("logical_and", "logical_or")]
    + [raw("combine_raw", I, "add", np.array(3, np.int64)), raw("combine_raw", I, "mul", np.array(0.5, np.float32))],
    "compare": [
        Case(lambda m: m.backend.compare(m.x(), "less", m(X[0, 0], m.feature))),
        Case(lambda m: m.backend.compare(m.x(), "greater_equal", 0.5)),
        Case(lambda m: m.backend.compare(1, "equal", m(I, m.batch, m.time))),
    ],
    "combine": [
        Case(lambda m: m.backend.combine(m.x(), "add", m(X[0, 0], m.feature))),
        Case(lambda m: m.backend.combine(m(I, m.batch, m.time), "sub", 2)),
        Case(lambda m: m.backend.combine(2.0, "truediv", m.x())),
        Case(
            lambda m: m.backend.combine(
                m(X[0, 0], m.feature), "mul", m(W[0], m.other), allow_broadcast_all_sources=True, dim_order=(m.other,)
            )
        ),
    ],
    "activation_raw": [raw("activation_raw", B if name == "logical_not" else P, name) for name in ACTIVATIONS]
    + [
        raw("activation_raw", X, name)
        for name in ("relu", "elu", "selu", "silu", "gelu", "log_sigmoid", "round", "abs")
    ],
    "cast_raw": [raw("cast_raw", X, "int32"), raw("cast_raw", I, "float32"), raw("cast_raw", X, "float32")],
    **{
        name: for_each(lambda m, name: getattr(m.backend, name)(m(FLOATS, m.batch, m.time)), name)
        for name in ("is_finite", "is_infinite", "is_neg_infinite")
    },
    "where": [
        Case(lambda m: m.backend.where(m(B, m.batch, m.time), m.x(), 0.5)),
        Case(lambda m: m.backend.where(m(B, m.batch, m.time), 1.0, m.x(-1.0))),
    ],
    "clip_by_value": [
        Case(lambda m: m.backend.clip_by_value(m.x(), -0.5, 1.0)),
        Case(lambda m: m.backend.clip_by_value(m.x(), m(X[0, 0], m.feature), 1.5)),
    ],
    "lerp": [Case(lambda m: m.backend.lerp(m.x(), m.x(-1.0), 0.25))],
    "make_complex": [Case(lambda m: m.backend.make_complex(m.x(), m.x(-2.0)))],
    "real_as_complex": [
        Case(lambda m: m.backend.real_as_complex(m(X[:, :2], m.batch, m.pair, m.feature), pair_dim=m.pair))
    ],
    "complex_as_real": [
        Case(lambda m: m.backend.complex_as_real(m((X + 2j * X).astype(np.complex64), m.batch, m.time, m.feature))[0])
    ],
    # Reductions and order
    "reduce": [
        reduced(mode, *axes)
        for mode in ("sum", "mean", "max", "min", "logsumexp")
        for axes in (("feature",), ("time",), ("batch", "time"))
        if mode not in ("max", "min") or len(axes) == 1  # PyTorch allows a single axis
    ]
    + [
        reduced("max", "batch", "time")._replace(expected=np.concatenate([X[0], X[1, :2]]).max(0)),
        reduced("min", "batch", "time")._replace(expected=np.concatenate([X[0], X[1, :2]]).min(0)),
    ]
    + [reduced(mode, axis) for mode in ("argmax", "argmin") for axis in ("feature", "time")]
    + [reduced(mode, "time", array=B) for mode in ("any", "all")]
    + [reduced(mode, "time", array=I) for mode in ("sum", "max", "min")],
    "softmax": for_each(lambda m, axis: m.backend.softmax(m.x(), axis=getattr(m, axis)), "time", "feature"),
    "log_softmax": for_each(lambda m, axis: m.backend.log_softmax(m.x(), axis=getattr(m, axis)), "time", "feature"),
    "cumsum": [Case(lambda m: m.backend.cumsum(m.x(), spatial_dim=m.time))],
    "sort": for_each(
        lambda m, down: m.backend.sort(m.x(), axis=m.feature, descending=down, stable=True)[:2], False, True
    ),
    "search_sorted": for_each(
        lambda m, side: m.backend.search_sorted(
            m(np.sort(X[:, 0], axis=-1), m.batch, m.feature),
            m(W[:2], m.batch, m.other),
            axis=m.feature,
            side=side,
            out_dtype="int64",
        ),
        "left",
        "right",
    ),
    "top_k": [
        Case(lambda m: m.backend.top_k(m.x(), axis=m.feature, k=2, k_dim=m.k)[:2]),
        Case(lambda m: m.backend.top_k(m.x(), axis=m.time, k=1, k_dim=Dim(1, name="k"))[:2]),
        Case(lambda m: m.backend.top_k(m(X[:, 0], m.batch, m.feature), axis=[m.batch, m.feature], k=2, k_dim=m.k)[:2]),
    ],
    # Shape
    "expand_dims_raw": [raw("expand_dims_raw", X, 1)],
    "expand_raw": [raw("expand_raw", X[:, :1], 1, 3)],
    "reshape_raw": [raw("reshape_raw", X, (4, 6))],
    "squeeze_raw": [raw("squeeze_raw", X[:, :1], [1]), raw("squeeze_raw", X, [])],
    "transpose_raw": [raw("transpose_raw", X, [2, 0, 1]), raw("transpose_raw", X, [0, 1, 2])],
    "have_sequence_mask_raw": [raw("have_sequence_mask_raw")],
    "merge_dims": [
        Case(
            lambda m: m.backend.merge_dims(
                m(W, m.feature, m.other), dims=[m.other, m.feature], out_dim=Dim(20, name="all")
            )
        ),
    ],
    "split_dims": [
        Case(lambda m: m.backend.split_dims(m.x(), axis=m.feature, dims=[m.pair, m.k])),
        Case(
            lambda m: m.backend.split_dims(
                m(W[0], m.other), axis=m.other, dims=[Dim(3, name="three"), m.pair], pad_to_multiples=True
            ),
            np.append(W[0], 0).reshape(3, 2).astype(np.float32).T,
        ),
    ],
    "reshape": [Case(lambda m: m.backend.reshape(m.x(), [m.feature], [m.k, m.pair]))],
    "expand_dim": [Case(lambda m: m.backend.expand_dim(m(X[0, 0], m.feature, feature=m.feature), m.other))],
    "squeeze": [Case(lambda m: m.backend.squeeze(m(X[:1, 0], one := Dim(1, name="one"), m.feature), one))],
    "concat": [
        Case(lambda m: m.backend.concat((m.x(), m.feature), (m.x(2.0), m.feature), out_dim=m.feature + m.feature)),
        Case(
            lambda m: m.backend.concat(
                (m.x(), m.feature), (m(W[0], m.other), m.other), allow_broadcast=True, out_dim=Dim(9, name="both")
            )
        ),
    ],
    "stack": [Case(lambda m: m.backend.stack([m.x(), m.x(2.0)], out_dim=m.pair))],
    "unstack": [Case(lambda m: m.backend.unstack(m.x(), axis=m.feature))],
    "split": [Case(lambda m: m.backend.split(m.x(), axis=m.feature, out_dims=[Dim(1, name="a"), Dim(3, name="b")]))],
    "pad": [
        padded(),
        padded(value=0.5),
        padded(mode="reflect", low=2),
        padded(mode="replicate"),
        padded(mode="circular"),
        padded(axis="time", value=-1.0),
        padded(axis="time", high=0),
    ],
    # Indices
    "gather": [
        gathered(lambda m: 2, "feature"),
        gathered(lambda m: m(np.array([3, 0], np.int32), m.pair), "feature"),
        gathered(lambda m: m(I, m.batch, Dim(3, name="three")), "feature"),
        gathered(lambda m: m(np.array([9, -3], np.int32), m.batch), "time", clip_to_valid=True),
        gathered(lambda m: m(np.array(1, np.int32)), "time"),
        gathered(lambda m: m(W.argsort(0)[:2].astype(np.int32), m.pair, m.other), "feature"),
    ],
    "scatter": [scattered("sum", 0), scattered("sum", 5), scattered("max", -1), scattered("min", math.inf)],
    "slice": [
        Case(lambda m: m.backend.slice(m.x(), axis=m.feature, start=1, end=3, out_dim=m.k)),
        Case(lambda m: m.backend.slice(m.x(), axis=m.feature, start=1, size=m.k, out_dim=m.k)),
        Case(lambda m: m.backend.slice(m.x(), axis=m.feature, start=m(np.array(2)), size=2, out_dim=m.k)),
        Case(lambda m: m.backend.slice(m.x(), axis=m.feature, end=-2, out_dim=m.k)),
    ],
    "flip_no_mask": [Case(lambda m: m.backend.flip_no_mask(m(W, m.feature, m.other), axis=m.other))],
    "masked_select": [
        Case(lambda m: m.backend.masked_select(m.x(), mask=m(B, m.batch, m.time), dims=[m.batch, m.time])[0]),
    ],
    "masked_scatter": for_each(put_back, None, np.ones((2, 3, 5), np.float32)),
    # Contraction, convolution, layers
    "matmul": [
        Case(lambda m: m.backend.matmul(m.x(), m(W, m.feature, m.other), reduce=m.feature)),
        Case(lambda m: m.backend.matmul(m.x(), m.x(2.0), reduce=m.feature)),
        Case(lambda m: m.backend.matmul(m.x(), m.x(2.0), reduce=m.time, use_mask=False)),
        Case(lambda m: m.backend.matmul(m.x(), m(W[0], m.other), reduce=m.feature)),
    ],
    "conv": [
        convolved("valid"),
        convolved("same"),
        convolved("same", stride=2),
        convolved(1),
        convolved("valid", groups=2),
    ],
    "transposed_conv": for_each(stretched, 0, 1),
    "pool": [
        pooled(mode, padding, stride)
        for mode in ("max", "avg")
        # PyTorch's backend fails for "same" with a stride of 1 and an even window.
        for padding, stride in (("valid", 1), ("valid", 2), ("same", 2), (1, 1), (1, 2))
    ],
    "batch_norm": for_each(normalised, True, False),
    "lstm": [Case(lstm), Case(lstm_step)],
    "stft": [
        spectra(8, 8),
        spectra(7, 8),
        spectra(5, 8, window_enforce_even=False),
        spectra(6, 8, align_window_left=False, window_use_frame_length=False),
    ],
    # Losses
    "softmax_cross_entropy_with_logits": [
        Case(
            lambda m: m.backend.softmax_cross_entropy_with_logits(
                logits=m.x(), targets=m(I, m.batch, m.time, sparse=m.feature), axis=m.feature
            )
        ),
        Case(
            lambda m: m.backend.softmax_cross_entropy_with_logits(
                logits=m.x(), targets=m.backend.softmax(m.x(2.0), axis=m.feature), axis=m.feature
            )
        ),
    ],
    "ctc_loss": [
        Case(lambda m: sequences(m, "ctc_loss")),
        Case(lambda m: sequences(m, "ctc_loss", max_approx=True), paths(True, best=True)),
        Case(lambda m: sequences(m, "ctc_loss", label_loop=False), paths(False, best=False)),
    ],
    "ctc_best_path": [
        Case(lambda m: sequences(m, "ctc_best_path"), ways(True)),
        Case(lambda m: sequences(m, "ctc_best_path", label_loop=False), ways(False)),
    ],
    "ctc_loss_packed_raw": [Case(packed_ctc, paths(True, best=False))],
    "have_edit_distance": [raw("have_edit_distance")],
    "edit_distance": [Case(distance, np.array([1, 1], np.int32))],
    # Gradients
    "set_requires_gradient": [slope(lambda m, x: x * 3.0)],
    "gradient": [slope(lambda m, x: rf.sin(x))],
    "stop_gradient": [slope(lambda m, x: x * m.backend.stop_gradient(x))],
    "stop_gradient_scope": [slope(stopped)],
    "scaled_gradient": [slope(lambda m, x: m.backend.scaled_gradient(x, -0.5))],
    "scaled_gradient_ext": [
        slope(lambda m, x: m.backend.scaled_gradient_ext(x, scale=2.0, shift=0.5)),
        slope(lambda m, x: m.backend.scaled_gradient_ext(x, shift=0.1, scale_shift_by_sum_over_axis=m.feature)),
    ],
    "gradient_checkpoint_scope": [slope(checkpointed)],
    "close_tape": [Case(lambda m: m.over is None or m.backend.close_tape() is None)],
    # Random numbers
    "random": [
        drawn("uniform", lambda x: abs(x.mean() - 1) < 0.2 and x.min() >= -1 and x.max() < 3, minval=-1.0, maxval=3.0),
        drawn("uniform", lambda x: set(x) == {0, 1, 2}, dtype="int32", maxval=3),
        drawn("normal", lambda x: abs(x.mean() - 1) < 0.5 and abs(x.std() - 2) < 0.4, mean=1.0, stddev=2.0),
        drawn("truncated_normal", lambda x: abs(x - 1).max() <= 1 and x.std() > 0.3, mean=1.0, stddev=0.5),
    ],
    "random_choice_with_replacement": [Case(chosen, True)],
    "set_random_seed": [Case(again, True)],
    "get_random_state": [Case(again, True)],
    "set_random_state": [Case(again, True)],
    "random_journal_replay": [Case(replayed, True)],
    # Control
    "assert_": [Case(asserted, True)],
    "tensor_array_unstack": [Case(lambda m: m.backend.tensor_array_unstack(m.x(), axis=m.feature))],
    "tensor_array_stack": [
        Case(
            lambda m: m.backend.tensor_array_stack(
                [m.x(), m.x(2.0)], axis=m.pair, tensor_template=m.x().copy_template()
            )
        ),
        Case(
            lambda m: m.backend.tensor_array_stack([], axis=Dim(0, name="none"), tensor_template=m.x().copy_template())
        ),
    ],
}
