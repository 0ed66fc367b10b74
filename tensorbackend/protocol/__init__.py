"""The protocol that a backend implements: one method (a callback) for each op, grouped by family.

A callback gets the output template first, then its input tensors, then its options by keyword, and
returns a payload. The contract is in docs/write-a-backend.md; in short: the payload has exactly
`out.shape` and `out.dtype`; inputs are promoted and options normalised, so a backend does not
validate; it does not depend on names; inputs are never changed.

This table is the only list of primitive ops. The dispatcher, `TemplateBackend`, `supports` and the
conformance suite read it (see `declarations.op_specs`).
"""

from __future__ import annotations

from typing import TypeAlias

from .callbacks import defines as defines
from .callbacks import own_method as own_method
from .contraction import Contraction
from .control import Control
from .convolution import Convolution
from .core import Core
from .creation import Creation
from .cumulative import Cumulative
from .elementwise import Elementwise
from .fourier import Fourier
from .functional import Functional
from .indexing import Indexing
from .linalg import Linalg
from .planned import Kernel as Kernel
from .planned import Payload as Payload
from .planned import kernel_of as kernel_of
from .planned import planned as planned
from .random import Random
from .reduction import Reduction
from .shape import Shaping
from .sorting import Sorting
from .special import Special
from .window import Window


class Backend(
    Elementwise,
    Special,
    Functional,
    Reduction,
    Cumulative,
    Sorting,
    Shaping,
    Indexing,
    Contraction,
    Convolution,
    Window,
    Linalg,
    Fourier,
    Random,
    Control,
    Creation,
    Core,
):
    """The whole protocol. A backend derives from it and defines the callbacks that it supports.

    An instance has the backend's options, and equal options result in the same instance.
    """


BackendLike: TypeAlias = Backend | type[Backend] | str | None
"""What names a backend in an argument: an instance, its class, its name, or `None` for the default backend."""
