"""Backends, templates, tapes, graphs and dry runs."""

from __future__ import annotations

from typing import assert_type

import tensorbackend as tb
from tensorbackend import Tensor


def loss(weight: Tensor, x: Tensor) -> Tensor:
    return tb.mean((x @ weight) ** 2)


with tb.default_backend("binary") as backend:
    assert_type(backend, tb.Backend)
    x = assert_type(tb.ones((4, 3), names=("batch", "feature")), Tensor)
weight = assert_type(tb.ones((3, 2), names=("feature", "unit"), backend="binary"), Tensor)
with tb.tape() as tape:
    watched = assert_type(tape.watch(weight), Tensor)
    several = assert_type(tape.watch({"x": x}), dict[str, Tensor])
    value = assert_type(loss(watched, several["x"]), Tensor)
assert_type(tb.gradient(value, watched), Tensor)
assert_type(tb.gradient(value, several), dict[str, Tensor])
template = assert_type(tb.template((2048, 768), "f32", ("batch", "feature")), Tensor)
assert_type(tb.mean(template, axis="batch"), Tensor)
assert_type(tb.trace(loss)(weight, x).results[0], tb.Template)
report = tb.dry_run(loss, weight, x, gradient=True)
assert_type(report.fits("1GB"), bool)
assert_type(tb.show(x).head, str)
assert_type(tb.inspect(x), str)
assert x.backend.name == "binary"
