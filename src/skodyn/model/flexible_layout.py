"""Where each number of flexible bodies lies in a packed model.

A model with such bodies has two trees (layout.FLEXIBLE). The first is the layout of the state: one
row for each body, and behind that of a flexible one a row for its modes, which are coordinates like
those of sliding joints. Whoever moves coordinates sees that one. The second is the tree of bodies
that recursions run over, with this table behind it:

    how many flexible bodies | lanes they need | record of each body, 0 if it is rigid
    | record of what each body hangs on, 0 if on no node | records

All places in the table count from the beginning of the second tree; those of numbers from the
beginning of `parameters`, those of lanes from the free slot of the workspace.

Shapes are numbered masters first. N and S of a shape only matter through nine numbers,
D(N) = 2 tr(N) I − N − Nᵀ as (xx, xy, xz, yy, yz, zz) and ax(N) = (N₂₃−N₃₂, N₃₁−N₁₃, N₁₂−N₂₁).
"""

from __future__ import annotations

# the table
FLEXIBLE_COUNT, FLEXIBLE_LANES, RECORDS = range(3)

# a record of a flexible body, integers
MODES, SLAVES, SHAPES, MODE_Q, MODE_V = range(5)
SHAPE_INTEGRALS, COUPLINGS, MODAL_MASS, STIFFNESS, DAMPING = range(5, 10)  # numbers
GAUSS_POINTS, GAUSS = range(10, 12)  # how many, numbers: weight, slopes, curvatures of a point
PRODUCTS, PRODUCT_NUMBERS = range(12, 14)  # sparse rows: integers, numbers
SQUARES, SQUARE_NUMBERS = range(14, 16)  # those of the slaves
IS_MIXED = 16  # do masters and slaves share inertia?
ETA, ETA_RATE, SLAVE_PRODUCT = range(17, 20)  # lanes: η and ξ, their rates, ξ̈ at η̈ = 0
COUPLING, ARM_RATE = range(20, 22)  # nine numbers a shape, and the rates of the last three
SLOPE, SLOPE_RATE, CARRIED = range(22, 25)  # A·η, A·η̇, and slaves' inertia times the former
OWN = 25  # (h, J) and b of the body itself, world axes
PAIRS = 26  # P_ηη, lower triangle by rows
FLEXIBLE_RECORD = 27

COUPLING_NUMBERS = 9
FIRST, SECOND, BIAS = 0, 3, 9  # in OWN
OWN_LANES = 15

# a record of what hangs on a node, integers
NODE_NUMBERS, NODE_LANES = range(2)  # s, then φ and ψ of each shape; Π of each master
NODE_RECORD = 2


def lower(i: int) -> int:
    """Where row i of a lower triangle begins."""
    return i * (i + 1) // 2
