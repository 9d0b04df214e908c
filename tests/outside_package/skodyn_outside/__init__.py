"""What this package offers to skodyn; imported when a name is not known."""

from skodyn_outside.crane import Crane
from skodyn_outside.drag import QuadraticDrag
from skodyn_outside.ralston import RALSTON
from skodyn_outside.tip import tip_speed

THINGS = [Crane, QuadraticDrag, RALSTON, tip_speed]
