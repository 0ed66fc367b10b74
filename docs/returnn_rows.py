"""The counterparts of the functions of RETURNN's frontend: the rows of coming-from-returnn.md, made by `rows.py`."""

INTRODUCTION = """\
With the package [tensorbackend-returnn](../plugins/tensorbackend-returnn/README.md), RETURNN's frontend itself runs on
tensorbackend. This page is for code that calls RETURNN's backends directly. The rows are first the functions of
`Backend` in `returnn/frontend/_backend.py`, then those of that module.

A `Dim` corresponds to the name of an axis, which is a string; its size is in the shape of the tensor. A `Dim` whose
size differs between examples corresponds to an axis of [`tb.ragged`](ragged.md), which keeps the lengths with the
values. Some functions of RETURNN have an option `use_mask`; here the functions of `tb.ragged` always mask, and those of
`tb` never do."""

NAMES = """\
import numpy

import tensorbackend as tb
from tensorbackend import ragged

key = tb.random.key(0)
x = tb.random.uniform(key, (2, 4, 6), names=("batch", "time", "feature"))
y = tb.ones((4, 2), names=("time", "batch"))
s = ragged.with_lengths(x, time=[4, 2])
weight = tb.random.normal(key, (6, 3), names=("feature", "unit"))
mask = x > 0.5
labels = tb.asarray([[1, 2], [3, 0]])
p = tb.zeros((3, 2), names=("row", "column"))
"""

ROWS = """
activation | tb.nn.gelu(x), tb.nn.silu(x), tb.nn.log_sigmoid(x), tb.rsqrt(x) |
    for an activation given as a string: `getattr(tb.nn, "gelu")`
activation_raw | tb.nn.relu(x), tb.nn.elu(x), tb.nn.selu(x), tb.nn.softplus(x), tb.square(tb.nn.relu(x)) |
apply_rope | tb.nn.rotary(x, time="time", axis="feature") | computes the angles from the positions
as_dtype_raw | tb.zeros(3, dtype="int32") | every function takes dtypes by name
assert_ | tb.debug_callback(lambda x: None, x) | the callback raises an error; outside of traces use Python's `assert`
batch_norm | tb.nn.batch_norm(x, statistics=tb.nn.Statistics(tb.zeros(6), tb.ones(6)), training=True, mask=s.mask()) |
    returns the new statistics
cast | tb.astype(labels, "int32") | there is no `sparse_dim`; functions of labels take the axis of the classes
cast_raw | tb.astype(x, "float64") |
clip_by_value | tb.clip(x, 0.2, tb.ones(6, names=("feature",))) |
    if the bounds are tensors, align them by `tb.aligned` first
combine | x * tb.aligned(x, y)[1] | `outer=True` if neither operand has all axes
combine_raw | tb.floor_divide(x, 0.5), tb.square(x - 0.5), tb.logical_or(mask, x < 0.1) |
compare | x <= y.align_as(x) |
compare_raw | tb.not_equal(x, 0.5) |
complex_as_real | z = tb.fft.rfft(x); tb.stack([tb.real(z), tb.imag(z)], axis=-1) |
concat | tb.concat([x, x], axis="feature"), ragged.concat([s, s], axis="time") |
    along an axis with lengths, each example is joined at its own length
cond | tb.cond(tb.sum(x) > 1, tb.sin, tb.cos, x) |
control_dependencies_raw | |
    not needed: it orders side effects in TensorFlow's graphs; ops have none, and `tb.debug_callback` keeps its order
conv | tb.nn.conv(x, tb.ones((3, 6, 2), names=("out", "feature", "time")), padding="same", strides=2) |
    `ragged.conv`, on [batch, channel, time], masks and computes the new lengths
convert_to_tensor | tb.asarray([[1, 2]], names=("batch", "time"), dtype="int32") |
copy | tb.asarray(x, copy=True) |
copy_to_device | x.to_device("cpu") |
create_parameter_raw | parameters = {"weight": tb.nn.glorot_normal(key, (6, 3))} |
    a tensor in a dictionary that a function takes
create_placeholder_raw | tb.trace(tb.sin)(tb.template((2,), "f32")) |
ctc_best_path | tb.nn.ctc_alignment(x, labels, logit_lengths=s.lengths["time"], blank=-1) |
    without labels, `tb.nn.ctc_best_path` decodes them
ctc_loss | tb.nn.ctc_loss(x, labels, logit_lengths=s.lengths["time"], label_lengths=tb.asarray([2, 1]), blank=-1) |
    `max_approx` is `alignments="best"`; `label_loop=False` is `repeats=False`
ctc_loss_packed_raw | ragged.unpack(ragged.pack(s, axis="time"), like=s, axis="time") | unpack packed frames first
cum_concat_step | ragged.tensor_array(x[0], 8, axis="step").push(x[0]) |
    shapes stay the same in a loop, so this is a buffer and the number of its filled entries
cumsum | tb.cumulative_sum(x, axis="time") |
edit_distance | tb.nn.edit_distance(labels, labels, reference_lengths=tb.asarray([2, 1])) |
executing_eagerly | tb.is_concrete(x) |
expand_dim | tb.broadcast_to(tb.expand_dims(y, -1, name="unit"), (4, 2, 3)) |
expand_dims_raw | tb.expand_dims(x, 0) |
expand_raw | tb.broadcast_to(tb.zeros((1, 3)), (2, 3)) |
fill_raw | tb.full((2, 3), tb.max(x)) |
flip_no_mask | tb.flip(x, axis="time") | `ragged.flip` reverses within the lengths
format_graph_output | print(tb.trace(tb.sin)(x)), tb.trace(tb.sin)(x).to_dot() |
full | tb.full((2, 3), 0.5, names=("batch", "time"), dtype="float64") |
gather | tb.take(x, labels.rename("batch", "picked"), axis="time", batch="batch") |
    `mode="clip"` takes the nearest entry inside; `ragged.take` takes examples
get_device | x.device |
get_dtype_name_raw | x.dtype.name |
get_known_shape_raw | tb.template((2, 3), "f32").shape |
get_ndim_raw | x.ndim |
get_new_dim_raw | x.names[0], x.shape[0] |
get_random_state | tb.random.generator(42).key | a tensor, which `tb.save` keeps
get_shape_raw | x.shape |
get_shape_tuple_raw | x.shape |
get_tensor_consumers | graph = tb.trace(lambda x: tb.sum(tb.sin(x)))(x); graph.consumers(graph.parameters[0]) |
get_tensor_dependencies | graph = tb.trace(lambda x: tb.sum(tb.sin(x)))(x); graph.dependencies(graph.outputs[0]) |
    eager tensors do not record what they were computed from
gradient | tb.grad(lambda x: tb.sum(x * x))(x) | or on a tape: `tb.gradient(y, x)`
gradient_checkpoint_scope | tb.checkpoint(lambda x: tb.sin(x))(x) | takes a function instead of a block
have_edit_distance | | not needed: every backend has it
have_sequence_mask_raw | | not needed: every backend has it
identity_with_control_dependencies_raw | | see `control_dependencies_raw`
is_finite | tb.isfinite(x) |
is_infinite | x == tb.inf |
is_neg_infinite | x == -tb.inf |
is_valid_in_current_graph | | not needed: using a value of a trace that has ended raises an error
lerp | x + 0.25 * (1 - x) |
log_softmax | ragged.log_softmax(s, axis="time") |
lstm | tb.nn.lstm(x, {"input": tb.ones((6, 12)), "recurrent": tb.ones((3, 12))}, lengths=s.lengths["time"]) |
make_complex | tb.complex(x, x) |
make_output_tensor | x.align_to("time", "batch", "feature") |
masked_scatter | ragged.put_selected(s, s > 0.5, ragged.select(s, s > 0.5, axis="time"), axis="time") |
masked_select | x[mask], ragged.select(s, s.values[:, :, 0] > 0.5, axis="time", size=3) |
    `x[mask]` packs all examples into one axis; `select` keeps the batch axis
matmul | tb.dot(x, weight, contract="feature") |
    other names that both tensors have are batch axes; use `s.filled(0)` to sum over an axis with lengths
merge_dims | tb.merge_axes(x, ("time", "feature"), name="all"), ragged.merge_axes(s, [0, "time"], name="all") |
name_scope_raw | with tb.profile() as profile, profile.span("encoder"): tb.sin(x) | names a part of a profile
pad | ragged.pad(s, (1, 1), axis="time"), tb.pad(x, [(0, 0), (1, 1), (0, 0)], mode="reflect") |
parameter_assign | p[...] = p + 1 |
parameter_assign_key | p[1:] = 1.0; tb.indexed_add(p, tb.asarray([[0], [0]]), tb.ones((2, 2))) |
    `tb.indexed_add` adds once for each repetition of an index
parameter_move_to | tb.backend_transfer({"weight": p}, "numpy") | tensors do not move in place
pool | tb.nn.max_pool(x, {"time": 2}), tb.nn.mean_pool(x, {"time": 2}, padding="same") |
    for axes with lengths use `ragged.windows` and a reduction
random | tb.random.truncated_normal(key, -1, 3, (2, 3), mean=1.0, deviation=2.0), tb.random.randint(key, (5,), 0, 9) |
    takes a key instead of a seed and a state; `bound=b` is `tb.random.uniform(key, shape, minval=-b, maxval=b)`
random_choice_with_replacement | tb.random.categorical(key, tb.log(x), axis="feature", shape=(9, 2, 4)) |
range_over_dim | tb.arange(4, name="time"), ragged.sequence_mask(s.lengths["time"], 4) |
raw_to_numpy | numpy.asarray(x) |
real_as_complex | tb.complex(y.isel(batch=0), y.isel(batch=1)) |
reduce | ragged.mean(s, axis="time"), ragged.logsumexp(s, axis="time"), ragged.argmax(s, axis="time") |
reduce_distributed | | `tb.psum` in `tb.shard_map`, on a [mesh of devices](mesh.md), also of several processes
rel_pos_self_attention | tb.nn.relative_shift(tb.ones((4, 7))) |
    converts scores by distance to scores by key, which `tb.nn.attention` takes as `bias`
replace_dim | x.rename(time="frame") |
reshape | tb.reshape(x, (2, 24), names=("batch", "all")) | `tb.split_axis` and `tb.merge_axes` take axes by name
reshape_raw | tb.reshape(x, (2, -1)) |
runtime_sanity_checks | x.backend.violation(x.template, x.data) | `TENSORBACKEND_CHECK=1` checks every result
safe_log | tb.log(tb.maximum(x, 1e-6)) | `tb.log_softmax` for the logarithm of a softmax
scaled_dot_product_attention | m = x.rename(time="seen"); tb.nn.attention(x, m, m, causal=True) |
    for lengths of `seen`, pass a mask
scaled_gradient | tb.scaled_gradient(x, -0.5) |
scaled_gradient_ext | tb.custom_gradient(lambda x: (x, lambda cotangent: (0.5 * cotangent + 0.1,)))(x) |
    any function of the cotangent
scatter | tb.indexed_add(tb.zeros((2, 5)), labels[..., None], tb.ones((2, 2)), batch=0) |
    `indexed_max`, `indexed_min`, `indexed_logsumexp`, `indexed_mean`; `tb.segment_argmax`
sdpa_varlen_raw | | pad the examples, and use `tb.nn.attention` with a mask
search_sorted | tb.vmap(lambda sorted, x: tb.searchsorted(sorted, x))(tb.sort(x[:, :, 0]), x[:, :2, 1]) |
sequence_mask_raw | ragged.sequence_mask(tb.asarray([3, 1], names=("batch",)), 4) |
set_known_shape_raw | | all shapes are known
set_parameter_initial_value | tb.nn.he_uniform(key, (6, 3), names=("feature", "unit")) |
set_parameter_trainable | tb.grad(lambda w, fixed: tb.sum(w * fixed), argnums=0)(x, x) |
    the arguments by which `tb.grad` differentiates are trained; `tb.stop_gradient` excludes others
set_random_seed | tb.random.generator(42).draw(tb.random.normal, (2, 3)) | the generator has the state, not the process
set_random_state | tb.random.Generator(key) |
set_requires_gradient | with tb.tape() as tape: z = tape.watch(x) |
set_sparse_dim | | name the axis of classes where it is needed: `tb.nn.one_hot(labels, 4, name="class")`
should_pickle_tensor | | all tensors are pickled, except those of traces
slice | ragged.slice_along_axis(s, tb.asarray([1, 0], names=("batch",)), 2, axis="time"), x.isel(time=slice(1, 3)) |
softmax | ragged.softmax(s, axis="time"), tb.nn.masked_softmax(x, mask, axis="feature") |
softmax_cross_entropy_with_logits | tb.nn.cross_entropy(x, tb.softmax(x, axis="feature"), axis="feature") |
    `tb.nn.sparse_cross_entropy` takes labels
sort | values, order = tb.sort(x, axis="time"), tb.argsort(x, axis="time", descending=True) |
split | tb.split(x, (2, 3), axis="feature") | takes the positions of the cuts instead of sizes
split_dims | tb.split_axis(x, "feature", {"head": 2, "unit": -1}) | to pad to a multiple, use `tb.pad` first
squeeze | tb.squeeze(tb.ones((2, 1), names=("batch", "one")), "one") |
squeeze_raw | tb.squeeze(tb.ones((2, 1)), (1,)) |
stack | tb.stack([x, x], axis=0, name="layer") |
stft | tb.nn.stft(tb.ones((2, 400)), frame_length=100, frame_step=50, fft_length=128, name="frequency") |
stop_gradient | tb.stop_gradient(x) |
stop_gradient_scope | with tb.tape() as tape, tape.paused(): tb.sin(tape.watch(x)) |
tensor_array_create | ragged.tensor_array(tb.template((3,), "f32"), 8) |
    use a Python list where no loop is traced
tensor_array_get_item | ragged.tensor_array(x[0], 8, axis="step").push(x[0])[0] |
tensor_array_push_back | ragged.tensor_array(x[0], 8, axis="step").push(x[0]) |
tensor_array_stack | tb.stack([x, x], axis=0, name="step"), ragged.tensor_array(x[0], 8, axis="step").stack() |
tensor_array_unstack | tb.unstack(x, axis="time") |
top_k | tb.top_k(x, 3, axis=("time", "feature")), tb.top_k(x, tb.asarray([[2], [3]]), axis="feature", size=3) |
transpose_raw | tb.permute_dims(x, (1, 0, 2)) |
transposed_conv | tb.nn.conv_transpose(x, tb.ones((6, 3, 2), names=("feature", "out", "time")), strides=2) |
unstack | tb.unstack(x, axis="time") |
where | tb.where(mask, x, tb.aligned(x, y)[1]) |
while_loop | ragged.unroll(lambda n: (n // 2, n, n <= 1), tb.asarray([6, 1], names=("batch",)), limit=8) |
    for results whose length depends on data, up to a limit; `tb.while_loop` if nothing grows
get_backend_by_raw_tensor_type | tb.backend_of(numpy.ones(3)) |
get_backend_by_tensor | x.backend |
get_selected_backend | tb.get_backend().name |
is_executing_eagerly | tb.is_concrete(x) |
register_backend_by_tensor_type | |
    `tb.register_backend(MyBackend)` registers a class by its name; `array_types` of the class names its arrays
select_backend | tb.set_default_backend("numpy") | `with tb.default_backend("jax"):` for a block
select_backend_jax | tb.default_backend("jax") |
select_backend_numpy | tb.set_default_backend("numpy") |
select_backend_returnn_layers_tf | | has no counterpart: RETURNN itself no longer writes these dictionaries of layers
select_backend_tf | | there is no backend on TensorFlow
select_backend_torch | tb.backends() |
    lists "torch" once [tensorbackend-torch](../plugins/tensorbackend-torch/README.md) is installed
"""
