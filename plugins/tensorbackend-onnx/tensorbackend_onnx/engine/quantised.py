"""Products with quantised matrices by the operator `MatMulNBits`, whose session has the matrix packed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy
import tensorbackend as tb
from onnx import TensorProto, helper, numpy_helper
from tensorbackend.dtypes.packing import pack_codes
from tensorbackend.protocol import Kernel, Payload

from .differences import OPSET
from .sessions import Refused, kernel_of_session, session_of

if TYPE_CHECKING:
    from .backend import OnnxRuntimeBackend

MICROSOFT: Final = "com.microsoft"

MOST_BYTES: Final = 1 << 30
"""The size of a matrix above which it does not fit in a model's file."""

ROUNDED: Final = 4
"""The level of accuracy from which on x is rounded to 8 bits. Below it the engine is quick with 4 bits only."""


class Packed(NamedTuple):
    """What is kept with a quantised matrix."""

    parts: tuple[Payload, ...]
    """Its payloads, which nobody writes to while they are kept here."""
    kernel: Kernel | None
    """The session's; `None` before the second product, or if there is none."""


def product(x: tb.Tensor, q: tb.Quantized, backend: OnnxRuntimeBackend) -> Payload | None:
    """The product by the session of q, which its second product makes; `None` if its numbers are to be computed."""
    if x.dtype is not tb.float32:
        return None
    parts = tuple([part.data for part in (q.values, q.scales, q.zeros) if part is not None])
    known = backend.packed.get(q)
    if known is None or any(one is not other for one, other in zip(known.parts, parts, strict=True)):
        backend.packed[q] = Packed(parts, None) if fits(q, backend.accuracy_level) else Packed(parts, _nothing)
        return None
    if known.kernel is _nothing:
        return None
    kernel = known.kernel
    if kernel is None:
        try:
            session = session_of(
                backend.runtime, model_of(q, backend.accuracy_level), backend.providers, backend.threads
            )
            kernel = kernel_of_session(session)
        except Refused:
            kernel = _nothing
        backend.packed[q] = Packed(parts, kernel)
    found = kernel(x.data)
    return None if found is None else found[0]


def _nothing(payload: Payload) -> None:
    """The kernel of a matrix whose numbers are computed."""
    return


def fits(q: tb.Quantized, level: int) -> bool:
    """Whether the engine has a quick product with a matrix."""
    bits = q.dtype.bits
    whole = q.dtype.kind in ("int", "uint") and q.ndim >= 1 and q.values.template.nbytes < MOST_BYTES
    return whole and bits in ((2, 4, 8) if level >= ROUNDED else (4,)) and q.block >= 16 and q.block.bit_count() == 1


def model_of(q: tb.Quantized, level: int) -> bytes:
    """A model of one `MatMulNBits`, with the matrix among its constants."""
    bits, count = q.dtype.bits, q.shape[q.axis]
    width = math.prod(q.shape) // count
    codes = numpy.asarray(q.values).view("uint8").reshape(-1, width).T
    signed = q.dtype.kind == "int"
    if signed:  # the operator has unsigned integers around the middle of their range
        codes = codes ^ numpy.uint8(sum(1 << place + bits - 1 for place in range(0, 8, bits)))
    groups = count // q.block
    constants = {
        "codes": numpy.ascontiguousarray(codes).reshape(width, groups, q.block * bits // 8),
        "scales": numpy.asarray(tb.astype(q.scales, "float32")).reshape(groups, width).T.ravel(),
    }
    if q.zeros is not None or not signed:
        points = numpy.zeros((groups, width), "int64")
        if q.zeros is not None:
            points = numpy.asarray(tb.astype(q.zeros, "int64")).reshape(groups, width)
        constants["points"] = packed_rows(points.T + (1 << bits - 1) * signed, bits)
    attributes: dict[str, Any] = {"K": count, "N": width, "bits": bits, "block_size": q.block, "accuracy_level": level}
    node = helper.make_node("MatMulNBits", ["x", *constants], ["y"], domain=MICROSOFT, **attributes)
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, size])
        for name, size in (("x", count), ("y", width))
    ]
    arrays = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph([node], "product", ends[:1], ends[1:], arrays)
    imports = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
    model: bytes = helper.make_model(graph, opset_imports=imports, ir_version=10).SerializeToString()
    return model


def packed_rows(numbers: Any, bits: int) -> Any:
    """Small numbers with several to a byte along each row, the first in the low bits."""
    filled = numpy.pad(numbers, [(0, 0), (0, -numbers.shape[1] % (8 // bits))]).astype("uint8")
    return pack_codes(filled, bits).reshape(len(numbers), -1)
