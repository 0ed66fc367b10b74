"""The tests mirror the package, both ways: a test file names what it tests, and a module has tests of its own."""

from __future__ import annotations

from pathlib import Path

from ..places import PROJECT, TESTS, exists, module_name, modules, own_tests, subject, under_test

UNTESTED = Path(__file__).with_name("without_tests.txt")
"""Modules that have neither a test file of their own nor one of their package. The list may only shrink."""


def test_a_test_is_found_by_what_it_tests() -> None:
    misplaced, unnamed = [], []
    for path in sorted(TESTS.rglob("test_*.py")):
        if path.parent != PROJECT:
            unnamed += [] if under_test(path) else [subject(path)]
        elif exists(subject(path).removeprefix("project/")):
            misplaced.append(subject(path))
    assert misplaced == [], "each is about one module"
    assert unnamed == [], "name each after a module or package of tensorbackend/, alone or with an aspect of it"


def has_tests(place: str) -> bool:
    package = place.rpartition("/")[0]
    return bool(own_tests(place) or (package and own_tests(package)))


def test_a_module_has_tests_of_its_own() -> None:
    listed = UNTESTED.read_text().split()
    places = [module_name(path) for path in modules()]
    without = sorted(place for place in places if not has_tests(place))
    new = [place for place in without if place not in listed]
    assert new == [], f"write tests/{new[0].rpartition('/')[0]}/test_{new[0].rpartition('/')[2]}.py, and so for each"
    needless = [place for place in listed if place not in without]
    assert needless == [], f"take {', '.join(needless)} out of {UNTESTED.name}: they have tests now, or are gone"
    assert listed == sorted({*listed}), "each module once, in order"
