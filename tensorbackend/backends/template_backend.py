"""TemplateBackend: carries shapes only, for dry runs of whole programs.

No op is named here: every callback of the protocol is answered by the same method, which returns nothing,
and every composite by its template.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from ..declarations.op_specs import CALLBACKS
from ..dtypes import STORED_DTYPES
from ..errors import TemplateDataError, expected
from ..protocol import Backend, Payload
from ..protocol.callbacks import CompositeCall, Default
from ..template import Template
from ..tensor import Tensor


class TemplateBackend(Backend):
    """Tensors without data: `tb.template((2, 3), "f32")`."""

    name = "template"
    dispatch_priority = 4
    holds_data = False
    template_only = True
    dtypes = STORED_DTYPES

    def optional(self, name: str, args: CompositeCall, default_impl: Default) -> Tensor | tuple[Tensor, ...]:
        """Tensors with the templates of the results, which the dispatcher knows already."""
        if isinstance(args.out, Template):
            return Tensor(args.out, self, None)
        return tuple(Tensor(out, self, None) for out in args.out)

    def from_binary(self, out: Template, /, *, data: bytes) -> Payload:
        """Nothing: the bytes are not kept."""

    def from_backend(self, x: Tensor, /, *, copy: bool) -> Payload:
        """Nothing: the data of another backend's tensor is not read."""

    def to_binary(self, x: Tensor, limit: int, /) -> NoReturn:
        """Raises `TemplateDataError`."""
        remedy = "run the program on tensors of another backend, such as tb.zeros(shape, backend='numpy')"
        raise TemplateDataError(expected("a tensor with data", remedy, tensor=x.template))

    def to_batched(self, x: Tensor, size: int, /) -> Iterator[Payload]:
        """`None` as the payload of each batch."""
        return iter([None] * -(-x.shape[0] // size))

    def inspect(self, x: Tensor, /, *, limit: int = 100) -> str:
        """The template alone."""
        return f"{x.template!r} {self.name}"


def _no_payload(self: TemplateBackend, *inputs: Any, **options: Any) -> None:
    """Serves as every callback: the template says all there is."""


for _callback in CALLBACKS.values():
    if not _callback.optional:
        setattr(TemplateBackend, _callback.name, _no_payload)
