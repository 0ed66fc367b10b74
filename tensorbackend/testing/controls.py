"""Controls: backends with one fault each, and the kind of failure by which tests must detect it.

A control is the reference with some methods replaced; for faults of memory, and some others, it is NumPy's backend.
Controls test the tests of backends: each must be detected within 200 drawn calls, by a failure of the kind in its row.
"""

from __future__ import annotations

from typing import NamedTuple

from ..backends.binary import BinaryBackend
from ..backends.numpy_backend import NumpyBackend
from ..declarations.op_specs import CALLBACKS
from ..protocol import Backend
from ..protocol.core import Core
from ..protocol.planned import is_planned
from .failures import Kind
from .forms import as_planned
from .transport import TRANSPORT
from .wrong_callbacks import (
    Callback,
    Memory,
    all_axes_but_one,
    alter_options,
    another_error,
    both_zeros,
    crashes,
    cut,
    drop_nan,
    elementwise,
    elsewhere,
    equal_nan,
    exchange_words,
    farther,
    first_wins,
    flat,
    flush_products,
    fmod,
    forward,
    identity,
    ignore_limit,
    logical_shift,
    nan_first,
    negate_factors,
    negate_in_place,
    one_more,
    other_end,
    plain_form,
    reuse_buffer,
    round_away,
    share,
    shift,
    softmax_over_all,
    sorts_its_input,
    swap_bytes,
    swap_sides,
    then,
    truncate,
    truncate_quotient,
    unstable,
    wide,
    wipe,
    wrap,
    writable,
    wrong_plain_form,
)


class Control(NamedTuple):
    """One wrong backend."""

    what: str
    op: str
    dtype: str
    kind: Kind
    """The kind of failure that catches it."""
    methods: dict[str, Callback]
    base: type[Backend] = BinaryBackend

    def backend(self) -> Backend:
        """The wrong backend, under its own name."""
        backend_class: type[Backend] = type(
            "Wrong", (self.base,), {"name": "wrong", "dispatch_priority": 1, **self.methods}
        )
        return backend_class()

    def planned(self) -> Control | None:
        """The control with its plain callbacks as planned ones, `None` if it has none."""
        methods = {
            name: as_planned(method) if name in CALLBACKS and not is_planned(method) else method
            for name, method in self.methods.items()
        }
        return None if methods == self.methods else self._replace(what=f"{self.what}, planned", methods=methods)


UNSEEN: dict[str, Callback] = {"violation": Core.violation}
"""In a backend that does not look at its payloads itself."""

CONTROLS: list[Control] = [
    # Values
    Control("5 ulps where 4 are allowed", "exp", "float32", "value", then("exp", farther(5))),
    Control("1 ulp where it must be exact", "add", "float64", "value", then("add", farther(1))),
    Control("1 ulp where it must be exact", "sqrt", "bfloat16", "value", then("sqrt", farther(1))),
    Control("loses the sign of zero", "negative", "float32", "value", {"negate": elementwise(lambda x: 0 - x)}),
    Control("-0.0 + -0.0 is 0.0", "add", "float32", "value", {"add": elementwise(both_zeros)}),
    Control("truncates for floor", "floor", "float64", "value", {"floor": elementwise(cut)}),
    Control("rounds half away from zero", "round", "float32", "value", {"round": elementwise(round_away)}),
    Control(
        "drops a NaN on the left", "maximum", "float32", "value", {"max": elementwise(lambda a, b: a if a > b else b)}
    ),
    Control("drops NaN in a reduction", "max", "float32", "value", {"reduce_max": drop_nan}),
    Control(
        "NaN on the left is 0", "add", "float32", "value", {"add": elementwise(lambda a, b: a + b if a == a else 0.0)}
    ),
    Control("NaN equals NaN", "equal", "float32", "value", {"equal": elementwise(equal_nan)}),
    Control("treats subnormals as zeros", "multiply", "float32", "value", {"multiply": flush_products}),
    Control("division truncates", "floor_divide", "int32", "value", {"floor_divide": elementwise(truncate_quotient)}),
    Control("the sign of the dividend", "remainder", "int16", "value", {"remainder": elementwise(fmod)}),
    Control(
        "overflow saturates", "add", "int8", "value", {"add": elementwise(lambda a, b: min(127, max(-128, a + b)))}
    ),
    Control(
        "zeros shifted in on the left",
        "bitwise_right_shift",
        "int8",
        "value",
        {"right_shift": elementwise(logical_shift)},
    ),
    Control("casts floats to int8 by wrapping", "astype", "float32", "value", {"as_type": wrap}),
    Control("cuts floats off to bfloat16", "astype", "float32", "value", {"as_type": truncate}),
    # Order
    Control("the last of ties", "argmax", "int8", "value", alter_options("argmax", tie_break="high")),
    Control("the last of ties", "argmin", "float16", "value", alter_options("argmin", tie_break="high")),
    Control("never descends", "sort", "float32", "value", alter_options("sort", descending=False)),
    Control("NaN first", "sort", "float32", "value", {"sort": nan_first}),
    Control("an order that is not stable", "argsort", "int8", "value", {"argsort": unstable}),
    Control("no order at all", "argsort", "int32", "value", then("argsort", lambda elements, out: [0] * len(elements))),
    # Axes and indices
    Control("does not reverse", "flip", "int16", "value", {"reverse": identity}),
    Control("does not move axes", "permute_dims", "uint8", "value", {"transpose": identity}),
    Control("axes reversed", "cumulative_sum", "int32", "value", {"cumulative_sum": other_end}),
    Control("one axis too few", "sum", "int64", "payload", {"sum": all_axes_but_one}),
    Control("one way only", "cumulative_sum", "int32", "value", alter_options("cumulative_sum", reverse=False)),
    Control("blocks in the wrong place", "concatenate", "int32", "value", then("concatenate", shift)),
    Control("pads the other side", "pad", "int32", "value", {"pad": swap_sides}),
    Control(
        "windows filled with 0",
        "window_max",
        "int32",
        "value",
        then("window_max", lambda elements, out: [max(element, 0) for element in elements]),
    ),
    Control("clips in silence", "take", "int8", "error", alter_options("take", mode="clip")),
    Control("clips where it must raise", "gather", "int8", "error", alter_options("gather", mode="clip")),
    Control("the first of repeated indices wins", "indexed_put", "int8", "value", {"indexed_put": first_wins}),
    Control("an error of its own", "take", "float32", "error", {"take": another_error}),
    Control("a crash", "exp", "float32", "exception", {"exp": crashes}),
    # Transforms, matrices, random words
    Control("one norm for all", "fft", "complex64", "value", alter_options("fft", norm="backward")),
    Control("the forward transform", "irfft", "float32", "value", {"ifft": forward}),
    Control("words exchanged", "threefry2x32", "uint32", "value", {"threefry2x32": exchange_words}),
    Control("the other sign", "qr", "float64", "value", negate_factors("qr")),
    Control("the other sign", "eigh", "float32", "value", negate_factors("eigh")),
    Control("the other sign", "svd", "float64", "value", negate_factors("svd")),
    Control(
        "the lower triangle", "triangular_solve", "float64", "value", alter_options("triangular_solve", lower=True)
    ),
    Control(
        "never transposed",
        "triangular_solve",
        "complex64",
        "value",
        alter_options("triangular_solve", transform="none"),
    ),
    Control("always 1", "det", "float32", "value", then("determinant", lambda elements, out: [1.0] * len(elements))),
    # Composites
    Control("an override that ignores its axis", "softmax", "float32", "value", {"softmax": softmax_over_all}),
    Control("counts one too many", "bincount", "int64", "template", {"counts": one_more}, NumpyBackend),
    Control("a result on another backend", "softmax", "float32", "payload", {"optional": elsewhere}),
    # Payloads and memory
    Control("does not cast", "astype", "float64", "payload", {"as_type": identity}),
    Control("does not reshape", "reshape", "float32", "payload", {"reshape": identity, **UNSEEN}, NumpyBackend),
    Control("a wider dtype", "sin", "float32", "payload", {"sin": wide}, Memory),
    Control("the wrong shape", "sin", "float32", "payload", {"sin": flat}, Memory),
    Control(
        "wrong in its plain form alone",
        "negative",
        "int16",
        "value",
        {"negate": plain_form(wrong_plain_form, identity)},
    ),
    Control("changes its input", "negative", "float32", "mutation", {"negate": negate_in_place}, Memory),
    Control("changes its input after reading it", "sort", "int32", "mutation", {"sort": sorts_its_input}, Memory),
    Control("one buffer for all results", "negative", "float32", "alias", {"negate": reuse_buffer}, Memory),
    Control("frees what it gave away", "reshape", "float32", "alias", {"backend_deallocate": wipe}, Memory),
    Control("shows memory to be written to", "negative", "float32", "alias", {"to_numpy": writable}, Memory),
    Control("keeps an array that it must copy", TRANSPORT, "float32", "alias", {"from_numpy": share}, Memory),
    Control("reads too much", TRANSPORT, "int16", "exception", {"to_binary": ignore_limit}),
    Control("the other byte order", TRANSPORT, "int16", "value", {"from_binary": swap_bytes}),
]
"""The controls, one a row; the first field says what is wrong."""

CONTROLS += [planned for control in CONTROLS if (planned := control.planned()) is not None]
