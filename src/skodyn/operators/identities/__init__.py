"""Every equation of the papers as a check that anyone can run."""

from skodyn.operators.identities.checking import CATALOGUE, Result, check_identities
from skodyn.operators.identities.equation import Equation

__all__ = ["CATALOGUE", "Equation", "Result", "check_identities"]
