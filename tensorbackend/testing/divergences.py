"""Divergences that stay: calls on which a backend's library differs from the reference, and how they are judged.

The table `DIVERGENCES` holds the rows of the backends of this distribution; a backend of another distribution has its
own in `Backend.divergences`. A row is consulted only if a call fails the op's own bound. Each row has a witness, a
call that fails today, and a test asserts that the witness still fails: a row that is no longer needed is a failure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeAlias

import tensorbackend

from ..dtypes import DType, bfloat16, complex64, complex128, float32
from ..errors import TensorBackendError
from ..protocol import Backend
from ..tensor import Tensor
from .calls import Invocation
from .subnormals import about_subnormals

Outcome: TypeAlias = list[Tensor] | TensorBackendError
"""The tensors that a call returns, or the error that it raises on purpose."""


class Judgement(NamedTuple):
    """How a call is judged in place of its op's bound; templates and names are always compared."""

    ulps: float = 0
    """The allowed ulps if they are more than the bound's; they count in the bound's scale."""
    absolute: float = 0.0
    """Errors of this size are allowed, whatever they are in ulps."""
    flushes: bool = False
    """Whether subnormals count as zeros of their sign: in the results, and, if that is nearer, in the inputs."""
    compared: bool = True
    """Whether elements and errors are compared; if not, only the templates of results are."""


EXPECTED = Judgement()
"""The judgement by the op's bound."""
FLUSHED = Judgement(flushes=True)
NOT_COMPARED = Judgement(compared=False)


class Divergence(NamedTuple):
    """One row: which calls on which backends differ, why, and how they are judged.

    >>> import tensorbackend as tb
    >>> row = Divergence(
    ...     reason="the library's sine is less accurate",
    ...     ops=("sin",),
    ...     witness=Invocation("sin", (tb.tensor([1e6], backend="binary"),), {}),
    ...     judgement=Judgement(ulps=64),
    ... )
    >>> row.concerns(row.witness, [tb.tensor([-0.35], backend="binary")])
    True
    """

    reason: str
    """Why the backend differs and will stay so, in words."""
    witness: Invocation
    """A call that differs today."""
    judgement: Judgement
    backends: tuple[str, ...] = ()
    """The names of the backends that differ; empty in a row that a backend brings itself."""
    device: str = ""
    """The beginning of the names of the devices on which they differ, such as `"cpu"`, or the platform whose kernels
    run; all devices by default."""
    until: tuple[str, str] | None = None
    """A library that the backend runs on, and its first version that does not differ, such as `("jax", "0.12")`."""
    ops: tuple[str, ...] = ()
    """The names of the ops, with or without a namespace; empty for all ops."""
    dtypes: tuple[DType, ...] = ()
    """The dtypes of which an input or a result has one; empty for all dtypes."""
    when: Callable[[Invocation, Outcome], bool] = lambda call, reference: True
    """Whether the row concerns a call, by the call and the reference's outcome."""

    @property
    def _bare_ops(self) -> set[str]:
        """The names of the ops without namespaces."""
        return {name.rpartition(".")[2] for name in self.ops}

    def concerns(self, call: Invocation, wanted: Outcome) -> bool:
        """Whether the row is about a call, of which `wanted` is the reference's outcome."""
        results = [] if isinstance(wanted, TensorBackendError) else wanted
        held = {x.dtype for x in [*call.tensors, *results]}
        return (
            (not self.ops or call.name in self._bare_ops)
            and (not self.dtypes or not held.isdisjoint(self.dtypes))
            and self.when(call, wanted)
        )


def _not_finite(call: Invocation, reference: Outcome) -> bool:
    """Whether a result of the reference has an element that is not finite."""
    return isinstance(reference, list) and not all(
        tensorbackend.all(tensorbackend.isfinite(x)).item() for x in reference
    )


_binary: Final = partial(tensorbackend.tensor, backend="binary")

DIVERGENCES: tuple[Divergence, ...] = (
    Divergence(
        reason="CuPy compiles with -ftz=true: float32 computations read and return subnormal numbers as zeros",
        witness=Invocation("add", (_binary(1e-40), 0.0), {}),
        judgement=FLUSHED,
        backends=("cupy",),
        dtypes=(float32, bfloat16, complex64),
        when=about_subnormals,
    ),
    Divergence(
        reason="XLA's programs for CPUs read and return subnormal numbers as zeros",
        witness=Invocation("add", (_binary(1e-40), 0.0), {}),
        judgement=FLUSHED,
        backends=("jax",),
        device="cpu",
        when=about_subnormals,
    ),
    *(
        Divergence(
            reason="a subnormal gate counts as zero, also where its product with x is not subnormal",
            witness=Invocation("gelu", (_binary(-13.02),), {"approximate": False}),
            judgement=Judgement(flushes=True, absolute=1.1e-36),
            backends=(name,),
            device=device,
            ops=("gelu",),
        )
        for name, device in (("cupy", "cuda"), ("jax", "cpu"))
    ),
    Divergence(
        reason="a subnormal product counts as zero before it is subtracted, so that a zero may have the other sign",
        witness=Invocation("cross", (_binary([0.0, 0.0, -2e-38]), _binary([0.0, -0.5, 0.0])), {}),
        judgement=Judgement(flushes=True, absolute=2.4e-38),
        backends=("jax",),
        device="cpu",
        ops=("cross",),
    ),
    Divergence(
        reason="CuPy compares subnormal numbers as zeros, so that the mode may be any of them",
        witness=Invocation("mode", (_binary([0.0, -5.9e-39]),), {}),
        judgement=Judgement(flushes=True, absolute=1.2e-38),
        backends=("cupy",),
        device="cuda",
        ops=("mode",),
        dtypes=(float32, bfloat16),
        when=about_subnormals,
    ),
    Divergence(
        reason="the order of multiplications is the library's, and decides which parts are NaN where one is infinite",
        witness=Invocation("prod", (_binary([1j, 1j, 1j, complex(0, math.inf)]),), {}),
        judgement=NOT_COMPARED,
        backends=("cupy",),
        device="cuda",
        ops=("prod", "cumulative_prod"),
        dtypes=(complex64, complex128),
        when=_not_finite,
    ),
    Divergence(
        reason="XLA's exponential of float32 is up to 6 ulps off where it is about to overflow",
        witness=Invocation("exp", (_binary(88.72167205810547, dtype="f32"),), {}),
        judgement=Judgement(ulps=6, flushes=True),  # a column may underflow as well
        backends=("jax",),
        device="cpu",
        until=("jax", "0.11.2"),
        ops=("exp",),
        dtypes=(float32,),
    ),
    Divergence(
        reason="a TPU has no float64, so that incomplete gamma functions are computed in float32",
        witness=Invocation("gamma_inc_u", tuple(_binary(x) for x in (1, 37)), {}),
        judgement=Judgement(ulps=512, flushes=True),
        backends=("jax",),
        device="tpu",
        ops=("gamma_inc_l", "gamma_inc_u"),
    ),
    Divergence(
        reason="a TPU has no float64, so that the floor of a quotient above 2**22 is rounded twice",
        witness=Invocation("floor_divide", tuple(_binary(x, dtype="f32") for x in (0.028303916, 9.3132235e-10)), {}),
        judgement=Judgement(ulps=2, flushes=True),
        backends=("jax",),
        device="tpu",
        ops=("floor_divide",),
    ),
)
"""The rows of the backends of this distribution."""


def divergences_of(backend: Backend) -> list[Divergence]:
    """The rows of a backend: those of the table for its name and device, and its own.

    Rows that the versions of its libraries no longer need are omitted.

    Parameters
    ----------
    backend : Backend
        The backend.

    Returns
    -------
    list of Divergence
        The rows.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> divergences_of(tb.get_backend("binary"))
    []
    """
    backend_rows: Sequence[Divergence] = backend.divergences()
    return [
        row
        for row in (*(row for row in DIVERGENCES if backend.name in row.backends), *backend_rows)
        if (backend.device.startswith(row.device) or getattr(backend, "platform", "") == row.device)
        and (row.until is None or is_older(backend, *row.until))
    ]


def is_older(backend: Backend, library: str, version: str) -> bool:
    """Whether a backend runs on a version of a library before another one, both such as "0.10.2" or "0.12.0rc1"."""
    present, threshold = (
        [int(digits) for digits in re.findall(r"\d+", text)[:3]] for text in (backend.versions()[library], version)
    )
    return present < threshold
