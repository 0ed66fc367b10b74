"""The counterparts of PyTorch's named tensors here: the rows of coming-from-named-tensors.md, which `rows.py` makes."""

INTRODUCTION = """\
PyTorch had named tensors as a prototype, and removed them in version 2.13. Their rules are those of
[named axes](named-axes.md) here, with two differences:

- Names stay everywhere: in gradients, compiled functions, batches, files, and on every backend. PyTorch's autograd
  ignored them, and few of its operators took them.
- A tensor that has names may be renamed at once. `refine_names` refused to replace a name by another; `rename` does
  not.

The last column begins with the names that PyTorch gave, by its documentation of
[name inference](https://pytorch.org/docs/1.9.0/name_inference.html). A test compares them with the names here. A name
in PyTorch had to be an identifier; here it is any text."""

NAMES = """\
import tensorbackend as tb

x = tb.ones((2, 3, 4, 5), names=("N", "C", "H", "W"))
plain = tb.ones((2, 3, 4, 5))
bias = tb.ones(3, names="C")
weight = tb.ones((5, 6), names=("W", "out"))
mask = tb.ones((4, 5), names=("H", "W")) > 0


def refused(function):
    try:
        function()
    except (tb.errors.NamesError, tb.errors.ShapeError, tb.errors.AxisError):
        return "refused"
"""

ROWS = """
torch.zeros(2, 3, names=("N", "C")) | tb.zeros((2, 3), names=("N", "C")) | `("N", "C")`
x.names | x.names | `("N", "C", "H", "W")`
x.has_names() | any(name is not None for name in x.names) | `True`
x.size("C") | x.shape[x.names.index("C")] | `3`
x.rename(C="channel") | x.rename(C="channel") | `("N", "channel", "H", "W")`
x.rename("a", "b", "c", "d") | x.rename("a", "b", "c", "d") | `("a", "b", "c", "d")`
x.rename(None) | x.rename(None, None, None, None) | `(None, None, None, None)`
x.rename_(C="channel") | x.rename(C="channel") | `("N", "channel", "H", "W")` of a new tensor; write `x = x.rename(...)`
plain.refine_names("N", "C", "H", "W") | plain.rename("N", "C", "H", "W") | `("N", "C", "H", "W")`
plain.refine_names(..., "H", "W") | plain.rename(None, None, "H", "W") | `(None, None, "H", "W")`
x.align_to("W", "H", "C", "N") | x.align_to("W", "H", "C", "N") | `("W", "H", "C", "N")`
x.align_to("C", ...) | x.align_to("C", "N", "H", "W") | `("C", "N", "H", "W")`; there is no `...`
x.align_to("N", "T", "C", "H", "W") | x.align_to("N", "T", "C", "H", "W") |
    `("N", "T", "C", "H", "W")`: a new axis has size 1
bias.align_as(x) | bias.align_as(x) | `("N", "C", "H", "W")`
torch.align_tensors(bias, x) | tb.aligned(bias, x)[0] | `("N", "C", "H", "W")`
x.flatten(["C", "H", "W"], "features") | tb.merge_axes(x, ("C", "H", "W"), name="features") | `("N", "features")`
x.unflatten("C", [("group", 3), ("unit", 1)]) | tb.split_axis(x, "C", {"group": 3, "unit": 1}) |
    `("N", "group", "unit", "H", "W")`
x.abs() | tb.abs(x) | `("N", "C", "H", "W")`: names are kept
x.softmax("C") | tb.nn.softmax(x, axis="C") | `("N", "C", "H", "W")`
x.cumsum("C") | tb.cumulative_sum(x, axis="C") | `("N", "C", "H", "W")`
x.sum("C") | x.sum("C") | `("N", "H", "W")`: a reduction removes the name
x.sum(["H", "W"]) | tb.sum(x, axis=("H", "W")) | `("N", "C")`
x.sum("C", keepdim=True) | x.sum("C", keepdims=True) | `("N", "C", "H", "W")`
x.std(["H", "W"]) | tb.std(x, axis=("H", "W"), correction=1) | `("N", "C")`; the divisor is n by default
x.logsumexp("C") | tb.logsumexp(x, axis="C") | `("N", "H", "W")`
x.max("C").values | tb.max(x, axis="C") | `("N", "H", "W")`
x.median("C").values | tb.median(x, axis="C") | `("N", "H", "W")`; of two middle elements the mean, not the lower
x.select("C", 0) | x.isel(C=0) | `("N", "H", "W")`
x.unbind("C")[0] | tb.unstack(x, axis="C")[0] | `("N", "H", "W")`
x.split(1, "C")[0] | tb.split(x, 3, axis="C")[0] | `("N", "C", "H", "W")`
x[0] | x[0] | `("C", "H", "W")`
x.transpose("H", "W") | x.align_to("N", "C", "W", "H") | `("N", "C", "W", "H")`
torch.cat([x, x], "N") | tb.concatenate([x, x], axis="N") | `("N", "C", "H", "W")`
x[:1].squeeze("N") | tb.squeeze(x[:1], "N") | `("C", "H", "W")`
x + plain | x + plain | `("N", "C", "H", "W")`: `None` matches every name
x + bias.align_as(x) | x + bias.align_as(x) | `("N", "C", "H", "W")`
x > 0 | x > 0 | `("N", "C", "H", "W")`
x + x.rename(C="K") | refused(lambda: x + x.rename(C="K")) | `"refused"`: names that meet must match
x + bias | refused(lambda: x + bias) | `"refused"`: axes pair by position, and C would meet W
x.sum("K") | refused(lambda: x.sum("K")) | `"refused"`
x.masked_fill(mask, 0.0) | tb.where(mask, 0.0, x) | `("N", "C", "H", "W")`
x @ weight | x @ weight | `("N", "C", "H", "out")`: contracts W with the axis before the last
x @ weight.rename(W="K") | refused(lambda: x @ weight.rename(W="K")) |
    `"refused"`; PyTorch contracted axes of any names, unless one stood twice in the result
torch.einsum | tb.einsum("N C H W, C -> N H W", x, bias) | `("N", "H", "W")`; PyTorch's took no names
x.grad | tb.grad(lambda x: tb.sum(x * x))(x) | `("N", "C", "H", "W")`; PyTorch's had no names
torch.save | | `tb.save("a.safetensors", {"x": x})` keeps names; PyTorch's refused them
"""
