"""Designs: which points of parameter space are run.

A design has `names` (parameter paths), a `count`, and `points(indices)`, which gives the values of
any points without making the others. Values are float64; what is no number (a method, a vector) is
listed, and the value is its place in `labels`.

    grid({"bodies.upper.mass": [1, 2], "initial.q.elbow": linear(0, 1, 11)})
    table({"a": [1, 2, 3], "b": [4, 5, 6]})            # three points
    random({"a": (0, 1)}, count=100, seed=1), latin_hypercube(…), sobol(…)
    product(grid(…), sobol(…)), together(table(…), random(…))
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import ScenarioError
from skodyn.forks import cached_property
from skodyn.typing import Floats

__all__ = [
    "Design",
    "Listed",
    "Product",
    "Sampled",
    "Span",
    "Together",
    "Varied",
    "factors",
    "import_scipy",
    "linear",
    "logarithmic",
]

Indices = NDArray[np.int64]
Labels = dict[str, tuple[Any, ...]]


class Design(Protocol):
    """Points of parameter space."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def count(self) -> int: ...
    @property
    def labels(self) -> Labels: ...
    def points(self, indices: Indices) -> Floats: ...


def linear(start: float, stop: float, count: int) -> list[float]:
    """Evenly spaced values, both ends included."""
    return [float(x) for x in np.linspace(start, stop, count)]


def logarithmic(start: float, stop: float, count: int) -> list[float]:
    """Values with even ratios, both ends included."""
    return [float(x) for x in np.geomspace(start, stop, count)]


@dataclass(frozen=True, eq=False)
class Listed:
    """Columns of the same length, given in full: a list, a file, one axis of a grid."""

    columns: Mapping[str, Sequence[Any]]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @cached_property
    def count(self) -> int:
        return len(next(iter(self.columns.values())))

    @cached_property
    def labels(self) -> Labels:
        return {n: tuple(c) for n, c in self.columns.items() if not _all_numbers(c)}

    @cached_property
    def _values(self) -> Floats:
        return np.stack(
            [
                np.arange(float(self.count)) if name in self.labels else np.asarray(column, float)
                for name, column in self.columns.items()
            ],
            axis=1,
        )

    def points(self, indices: Indices) -> Floats:
        return self._values[indices]


def _all_numbers(column: Sequence[Any]) -> bool:
    if isinstance(column, range):
        return True
    return all(isinstance(x, int | float | np.number) and not isinstance(x, bool) for x in column)


@dataclass(frozen=True)
class Span:
    """Where a sampled parameter lies: evenly between low and high (or their logarithms), or with a
    normal distribution about `low` with standard deviation `high`."""

    low: float
    high: float
    scale: str = "linear"  # linear, log, normal

    def of(self, unit: Floats) -> Floats:
        """Values at points of the unit interval."""
        if self.scale == "log":
            a, b = math.log(self.low), math.log(self.high)
            return np.asarray(np.exp(a + unit * (b - a)))
        if self.scale == "normal":
            ndtri = import_scipy().special.ndtri
            return np.asarray(self.low + self.high * ndtri(unit))
        return self.low + unit * (self.high - self.low)


def import_scipy() -> Any:
    """SciPy, which only some samples need."""
    try:
        import scipy.special
        import scipy.stats
    except ImportError:
        raise ScenarioError(
            'samples of kind "sobol" and "latin_hypercube", and parameters with a mean and a '
            "deviation, need SciPy",
            "install it with pip install 'skodyn[sweep]', or use kind = \"random\" with low and "
            "high.",
        ) from None
    return scipy


METHODS = ("random", "latin_hypercube", "sobol")
_BLOCK = 4096


@dataclass(frozen=True, eq=False)
class Sampled:
    """Points of a box: random, in a Latin hypercube or on a scrambled Sobol sequence.

    Random points are made block by block, wherever they are asked for. The others are one set, so
    they are kept: 8 bytes for each number.
    """

    spans: Mapping[str, Span]
    method: str
    size: int
    seed: int = 0
    labels: Labels = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.spans)

    @property
    def count(self) -> int:
        return self.size

    @property
    def needs_scipy(self) -> bool:
        return self.method != "random" or any(s.scale == "normal" for s in self.spans.values())

    @cached_property
    def _unit_cube(self) -> Floats:
        qmc = import_scipy().stats.qmc
        width = len(self.spans)
        if self.method == "sobol":
            sobol = qmc.Sobol(width, scramble=True, rng=self.seed)
            # a power of two of them, whose balance is what the method is for; then the first ones
            return np.asarray(sobol.random_base2(max(self.size - 1, 1).bit_length())[: self.size])
        return np.asarray(qmc.LatinHypercube(width, rng=self.seed).random(self.size))

    def _block(self, number: int) -> Floats:
        shape = (_BLOCK, len(self.spans))
        return np.random.default_rng([self.seed, number]).random(shape)

    def _unit(self, indices: Indices) -> Floats:
        if self.method != "random":
            return self._unit_cube[indices]
        unit = np.empty((len(indices), len(self.spans)))
        blocks = indices // _BLOCK
        for number in np.unique(blocks).tolist():
            chosen = blocks == number
            unit[chosen] = self._block(number)[indices[chosen] % _BLOCK]
        return unit

    def points(self, indices: Indices) -> Floats:
        unit = self._unit(indices)
        columns = [span.of(unit[:, i]) for i, span in enumerate(self.spans.values())]
        return np.stack(columns, axis=1)


@dataclass(frozen=True, eq=False)
class _Several:
    """Designs beside each other: the columns of all of them."""

    designs: tuple[Design, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for design in self.designs for name in design.names)

    @property
    def labels(self) -> Labels:
        return {k: v for design in self.designs for k, v in design.labels.items()}


@dataclass(frozen=True, eq=False)
class Product(_Several):
    """Every point of each design with every point of the others; the last one varies fastest."""

    @property
    def count(self) -> int:
        return math.prod(design.count for design in self.designs)

    def points(self, indices: Indices) -> Floats:
        parts = np.unravel_index(indices, [design.count for design in self.designs])
        columns = [d.points(part) for d, part in zip(self.designs, parts, strict=True)]
        return np.concatenate(columns, axis=1) if columns else np.zeros((len(indices), 0))


@dataclass(frozen=True, eq=False)
class Together(_Several):
    """Designs of the same length, point by point."""

    @property
    def count(self) -> int:
        return self.designs[0].count

    def points(self, indices: Indices) -> Floats:
        return np.concatenate([design.points(indices) for design in self.designs], axis=1)


def factors(design: Design) -> list[Design]:
    """The designs whose product this is: the dimensions of the results."""
    if isinstance(design, Product):
        return [factor for part in design.designs for factor in factors(part)]
    return [design]


class Varied:
    """The runs in which factors with some of these names vary and all others are at their first
    point: enough to see all that these parameters decide, and far fewer than all runs."""

    def __init__(self, design: Design, names: Iterable[str]) -> None:
        parts, wanted = factors(design), set(names)
        sizes = [part.count for part in parts]
        chosen = [i for i, part in enumerate(parts) if not wanted.isdisjoint(part.names)]
        self._sizes = [sizes[i] for i in chosen]
        self._strides = [math.prod(sizes[i + 1 :]) for i in chosen]
        self.count = math.prod(self._sizes)

    def chunks(self, size: int) -> Iterator[Indices]:
        """Their numbers, ascending, so many at a time."""
        for start in range(0, self.count, size):
            numbers = np.arange(start, min(start + size, self.count))
            places = np.unravel_index(numbers, self._sizes) if self._sizes else ()
            runs = np.zeros(len(numbers), dtype=np.int64)
            for place, stride in zip(places, self._strides, strict=True):
                runs += place * stride
            yield runs
