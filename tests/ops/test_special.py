"""The gamma function and its relatives against mpmath, at poles and limits, and for every dtype."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, DType, iinfo
from tensorbackend.errors import DTypeError, NamesError, ShapeError
from tensorbackend.testing import distance

INF, NAN = math.inf, math.nan
FLOATS = [dtype for dtype in ALL_DTYPES if dtype.is_floating]
INTEGERS = [dtype for dtype in ALL_DTYPES if dtype.is_integer]
on_each_backend = pytest.mark.parametrize("backend", ["binary", "numpy"])

# Computed by mpmath 1.4.1 with 60 digits, in three tables: x, log(abs(gamma(x))), digamma(x);
# a, x, P(a, x), Q(a, x), by quadrature if a > 1e6; and x, gamma(x + 1).
LOGARITHMS = [
    (5e-324, 744.4400719213812, -INF),
    (1e-300, 690.7755278982137, -9.999999999999999e299),
    (1e-10, 23.025850929882736, -10000000000.577215),
    (0.25, 1.2880225246980774, -4.2274535333762655),
    (0.5, 0.5723649429247001, -1.9635100260214235),
    (0.7, 0.26086724653166654, -1.2200235536979347),
    (0.75, 0.20328095143129538, -1.0858608797864722),
    (0.9, 0.06637623973474295, -0.7549269499470513),
    (0.9999999999999999, 6.408381213480008e-17, -0.5772156649015331),
    (1.0000000000000002, -1.2816762426960008e-16, -0.5772156649015325),
    (1.3, -0.10817480950786047, -0.16919088886679962),
    (1.4616321449683622, -0.12148629053584961, -9.241265521729427e-17),
    (1.4616321449683625, -0.12148629053584961, 1.2245374622004068e-16),
    (1.5, -0.12078223763524522, 0.03648997397857652),
    (1.9, -0.03898427592308336, 0.35618416116405965),
    (1.9999999999999998, -9.387698065543117e-17, 0.422784335098467),
    (2.0000000000000004, 1.8775396131086244e-16, 0.4227843350984674),
    (2.2, 0.09694746679063887, 0.5442934367411452),
    (2.5, 0.2846828704729192, 0.7031566406452432),
    (3.0, 0.6931471805599453, 0.9227843350984671),
    (4.5, 2.4537365708424423, 1.388870926359529),
    (9.99, 12.779315214350193, 2.250700372831201),
    (10.0, 12.801827480081469, 2.251752589066721),
    (33.3, 82.60372358165495, 3.490467238520243),
    (171.5, 709.1431630309282, 5.141664981433999),
    (100000.0, 1051287.7089736569, 11.512920464961896),
    (1e17, 3.8143946580898775e18, 39.14394658089878),
    (2.5e305, 1.7555118602376452e308, 703.2047440950581),
    (-1e-300, 690.7755278982137, 9.999999999999999e299),
    (-1e-10, 23.025850929998178, 9999999999.422785),
    (-0.25, 1.589575312551186, 2.9141391202135276),
    (-0.5, 1.2655121234846454, 0.03648997397857652),
    (-0.504083008264455, 1.2654376221108656, 4.042965717222496e-15),
    (-0.75, 1.5757045971498584, -2.894120200042932),
    (-1.5, 0.860047015376481, 0.7031566406452432),
    (-1.0000000001, 23.025850847157812, 9999999173.019142),
    (-2.4570247382208006, 5.619192358950097e-17, 1.5156034480216576),
    (-2.5, -0.056243716497674054, 1.103156640645243),
    (-2.7476826467274127, 1.733509244024501e-16, -1.9143501856116005),
    (-3.14358088834998, 1.6978655906121085e-15, 7.7818846581313625),
    (-3.955294284858598, -4.14382750757705e-16, -20.725060845803696),
    (-10.25, -14.20399790093109, 5.516858419886273),
    (-77.7, -262.25662691362186, 2.0767757924323735),
    (-1234.5, -7556.52459250083, 7.118826276380449),
    (-1000000.25, -12815520.347232489, 16.957103961553827),
]
INCOMPLETE = [
    (4.371726761698881e-22, 1.674279642685673e-30, 1.0, 2.972116433027282e-20),
    (6.903295479392512e-75, 0.30604552339503566, 1.0, 6.150427191387212e-75),
    (6.204802389199896e-11, 2.4736285216083012e-09, 0.9999999988061734, 1.1938265684721395e-09),
    (1.2837888490454536e-14, 3.526113411474309e-25, 0.9999999999992846, 7.154197773444388e-13),
    (1.0004848252691598e-21, 4.848613690551853e-07, 1.0, 1.3968956865209984e-20),
    (0.32413601938305786, 1.9061770806652973e-30, 2.6022040362997565e-10, 0.9999999997397796),
    (0.005312391628616355, 0.02627432196011611, 0.9837068352182802, 0.016293164781719816),
    (0.9875440605105106, 0.0052793106581163814, 0.005650296633751357, 0.9943497033662486),
    (0.030174440445916866, 0.004161893792981945, 0.861696218458068, 0.138303781541932),
    (0.5215920428917914, 0.09737875552825677, 0.3236649077625298, 0.6763350922374702),
    (0.1279605485578956, 0.02727700721545395, 0.6684547394986228, 0.3315452605013772),
    (4.832096743543748e-220, 1.4377356112603805, 1.0, 5.304782410239909e-221),
    (0.29608690508163993, 0.9985418776160404, 0.916810677441523, 0.08318932255847705),
    (1e-300, 1.0, 1.0, 2.193839343955203e-301),
    (0.016016875317845528, 1.032655852174594, 0.9966168232103247, 0.0033831767896752257),
    (5.9111699175999256e-89, 0.9016156866637052, 1.0, 1.533684396384883e-89),
    (0.00387029044047952, 1.4606747915295408, 0.9995874077083704, 0.0004125922916295708),
    (0.2002000774432765, 2.7480687853081274, 0.9949523817953714, 0.005047618204628652),
    (0.013974807215938672, 4.932251821179643, 0.9999820525840538, 1.7947415946191877e-05),
    (0.0010982599082762017, 12.21786335184626, 0.9999999995859097, 4.1409026729768586e-10),
    (0.3002969821958661, 126.56057916395379, 1.0, 1.2207614602110679e-57),
    (0.7351270159218404, 68.27796681814316, 1.0, 5.812000842592559e-31),
    (3.601604338108899e-200, 2.7098265885680064, 1.0, 6.821048866380733e-202),
    (6.181001095862706, 0.5413654015902906, 1.3985000056073374e-05, 0.9999860149999439),
    (2.0609705842549757, 1.137442098589545, 0.2970511299673092, 0.7029488700326908),
    (4.541979072005453, 0.005105894266671392, 6.91811568555005e-13, 0.9999999999993082),
    (1.5109534658968546, 0.0015526652685413022, 4.2505947898749924e-05, 0.9999574940521012),
    (5.768124735185271, 5.102734368502324e-50, 1.0136910968339409e-287, 1.0),
    (2.150467539286131, 0.004504833146143934, 3.888131590115129e-06, 0.9999961118684099),
    (14.899462732977836, 118.36242519091803, 1.0, 4.388643188504769e-34),
    (1.335059432904107, 130.3192171180386, 1.0, 1.452456001764182e-56),
    (1.1285562738720363, 15.934631831266366, 0.9999998162494974, 1.8375050255962205e-07),
    (4.859373214373308, 73.70205574716346, 1.0, 8.565286961286907e-27),
    (4.7982308167207375, 21.220231021806644, 0.9999954905770376, 4.5094229623626144e-06),
    (2.5263961799502845, 8.660377492977569, 0.9959038163349118, 0.004096183665088278),
    (13.850118388921045, 123.62756254574053, 1.0, 4.122567122470259e-37),
    (1.6823124331678625, 81.57956201447416, 1.0, 8.346456755598059e-35),
    (41.93366366527231, 0.03853145647162205, 4.385679902751169e-111, 1.0),
    (32.49302548545553, 2.6254746301927723, 2.234963442742372e-24, 1.0),
    (56.010648455432396, 172.40069113345407, 1.0, 1.5986582063982385e-25),
    (36.7562345060579, 4.120278808923376, 1.2811707985475624e-22, 1.0),
    (61.69586930330876, 202.06711994883733, 1.0, 1.4773804718425673e-31),
    (28.863321650497777, 6.6158296812677255, 1.4909295402268195e-10, 0.999999999850907),
    (33.97560982404568, 18.04049323529675, 0.0005218537286505354, 0.9994781462713495),
    (35.5734772980379, 65.46144709472392, 0.9999794098923167, 2.059010768328807e-05),
    (84.7753144418631, 137.02995623249234, 0.9999993509313579, 6.49068642087887e-07),
    (30.691276348656586, 49.230619227006144, 0.9981280565190824, 0.0018719434809176005),
    (1106.2979750691325, 931.7636782799478, 1.497227549466878e-08, 0.9999999850277245),
    (160.6713979280262, 89.43909985109512, 7.996934304401351e-12, 0.9999999999920031),
    (332.58616396687535, 65.58588502440705, 7.7117309312880225e-121, 1.0),
    (159.5248167532876, 180.83937411504667, 0.9499003619390901, 0.050099638060909876),
    (1414.6438897249998, 1439.6037810441592, 0.7481265397758391, 0.25187346022416096),
    (1299.871276296724, 1198.0256448572954, 0.0019087279406449225, 0.9980912720593551),
    (3421.593130910848, 3269.1178164463927, 0.004136691686907552, 0.9958633083130924),
    (198.74166812713383, 32.42585003612658, 1.861108021244372e-86, 1.0),
    (451.71960313954213, 478.46447604822924, 0.894343130880424, 0.10565686911957599),
    (362.40408471419715, 761.855501281005, 1.0, 5.466632172937166e-59),
    (6600.234930235427, 7209.516371280472, 0.9999999999998387, 1.613273276056256e-13),
    (5693.332236893799, 6234.064450071837, 0.9999999999982455, 1.7544955639550316e-12),
    (13034.410559469297, 12386.98746537864, 4.093757764465062e-09, 0.9999999959062422),
    (27032.429323113807, 26065.57705076428, 1.339727217261799e-09, 0.9999999986602728),
    (27721.66061854263, 32119.37213879037, 1.0, 1.0372171125026316e-139),
    (10000.0, 10000.0, 0.5013298083399552, 0.4986701916600448),
    (31404.91046342447, 27472.572998645737, 2.998771890870833e-119, 1.0),
    (6397.530544956785, 5750.664057272734, 2.806889464383758e-17, 1.0),
    (12345000.0, 12345000.0, 0.5000378480286825, 0.49996215197131755),
    (1.2344999999999998e33, 1.2344999999999998e33, 0.5, 0.5),
    (12345000.0, 12340608.06847731, 0.1056400218350939, 0.8943599781649061),
    (1.2345e20, 1.2344999991111356e20, 6.22096220139644e-16, 0.9999999999999993),
    (1.2345e20, 1.2345000008888644e20, 0.9999999999999993, 6.22096239237759e-16),
    (1234500000000.0, 1234500000000.0, 0.5000001196859756, 0.4999998803140245),
    (1234500000000.0, 1234498611149.3062, 0.10564974285569692, 0.894350257144303),
    (1234500000000.0, 1234491111355.5588, 6.220005733315548e-16, 0.9999999999999993),
    (1.2345e20, 1.2345e20, 0.5000000000119686, 0.4999999999880314),
    (1.2345e20, 1.2345000027777014e20, 1.0, 3.056678078299097e-138),
    (1.2345e20, 1.234499999861115e20, 0.10564982513704879, 0.8943501748629512),
    (1234500000000.0, 1234527777013.8784, 1.0, 3.0710586474259346e-138),
    (1.0, 1.0, 0.6321205588285577, 0.36787944117144233),
    (0.5, 0.5, 0.6826894921370859, 0.3173105078629141),
    (1e-300, 1.0, 1.0, 2.193839343955203e-301),
    (99.9, 129.0, 0.9965479127648956, 0.003452087235104369),
    (100.0, 130.0, 0.9972495916326934, 0.002750408367306526),
    (100.0, 70.0, 0.00043037259497989087, 0.9995696274050201),
]
FACTORIALS = [
    (1e-20, 1.0),
    (0.036, 0.9804613049249683),
    (0.5, 0.886226925452758),
    (2.5, 3.3233509704478426),
    (5.25, 184.86096222719834),
    (9.5, 1133278.3889487856),
    (9.99, 3544472.150028113),
    (10.5, 11899423.083962249),
    (42.1, 2.0444154818755562e51),
    (150.4, 4.2475546917122367e263),
    (150.6, 1.1586026604280176e264),
    (170.6, 1.5858969096672565e308),
    (-1e-09, 1.0000000005772156),
    (-0.5, 1.772453850905516),
    (-1.000000001, -999999917.8368515),
    (-1.5, -3.544907701811032),
    (-3.5, -0.9453087204829419),
    (-9.7, -2.092806515419841e-05),
    (-20.3, 1.3063996396128334e-17),
    (-150.7, 3.057947784760427e-262),
    (-175.5, -3.6986154e-317),
]


def real(x: tb.Tensor) -> float:
    value = x.item()
    assert isinstance(value, float)
    return value


def doubles(values: Any, backend: str) -> tb.Tensor:
    return tb.tensor(list(values), dtype="float64", backend=backend)


def worst(actual: tb.Tensor, reference: Sequence[float]) -> float:
    return max(distance(a, b, actual.dtype) for a, b in zip(actual.tolist(), reference, strict=True))


@pytest.mark.parametrize(("backend", "ulps"), [("binary", 0), ("numpy", 4)])
def test_logarithm_and_derivative_of_positive_numbers(backend: str, ulps: int) -> None:
    xs, logarithms, derivatives = zip(*(row for row in LOGARITHMS if row[0] > 0), strict=True)
    assert worst(tb.lgamma(doubles(xs, backend)), logarithms) <= ulps
    assert worst(tb.digamma(doubles(xs, backend)), derivatives) <= ulps


def test_logarithm_and_derivative_of_negative_numbers() -> None:
    """Near the zeros, the reference is exact, and the array backend has only a small absolute error."""
    xs, logarithms, derivatives = zip(*(row for row in LOGARITHMS if row[0] < 0), strict=True)
    for function, reference in ((tb.lgamma, logarithms), (tb.digamma, derivatives)):
        assert worst(function(doubles(xs, "binary")), reference) == 0
        for a, b in zip(function(doubles(xs, "numpy")).tolist(), reference, strict=True):
            assert a == b or abs(a - b) <= 2**-49 + 4 * math.ulp(b)


@pytest.mark.parametrize(("backend", "ulps"), [("binary", 1), ("numpy", 8)])
def test_incomplete_gamma_functions(backend: str, ulps: int) -> None:
    a, x, lower, upper = zip(*INCOMPLETE, strict=True)
    assert worst(tb.gamma_inc_l(doubles(a, backend), doubles(x, backend)), lower) <= ulps
    assert worst(tb.gamma_inc_u(doubles(a, backend), doubles(x, backend)), upper) <= ulps


@on_each_backend
def test_factorials_of_floats(backend: str) -> None:
    xs, factorials = zip(*FACTORIALS, strict=True)
    assert worst(tb.factorial(doubles(xs, backend)), factorials) <= 12
    whole = [float(math.factorial(n)) for n in range(171)]
    assert tb.factorial(doubles(range(171), backend)).tolist() == whole
    assert tb.factorial(doubles([171, 1e300, INF, -0.0], backend)).tolist() == [INF, INF, INF, 1.0]
    assert all(map(math.isnan, tb.factorial(doubles([-1, -2, -INF, NAN], backend)).tolist()))


@on_each_backend
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_factorials_of_integers_wrap(backend: str, dtype: DType) -> None:
    limits = iinfo(dtype)
    values = [*range(100), limits.max, *([-1, limits.min] if limits.min else [])]
    modulus = 1 << dtype.bits
    remainders = [math.factorial(n) % modulus if 0 <= n < 100 else 0 for n in values]
    wrapped = [n - modulus if n > limits.max else n for n in remainders]
    result = tb.factorial(tb.tensor(values, dtype=dtype, backend=backend))
    assert (result.dtype, result.tolist()) == (dtype, wrapped)


EDGES = [
    ("lgamma", (0.0,), INF),
    ("lgamma", (-0.0,), INF),
    ("lgamma", (-3.0,), INF),
    ("lgamma", (-1e300,), INF),
    ("lgamma", (INF,), INF),
    ("lgamma", (-INF,), INF),
    ("lgamma", (NAN,), NAN),
    ("lgamma", (1.0,), 0.0),
    ("lgamma", (2.0,), 0.0),
    ("lgamma", (1.7e308,), INF),
    ("digamma", (0.0,), -INF),
    ("digamma", (-0.0,), INF),
    ("digamma", (-2.0,), NAN),
    ("digamma", (INF,), INF),
    ("digamma", (-INF,), NAN),
    ("digamma", (NAN,), NAN),
    ("digamma", (1e-310,), -INF),
    ("gamma_inc_l", (0.0, 0.0), NAN),
    ("gamma_inc_l", (0.0, 1.0), 1.0),
    ("gamma_inc_l", (-0.0, 5e-324), 1.0),
    ("gamma_inc_l", (0.0, INF), 1.0),
    ("gamma_inc_l", (1.0, 0.0), 0.0),
    ("gamma_inc_l", (1.0, -0.0), 0.0),
    ("gamma_inc_l", (1.0, INF), 1.0),
    ("gamma_inc_l", (INF, 1.0), 0.0),
    ("gamma_inc_l", (INF, 0.0), 0.0),
    ("gamma_inc_l", (INF, INF), NAN),
    ("gamma_inc_l", (-1.0, 1.0), NAN),
    ("gamma_inc_l", (1.0, -1.0), NAN),
    ("gamma_inc_l", (1.0, -INF), NAN),
    ("gamma_inc_l", (NAN, 1.0), NAN),
    ("gamma_inc_l", (1.0, NAN), NAN),
    ("gamma_inc_l", (1e300, 1e299), 0.0),
    ("gamma_inc_l", (1e300, 2e300), 1.0),
    ("gamma_inc_l", (1e300, 1e300), 0.5),
    ("gamma_inc_l", (3.0, 5e-324), 0.0),
    ("gamma_inc_l", (1.0, 5e-324), 5e-324),
    ("gamma_inc_l", (5e-324, 5e-324), 1.0),
    ("gamma_inc_l", (1e30, 1.0), 0.0),
    ("gamma_inc_l", (1.0, 1e300), 1.0),
]


IN_FLOAT32 = [
    edge for edge in EDGES if not any(0 < abs(number) < 1e-38 or 1e38 < abs(number) < INF for number in edge[1])
]


@on_each_backend
@pytest.mark.parametrize(
    ("dtype", "name", "arguments", "reference"),
    [*(("float64", *edge) for edge in EDGES), *(("float32", *edge) for edge in IN_FLOAT32)],
)
def test_edges(backend: str, dtype: str, name: str, arguments: tuple[float, ...], reference: float) -> None:
    operands = [tb.tensor(argument, dtype=dtype, backend=backend) for argument in arguments]
    value = real(getattr(tb, name)(*operands))
    assert distance(value, reference, tb.tensor(reference).dtype) == 0 if reference != 5e-324 else value == reference
    if name == "gamma_inc_l":
        assert distance(real(tb.gamma_inc_u(*operands)), 1 - reference, tb.tensor(reference).dtype) == 0


@on_each_backend
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_narrow_dtypes_are_computed_in_float64_and_rounded_once(backend: str, dtype: DType) -> None:
    x = tb.tensor([0.3, 1.4, 2.6, 7.9, 20.3, -0.4, 60.0], dtype=dtype, backend=backend)
    a = tb.tensor([0.2, 1.7, 2.9, 3.3, 16.1, 5.0, 80.0], dtype=dtype, backend=backend)
    for function, operands in (
        (tb.lgamma, (x,)), (tb.digamma, (x,)), (tb.factorial, (x,)), (tb.gamma_inc_l, (a, x)), (tb.gamma_inc_u, (a, x))
    ):  # fmt: skip
        wide = function(*(tb.astype(operand, "float64") for operand in operands))
        result = function(*operands)
        assert result.dtype is dtype
        assert str(result.tolist()) == str(tb.astype(wide, dtype).tolist())


@on_each_backend
def test_integers_give_the_default_floating_dtype(backend: str) -> None:
    x = tb.tensor([1, 2, 3], backend=backend)
    assert tb.lgamma(x).dtype == tb.digamma(x).dtype == tb.gamma_inc_l(x, 2).dtype == tb.gamma_inc_u(1, x).dtype
    assert tb.lgamma(x).dtype is tb.tensor(1.0).dtype
    with tb.precision(64):
        assert tb.lgamma(x).tolist() == [0.0, 0.0, math.log(2)]


@pytest.mark.parametrize("backend", ["binary", "numpy", "template"])
def test_shapes_names_and_errors(backend: str) -> None:
    def ones(*shape: int, names: Any = None, dtype: str = "float32") -> tb.Tensor:
        template = tb.Template(shape, dtype, names)
        return tb.from_binary(bytes(template.nbytes), template, backend)

    row, column = ones(3, names=("x",)), ones(2, 1, names=("a", None))
    assert tb.gamma_inc_l(column, row).template is tb.Template((2, 3), "float32", ("a", "x"))
    assert tb.factorial(ones(2, 0, names=("a", "x"), dtype="int8")).template is tb.Template((2, 0), "int8", ("a", "x"))
    assert tb.gamma_inc_u(ones(0, 1), ones(1, 0)).shape == (0, 0)
    assert tb.digamma(ones(0)).shape == (0,)
    for function in (tb.lgamma, tb.digamma, tb.factorial):
        for dtype in ("bool", "complex64"):
            with pytest.raises(DTypeError, match=rf"expected a real dtype, got dtype={dtype}"):
                function(ones(1, dtype=dtype))
    with pytest.raises(DTypeError, match="gamma_inc_l: expected a real dtype"):
        tb.gamma_inc_l(ones(1, dtype="complex64"), ones(1))
    with pytest.raises(ShapeError, match="gamma_inc_u: expected sizes"):
        tb.gamma_inc_u(ones(2), ones(3))
    with pytest.raises(NamesError, match="gamma_inc_l: expected the same name"):
        tb.gamma_inc_l(ones(2, names=("a",)), ones(2, names=("b",)))


@on_each_backend
def test_lower_and_upper_add_up_across_the_methods(backend: str) -> None:
    """Values and slopes are continuous where the computation changes from one method to another."""
    edges = [
        (a, a * factor) for a in (99.9999, 100.0, 5000.0, 5000.1) for factor in (0.69999, 0.70001, 1.29999, 1.30001)
    ]
    edges += [(a, x) for a in (0.4, 0.9999999, 1.0) for x in (0.6999999, 0.7000001, 0.9999999, 1.0, 10.0, 10.000001)]
    a, x = (doubles(column, backend) for column in zip(*edges, strict=True))
    lower, upper = tb.gamma_inc_l(a, x), tb.gamma_inc_u(a, x)
    assert real(tb.max(tb.abs(lower + upper - 1))) <= 2**-51
    step = tb.gamma_inc_l(a, x * (1 + 2**-40)) - lower
    slope = x * tb.exp((a - 1) * tb.log(x) - x - tb.lgamma(a)) * 2**-40
    assert real(tb.max(tb.abs(step - slope))) <= 2**-50
