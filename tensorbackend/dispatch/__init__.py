"""The path of a call: normalise, template, call, wrap.

`@primitive` and `@composite` (`decorators`) turn a declared function into the public op. What a call needs besides its
data depends on templates and options alone, so it is memoised twice:

- `plans`, by the templates and options of a call: what the rule gave, whatever the backend;
- `ready`, by backend as well, for calls that need nothing more (tensors on one backend, in the dtypes that
  the callback wants, Python numbers beside them): the output template and the bound callback. A call that is
  ready costs one look-up, by a key of `keys`; one with a list among its options two.

Rejected: one memo for all ops, whose keys would need the op; `functools.lru_cache`, which keys on the
arguments themselves and would keep the tensors alive.
"""

from __future__ import annotations

from .composites import perform as perform
from .decorators import Composite as Composite
from .decorators import Primitive as Primitive
from .decorators import composite as composite
from .decorators import primitive as primitive
from .primitives import CHECKED as CHECKED
from .primitives import implementation as implementation
from .primitives import verify as verify
