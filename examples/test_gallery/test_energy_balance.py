"""The climate by a loop over xarray on NumPy, the fit by SciPy without gradients, and warming by differences."""

from typing import Any

import numpy
import scipy.optimize
import xarray

from .conftest import Runner


def test_the_fit_is_scipys(on_both: Runner) -> None:
    values = on_both("energy_balance", CELLS=8, STEPS=40, rtol=1e-4, atol=1e-4)
    one_step, observed, guess, sunlight = (values[name] for name in ("one_step", "observed", "guess", "sunlight"))

    def climate(sunlight: Any, parameters: Any) -> Any:
        temperature = values["start"]
        for _ in range(40):
            temperature = one_step(temperature, sunlight, parameters)
        return temperature

    xarray.testing.assert_allclose(values["first"].as_numpy(), climate(sunlight, guess))

    def misfit(scale: Any) -> float:
        parameters = guess * xarray.Dataset({"greenhouse": scale[0], "diffusion": scale[1]})
        return float(((climate(sunlight, parameters) - observed) ** 2).mean())

    found = scipy.optimize.minimize(misfit, [1.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9})
    fitted = values["fit"].x
    numpy.testing.assert_allclose([fitted.greenhouse.values, fitted.diffusion.values], found.x, rtol=1e-3)

    shifts = []
    for cell in range(8):
        means = [
            float(climate(sunlight + step * (numpy.arange(8) == cell), values["parameters"]).mean())
            for step in (1e-5, -1e-5)
        ]
        shifts.append((means[0] - means[1]) / 2e-5 * 8)
    numpy.testing.assert_allclose(values["warming"].values, shifts, rtol=1e-4)
    assert values["warming"].sine.identical(sunlight.sine)
