"""The choice of the backend that runs an op: the registry, the default, the choice by operands, and transfers.

- `registry`: backends by name (built in, from plugins, or registered), each loaded when it is first requested;
- `default`: the backend of new tensors, and the meaning of `backend=`;
- `choice`: the backend on which an op runs, and moving its operands there;
- `devices`: the devices of a backend, by kind;
- `transfer`: tensors that users copy, move or release.
"""

from .choice import apart as apart
from .choice import backend_copy as backend_copy
from .choice import backend_deallocate as backend_deallocate
from .choice import backend_transfer as backend_transfer
from .choice import check_dtype_support as check_dtype_support
from .choice import common_backend as common_backend
from .choice import home_of as home_of
from .choice import library_backend as library_backend
from .choice import move as move
from .choice import move_to_recorder as move_to_recorder
from .choice import with_numbers_moved as with_numbers_moved
from .default import backend_at as backend_at
from .default import call_with_default as call_with_default
from .default import creation_backend as creation_backend
from .default import default_backend as default_backend
from .default import get_backend as get_backend
from .default import scoped_backend as scoped_backend
from .default import set_default_backend as set_default_backend
from .devices import devices as devices
from .registry import DISTRIBUTIONS as DISTRIBUTIONS
from .registry import ENTRY_POINT_GROUP as ENTRY_POINT_GROUP
from .registry import backend_class as backend_class
from .registry import backends as backends
from .registry import build_in as build_in
from .registry import claimant as claimant
from .registry import class_names as class_names
from .registry import origin as origin
from .registry import override as override
from .registry import owner as owner
from .registry import register_backend as register_backend
