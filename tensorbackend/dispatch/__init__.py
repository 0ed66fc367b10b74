"""The path of a call: normalise, template, call, wrap.

`@primitive` and `@composite` (`decorators`) turn a declared function into the public op. All that a call needs apart
from its data depends on templates and options alone, so it is decided once and kept:

- `source`, `generated` and `direct` are the warm call: one look-up, one kernel, one tensor;
- `path` is the full path, which leaves a record for the next warm call. `primitives` makes the record from the rule's
  plan and the backend's callback; `composites` makes it from a trial on templates and the backend's own method, a
  program, or the default;
- `kernels` makes a function of payloads of whatever computes an op; `checked` reports what a backend does wrong in
  such a function.

Rejected: one memo for all ops, whose keys would need the op; `functools.lru_cache`, which keys on the arguments
themselves and would keep the tensors alive.
"""

from .checked import CHECKED as CHECKED
from .checked import explain as explain
from .checked import verify as verify
from .codes import cast as cast  # the module supplies the kernels of narrow dtypes
from .composites import perform as perform
from .composites import programs as programs
from .decorators import Composite as Composite
from .decorators import Primitive as Primitive
from .decorators import composite as composite
from .decorators import primitive as primitive
from .kernels import implementation as implementation
from .kernels import primitive_kernel as primitive_kernel
