"""Functions of elements that take as many steps as their data need: divisors and the incomplete beta function."""
