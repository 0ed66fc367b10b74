"""Callbacks that make tensors without input tensors."""

from __future__ import annotations

from tensorbackend import Template
from tensorbackend.dtypes import Scalar, complex128, float64, int64, uint64
from tensorbackend.protocol import Payload

from .casting import cast
from .kernels import TorchBase, kernel
from .library import torch
from .ways import NARROW, UNSIGNED, Array, torch_dtype


class TorchCreation(TorchBase):
    """Constants, identity matrices and counters."""

    def constant(self, out: Template, /, *, value: Scalar) -> Payload:
        """Every element is `value`."""
        if out.dtype in NARROW:  # rounded once, from float64
            wide = torch.full((), float(value), dtype=torch.float64, device=self.place)  # type: ignore[arg-type]
            return cast(wide, float64, out.dtype).expand(out.shape).contiguous()
        if out.dtype is uint64:
            bits = int(value) - (1 << 64 if int(value) >= 1 << 63 else 0)  # type: ignore[arg-type] # a real number
            return torch.full(out.shape, bits, dtype=torch.int64, device=self.place).view(torch.uint64)
        return torch.full(out.shape, value, dtype=torch_dtype(out.dtype), device=self.place)

    def spaced(self, out: Template, /, *, start: Scalar, step: Scalar, last: Scalar | None) -> Payload:
        """The numbers `start`, `start + step` and so on, computed in 64 bits a part; `last` replaces the last one."""
        wide = int64 if isinstance(start, int) else complex128 if isinstance(start, complex) else float64
        if isinstance(start, int):  # modulo 2**64: int64 has the upper half as negative numbers
            start, step = ((int(number.real) + (1 << 63)) % (1 << 64) - (1 << 63) for number in (start, step))
        places = torch.arange(out.size, device=self.place).to(torch_dtype(wide))
        values = places.mul_(step).add_(start)
        if last is not None:
            values[-1] = torch.tensor(last, dtype=values.dtype, device=self.place)
        return cast(values, wide, out.dtype)

    @kernel(unsigned="own")
    def eye(self, out: Template, *, offset: int) -> Array:
        """Ones on one diagonal of the last two axes."""
        if len(out.shape) == 2 and not offset and out.dtype not in UNSIGNED:
            return torch.eye(*out.shape, dtype=torch_dtype(out.dtype), device=self.place)
        rows, columns = (torch.arange(size, device=self.place) for size in out.shape[-2:])
        matrix = columns - rows[:, None] == offset
        return self.cast(matrix, out).expand(out.shape)

    @kernel(unsigned="own")
    def iota(self, out: Template, *, axis: int | None) -> Array:
        """Elements that equal their index along an axis, or in row-major order without an axis."""
        count = out.size if axis is None else out.shape[axis]
        counter = self.cast(torch.arange(count, device=self.place), out)
        if axis is None:
            return counter.reshape(out.shape)
        return counter.reshape([size if i == axis else 1 for i, size in enumerate(out.shape)]).expand(out.shape)
