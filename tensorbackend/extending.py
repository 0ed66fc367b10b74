"""Functions for authors of backends and ops, besides the protocol: errors with the common texts, elements as bytes,
NumPy's view of dtypes, functions of scalar tensors, positions of elements, the tables and formulas that backends share,
bounds of accuracy, how a backend supports an op, and attention as backends compute it.

A plugin imports `tensorbackend`, this module, `protocol`, `dtypes`, `annotations`, `errors` and `testing`, and nothing
else of the package.

>>> from tensorbackend.extending import index_out_of_range
>>> index_out_of_range(5, 3)
IndexRangeError('expected an index from 0 to 2, got index=5; use mode="clip" or mode="fill"')
"""

from .backends.complex_formulas import SPECIALS as SPECIALS
from .backends.complex_formulas import ComplexFormulas as ComplexFormulas
from .backends.complex_formulas import Specials as Specials
from .backends.functional import fold_elements as fold_elements
from .backends.functional import map_elements as map_elements
from .backends.functional import move_results as move_results
from .backends.libraries import import_library as import_library
from .backends.positions import align_axes as align_axes
from .backends.positions import pad_slices as pad_slices
from .backends.support import Way as Way
from .backends.support import kernel_by_numpy as kernel_by_numpy
from .backends.support import support_of as support_of
from .dispatch.fallbacks import fallbacks as fallbacks
from .dtypes.packing import element_type as element_type
from .dtypes.packing import pack as pack
from .dtypes.packing import unpack as unpack
from .dtypes.packing import unpack_codes as unpack_codes
from .errors.tracebacks import count_as_ours as count_as_ours
from .expr.compiled_graphs import kernel_of_graph as kernel_of_graph
from .expr.graph import Graph as Graph
from .interchange import Forward as Forward
from .interchange import dlpack_capsule as dlpack_capsule
from .interchange import numpy_dtype as numpy_dtype
from .interchange import payload_dtype as payload_dtype
from .interchange import read_only as read_only
from .ops.composite.contraction import attention as attention
from .protocol.callbacks import CompositeCall as CompositeCall
from .protocol.callbacks import Default as Default
from .protocol.callbacks import limited_to as limited_to
from .protocol.callbacks import own_method as own_method
from .protocol.devices import DeviceFacts as DeviceFacts
from .protocol.devices import host_facts as host_facts
from .protocol.owners import is_spare as is_spare
from .protocol.workspace import takes as takes
from .rules.accuracy import Bound as Bound
from .rules.contraction import BroadcastPairs as BroadcastPairs
from .rules.contraction import broadcast_pairs as broadcast_pairs
from .rules.data_errors import index_out_of_range as index_out_of_range
from .rules.data_errors import not_positive_definite as not_positive_definite
from .rules.data_errors import singular_matrix as singular_matrix
from .rules.random import PARITY as PARITY
from .rules.random import threefry as threefry
from .sizes import apply as apply
from .tensor.missing_names import explain_missing as explain_missing
