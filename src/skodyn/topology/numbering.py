"""The papers' numbering: tips first, a parent after its children (Jain 2012-I section 2.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from skodyn.errors import TopologyError
from skodyn.faults import Fault
from skodyn.wording import listed

__all__ = ["canonical"]


def canonical(
    places: Sequence[int], parents: Sequence[Sequence[int]], names: Sequence[Hashable]
) -> bool:
    """Does each node come before all of its parents? An order must hold every node once.

    In such an order ℰ is strictly lower triangular; being canonical is a property of the numbers
    that nodes get, not of how they hang together.
    """
    counts = Counter(places)
    faults = []
    twice = [names[k] for k, count in counts.items() if count > 1]
    if twice:
        faults.append(
            Fault(f"The order holds {listed(twice)} more than once", "give each node once.")
        )
    missing = [name for k, name in enumerate(names) if k not in counts]
    if missing:
        faults.append(Fault(f"The order does not hold {listed(missing)}", "give each node once."))
    if faults:
        raise TopologyError(faults)
    number = {k: place for place, k in enumerate(places)}
    return all(number[k] < number[p] for k, above in enumerate(parents) for p in above)
