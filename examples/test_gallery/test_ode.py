"""The orbits and their change by a rate, by SciPy's solver and the equations of the change."""

import numpy
from scipy.integrate import solve_ivp

from .conftest import Runner


def with_change(_: float, state: numpy.ndarray) -> list[float]:
    """Return the rates of change of the populations and of their derivatives by the rate, which is 1."""
    prey, predators, dprey, dpredators = state
    met = prey * predators
    change = met + dprey * predators + prey * dpredators
    return [
        prey - met,
        0.75 * met - predators,
        dprey - change,
        0.75 * change - dpredators,
    ]


def test_the_orbits_are_those_of_scipy(on_both: Runner) -> None:
    values = on_both("ode", TIMES=20, LIMIT=100, TOLERANCE=1e-7)
    times = numpy.asarray(values["times"])
    for orbit, prey in enumerate(values["start"].prey.tolist()):
        exact = solve_ivp(
            with_change,
            (0, 12),
            [prey, 0.5, 0, 0],
            "DOP853",
            times,
            rtol=1e-11,
            atol=1e-12,
        )
        path, changes = values["path"], values["changes"]
        numpy.testing.assert_allclose(numpy.asarray(path.prey[:, orbit]), exact.y[0], rtol=1e-5)
        numpy.testing.assert_allclose(numpy.asarray(path.predators[:, orbit]), exact.y[1], rtol=1e-5)
        numpy.testing.assert_allclose(
            numpy.asarray(changes.prey[:, orbit]),
            exact.y[2],
            rtol=1e-4,
            atol=1e-4,
        )
