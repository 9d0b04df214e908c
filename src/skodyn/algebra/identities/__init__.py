"""Every equation of the papers as a check that anyone can run."""

from skodyn.algebra.identities.checking import CATALOGUE, Result, check_identities
from skodyn.algebra.identities.equation import Equation

__all__ = ["CATALOGUE", "Equation", "Result", "check_identities"]
