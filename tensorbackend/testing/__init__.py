"""Property tests that check a backend against the reference, BinaryBackend. They need the extra `test`."""

try:
    import hypothesis  # noqa: F401
except ModuleNotFoundError as error:
    from ..errors import expected
    from ..errors.remedies import install_remedy

    text = expected("hypothesis, which draws the calls, to be installed", install_remedy("test"))
    raise ModuleNotFoundError(text, name="hypothesis") from error

# The namespaces declare ops too, and the package imports them on first use.
import tensorbackend.fft
import tensorbackend.linalg
import tensorbackend.nn
import tensorbackend.random  # noqa: F401

from ..rules.accuracy import Bound as Bound
from .calls import GENERATORS as GENERATORS
from .calls import Invocation as Invocation
from .calls import bound_of as bound_of
from .calls import calls as calls
from .calls import dtypes_to_draw as dtypes_to_draw
from .calls import has_generator as has_generator
from .calls import names as names
from .calls import takes_narrow as takes_narrow
from .compare import assert_equal as assert_equal
from .compare import distance as distance
from .compare import farthest as farthest
from .conformance import Verdict as Verdict
from .conformance import check as check
from .conformance import check_row as check_row
from .conformance import judge as judge
from .divergences import DIVERGENCES as DIVERGENCES
from .divergences import FLUSHED as FLUSHED
from .divergences import NOT_COMPARED as NOT_COMPARED
from .divergences import Divergence as Divergence
from .divergences import Judgement as Judgement
from .divergences import divergences_of as divergences_of
from .failures import Disagreement as Disagreement
from .generators import families as _families  # noqa: F401 # enters the generators of calls
from .mistakes import check_mistake as check_mistake
from .mistakes import invalid_calls as invalid_calls
from .partial import partial as partial
from .partial import recording as recording
from .partial import without as without
from .public_imports import private_imports as private_imports
from .runner import Pair as Pair
from .runner import check_pair as check_pair
from .runner import check_pairs as check_pairs
from .strategies import elements as elements
from .strategies import profile as profile
from .strategies import shapes as shapes
from .strategies import templates as templates
from .strategies import tensors as tensors
from .subnormals import about_subnormals as about_subnormals
from .transport import check_transport as check_transport
