"""Arrays of other libraries: NumPy's view of dtypes and bytes, and DLPack."""

from .arrays import ARRAYS as ARRAYS
from .arrays import aligned_copy as aligned_copy
from .arrays import as_numpy as as_numpy
from .arrays import is_plain_array as is_plain_array
from .arrays import namespace_of as namespace_of
from .arrays import numpy_dtype as numpy_dtype
from .arrays import numpy_from_binary as numpy_from_binary
from .arrays import payload_dtype as payload_dtype
from .arrays import read_only as read_only
from .arrays import scalar_dtype as scalar_dtype
from .arrays import to_plain_memory as to_plain_memory
from .dlpack import HOST as HOST
from .dlpack import Forward as Forward
from .dlpack import OnDevice as OnDevice
from .dlpack import SharedTensor as SharedTensor
from .dlpack import dlpack_capsule as dlpack_capsule
from .dlpack import dlpack_device as dlpack_device
from .dlpack import is_shared as is_shared
from .dlpack import numpy_from_dlpack as numpy_from_dlpack
