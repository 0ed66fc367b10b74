"""Tensors as files hold them: checked when a model is loaded, and read when they are first used."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy
import tensorbackend as tb
from onnx import TensorProto, helper
from tensorbackend.extending import numpy_dtype, unpack_codes

from .dtypes import dtype_of
from .errors import ModelError

Memory = bytes | memoryview
"""The bytes of a tensor: its own, or a part of a file that is mapped into memory."""


class Stored(NamedTuple):
    """A tensor whose data stays where it is until `on` is called."""

    template: tb.Template
    read: Callable[[], Memory]
    """Returns the data in row-major order, little-endian."""

    def on(self, backend: tb.Backend | None = None) -> tb.Tensor:
        """The tensor on a backend, by default the reference; NumPy's shares the file's memory, if it is aligned."""
        template, data, backend = self.template, self.read(), backend or tb.get_backend("binary")
        if template.dtype.is_narrow:
            codes = unpack_codes(numpy.frombuffer(data, numpy.uint8), template.dtype.bits, template.size)
            return tb.from_binary(codes.tobytes(), template, backend)
        if backend.name == "binary":
            return tb.from_binary(bytes(data), template, backend)
        array = numpy.frombuffer(data, numpy_dtype(template.dtype).newbyteorder("<"))
        if not array.flags.aligned:  # each product would copy it
            array = array.copy()
        return tb.asarray(array.reshape(template.shape), backend=backend)


def stored(tensor: TensorProto, data: Callable[[], Memory] | None = None, size: int | None = None) -> Stored:
    """The tensor of a `TensorProto`.

    Parameters
    ----------
    tensor
        ONNX's record of the tensor.
    data, size
        What reads the data, and its number of bytes, where they are not in the record.

    Raises
    ------
    ModelError
        The dtype has no counterpart, or the data has not as many elements as the shape says.
    """
    name = tensor.name or "tensor"
    if any(length < 0 for length in tensor.dims):
        raise ModelError(f"expected sizes of at least 0, got {name} of shape={list(tensor.dims)}")
    template = tb.Template(tuple(tensor.dims), dtype_of(tensor.data_type))
    expected = template.nbytes
    if data is None:
        inside = tensor.raw_data if tensor.HasField("raw_data") else _typed(tensor, template)
        data, size = (lambda: inside), len(inside)
    if size != expected:
        raise ModelError(f"expected {expected} bytes of data for {name}, {template}, got {size}")
    return Stored(template, data)


def _typed(tensor: TensorProto, template: tb.Template) -> bytes:
    """The data of a record that lists numbers; ints may be the bits of narrow floats, or several elements in a byte."""
    kept = helper.tensor_dtype_to_np_dtype(helper.tensor_dtype_to_storage_tensor_dtype(tensor.data_type))
    numbers = numpy.asarray(getattr(tensor, helper.tensor_dtype_to_field(tensor.data_type)), kept)
    own = numpy_dtype(template.dtype)
    if template.dtype.is_narrow or template.dtype in (tb.float16, tb.bfloat16):
        own = numpy.dtype("u1" if template.dtype.is_narrow else "u2")
    return (numbers if template.dtype.kind == "complex" else numbers.astype(own)).tobytes()
