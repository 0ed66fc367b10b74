"""The counterparts of PyTorch's functions here: the rows of coming-from-pytorch.md, which `rows.py` makes."""

INTRODUCTION = """\
PyTorch itself can be the library that computes: install
[tensorbackend-torch](../plugins/tensorbackend-torch/README.md) and use `backend="torch"`. The differences are:

- `x[0] = 1` changes the tensor `x`, and no slice of it, as `x[1:]` is not a view; `x += y` is `x = x + y`, a new tensor
  ([assignment](semantics.md#assignment)).
- Functions have the Array API standard's names, with `axis` and `keepdims` for `dim` and `keepdim`. If you use a name
  of PyTorch's, the error tells ours: `tb.cat` raises "write tb.concat".
- You differentiate functions, as in JAX: `tb.grad(loss)(parameters)`. There is no `requires_grad` and no `.grad`.
  [Tapes](gradients.md#tapes) record eager calls, as PyTorch does for `backward`.
- There are no modules: parameters are dictionaries of tensors, and a layer is a function ([networks](nn.md)).
- Random numbers come from [keys](random.md), not from a global seed.
- Axes may have names that are checked everywhere ([named axes](named-axes.md)); for programs with PyTorch's own see
  [named tensors](coming-from-named-tensors.md).
- Channels are the last axis by default, or the axis that you name."""

NAMES = """\
import tensorbackend as tb

x = tb.asarray([[3.0, 1.0, 2.0], [0.5, 4.0, 0.25]], names=("batch", "feature"))
y = tb.asarray([[1.0, 2.0, 0.5], [2.0, 1.0, 4.0]], names=("batch", "feature"))
labels = tb.asarray([2, 0], names=("batch",))
key = tb.random.key(0)
image = tb.random.normal(key, (2, 8, 8, 3), names=("batch", "row", "column", "channel"))
parameters = {"weight": tb.ones((3, 2), names=("feature", "unit"))}


def loss(parameters, x):
    return tb.mean((x @ parameters["weight"]) ** 2)
"""

ROWS = """
torch.tensor([1.0, 2.0]) | tb.tensor([1.0, 2.0]) |
torch.from_numpy(a) | tb.asarray(x.data) | shares the memory; `tb.from_dlpack` takes any library's array
x.numpy() | x.data | `numpy.asarray(x)` works for any backend in host memory
x.to("cuda") | x.to_device("cpu") | takes a device of the backend: `"cuda:0"` on CuPy and PyTorch
x.to(torch.float16) | x.astype("f16") |
x.item() | x[0, 0].item() |
x.shape, x.size(0) | x.shape, x.shape[0] |
torch.zeros_like(x) | tb.zeros_like(x) |
torch.arange(10) | tb.arange(10) |
x.view(-1, 2), x.reshape(-1, 2) | x.reshape(-1, 2) | there is no difference between the two
x.permute(1, 0) | tb.permute_dims(x, (1, 0)) | by name: `x.align_to("feature", "batch")`
x.transpose(0, 1) | tb.permute_dims(x, (1, 0)) |
x.unsqueeze(0) | tb.expand_dims(x, 0, name="time") |
x.squeeze(0) | tb.squeeze(x[None], 0) |
torch.cat([x, y], dim=1) | tb.concatenate([x, y], axis="feature") |
torch.stack([x, y]) | tb.stack([x, y], name="pair") |
torch.chunk(x, 3, dim=1) | tb.split(x, 3, axis=1) |
x.expand(4, 2, 3) | tb.broadcast_to(x, (4, 2, 3)) |
x.repeat(2, 1) | tb.tile(x, (2, 1)) |
x.repeat_interleave(2, dim=0) | tb.repeat(x, 2, axis=0) |
x.flatten(0, 1) | tb.merge_axes(x, ("batch", "feature"), name="all") |
x.unflatten(1, (3, 1)) | tb.split_axis(x, "feature", {"head": 3, "unit": 1}) |
x.sum(dim=1, keepdim=True) | x.sum("feature", keepdims=True) |
x.max(dim=1) | tb.max(x, axis="feature"), tb.argmax(x, axis="feature") | `tb.top_k(x, 1)` returns both
x.std(dim=0) | tb.std(x, axis="batch", correction=1) | the divisor is n by default, as in the standard
torch.cumsum(x, dim=1) | tb.cumulative_sum(x, axis="feature") |
torch.topk(x, 2) | tb.top_k(x, 2) |
torch.gather(x, 1, index) | tb.take_along_axis(x, tb.asarray([[0], [2]]), axis=1) |
torch.scatter_add | tb.add_along_axis(x, tb.asarray([[0], [2]]), tb.ones((2, 1)), axis=1) |
torch.index_select(x, 1, index) | tb.take(x, [2, 0], axis="feature") |
torch.index_add | tb.indexed_add(x, tb.asarray([[1]]), tb.ones((1, 3))) |
x.masked_fill(mask, 0) | tb.where(x > 2, 0, x) |
torch.where(c, x, y) | tb.where(x > 1, x, y) |
torch.clamp(x, 0, 1) | tb.clip(x, 0, 1) |
torch.einsum("bf,bf->b", x, y) | tb.einsum("bf,bf->b", x, y) | or words: `"batch feature, batch feature -> batch"`
torch.bmm | tb.matmul(tb.ones((4, 2, 3)), tb.ones((4, 3, 2))) | or by axis names: `tb.dot(x, y, contract=...)`
torch.linalg.solve(a, b) | tb.linalg.solve(tb.eye(2), tb.ones(2)) |
torch.no_grad() | loss(parameters, x) | nothing is recorded unless a gradient is requested
loss.backward(); p.grad | tb.grad(loss)(parameters, x) | a gradient for each parameter, in the same dictionary
x.detach() | tb.stop_gradient(x) |
torch.autograd.functional.jacobian | tb.jacobian(lambda x: tb.sum(x * x, axis="feature"))(x) |
torch.utils.checkpoint.checkpoint | tb.checkpoint(loss)(parameters, x) |
torch.compile(f) | tb.jit(loss)(parameters, x) |
torch.func.vmap(f) | tb.vmap(tb.sum, in_axes="batch")(x) |
torch.optim.Adam | tb.optimize.adam(1e-3).init(parameters) | `update(gradient, state, parameters)` returns the updates
torch.optim.RMSprop, Adafactor | | `tb.optimize.rmsprop(1e-3)`, `tb.optimize.adafactor()`; also `lion`
torch.optim.swa_utils.AveragedModel | | `tb.optimize.moving_average(0.999)`
nn.utils.clip_grad_norm_ | tb.optimize.clip_by_global_norm(1.0).init(parameters) | in a `chain` with the optimiser
nn.Linear | x @ parameters["weight"] | a bias is added with `+`
nn.Conv2d | tb.nn.conv(image, tb.nn.he_normal(key, (4, 3, 3, 3), inputs=1, outputs=0)) |
    the axes of the kernel are (output, input, *window); `axis` is the axis of channels
nn.MaxPool2d(2) | tb.nn.max_pool(image, {"row": 2, "column": 2}) |
nn.LayerNorm | tb.nn.layer_norm(x, axis="feature") |
nn.Dropout(0.1) | tb.nn.dropout(key, x, 0.1) | call it in training only
nn.Embedding | tb.take(tb.ones((10, 4), names=("word", "unit")), labels, axis="word") |
nn.LSTM | | `tb.nn.lstm(x, parameters, lengths=...)`; see [networks](nn.md)
nn.MultiheadAttention | | `tb.nn.multi_head_attention(parameters, x, heads=...)`
F.scaled_dot_product_attention(q, k, v) | tb.nn.attention(x, x, x, time="batch", axis="feature") |
F.softmax(x, dim=-1) | tb.softmax(x, axis="feature") |
F.cross_entropy(x, labels) | tb.mean(tb.nn.sparse_cross_entropy(x, labels, axis="feature")) | one loss for each example
F.cross_entropy(..., ignore_index=-100) | | `tb.nn.sparse_cross_entropy(x, labels, ignore_index=-100)`
F.mse_loss(x, x * 2) | tb.nn.mean_squared_error(x, x * 2) |
F.huber_loss(x, x * 2, reduction="none") | tb.nn.huber(x, x * 2) |
F.binary_cross_entropy_with_logits | |
F.triplet_margin_loss | | `tb.nn.triplet(anchors, positives, negatives)`
F.linear | | `tb.nn.dense(x, weight, bias)`, whose weight has the axes (in, out)
F.embedding | |
torch.hann_window(4) | tb.nn.hann(4) | likewise `hamming`, `blackman`, `kaiser`
F.one_hot(labels, 3) | tb.nn.one_hot(labels, 3, name="class") |
F.ctc_loss | | `tb.nn.ctc_loss(logits, labels, logit_lengths=..., label_lengths=...)`
F.pad(x, (1, 0)) | tb.pad(x, {"feature": (1, 0)}) |
F.grid_sample | | `tb.grid_sample(grid, coordinates)`; coordinates count entries, they do not run from -1 to 1
F.interpolate(image, (16, 16)) | tb.resize(image, {"row": 16, "column": 16}, method="nearest") |
    mode="bilinear" is `method="linear"`, `align_corners=True` is `coordinates="align_corners"`
F.unfold(image, 3) | tb.unfold(image, {"row": 3, "column": 3}) | also `tb.fold`
F.max_pool2d(image, 2, return_indices=True) | tb.window_argmax(image, {"row": 2, "column": 2}) |
    `F.max_unpool2d` is `tb.nn.max_unpool`
torchvision.ops.nms | tb.nn.non_maximum_suppression(tb.zeros((2, 4)), tb.zeros(2), size=1) |
    the result has a static size, and -1 behind the last box
torchvision.ops.deform_conv2d | | `tb.nn.deform_conv(x, kernel, offsets, bias, mask)`
F.gelu(x), F.silu(x) | tb.nn.gelu(x), tb.nn.silu(x) |
torch.manual_seed(0); torch.randn(2, 3) | tb.random.normal(tb.random.key(0), (2, 3)) |
torch.rand(2, 3) | tb.random.uniform(key, (2, 3)) |
torch.poisson | | `tb.random.poisson(key, rate)`; likewise the classes of `torch.distributions`
torch.randperm(5) | tb.random.permutation(key, 5) |
torch.multinomial(p, 2) | tb.random.categorical(key, tb.log(x), axis="feature") |
torch.save(model.state_dict()) | | `tb.save("model.safetensors", parameters)`
torch.nn.utils.rnn.pack_padded_sequence | | `tb.ragged.with_lengths(x, time=lengths)`: padding never affects results
torch.sparse_csr_tensor | tb.sparse.from_dense(tb.eye(3)) | formats COO, CSR and CSC
torch.cuda.synchronize() | x.block_until_ready() |
torch.profiler.profile | | `with tb.profile() as p:`
FakeTensorMode, device="meta" | loss(parameters, tb.template((4, 3), "f32")) | `tb.dry_run` adds FLOPs and peak memory
torch.distributed | | on JAX: `tb.distributed`, and tensors on [meshes of devices](mesh.md)
DataLoader | tb.to_batched(x, 1) | batches of a tensor; any iterable of arrays works too
"""
