"""Where each number of a model's loops lies: names for the table behind `tree` and its records.

`tree[LOOPS]` says where the table begins; zero stands for no loops. A group is a set of bodies that
move together because loops share them (topology/loops.py). Its degrees of freedom are numbered by
themselves, 0 … n − 1, and so are the *variables* that a stage of the elimination makes of them, on
behind: a stage takes the rows of one loop, or of several, and leaves fewer variables than it found
(loop_structure.py). All `…_AT` are places in `tree`, all `…_LANE` places in the workspace
behind its ordinary records, in lanes.
"""

from __future__ import annotations

# the table begins with
(
    GROUPS, CONSTRAINTS, GROUPS_AT, CONSTRAINTS_AT, HOOKS_AT, MEMBERSHIP_AT, LOOP_LANES, ROWS,
    FACTORED_LANE,
) = range(9)  # fmt: skip
LOOP_HEADER = 9
# then two numbers for the ground and each body: the first group that it carries, and how many; and
# one for each body: the group whose member it is, or −1

NULL_SPACE, RANGE_SPACE = range(2)

# a group
(
    PARENT_BODY, MODE, MEMBERS, MEMBERS_AT, DOFS, DOFS_AT, STAGES, STAGES_AT, MOBILITY, VARIABLES,
    LENGTH_PARAMETER, FIRST_CONSTRAINT, FINALS_AT, X_LANE, VALUE_LANE, GRAM_LANE, MASS_LANE,
    RATE_LANE, PASSED_LANE, PRODUCT_LANE, LAST_GAP_LANE, BY_PAIRS, THOROUGH_AT, QUICK_LANE,
) = range(24)  # fmt: skip
GROUP_RECORD = 24
# FINALS_AT: the variables that no stage makes depend on others, as many as the mobility
# BY_PAIRS: how its mass is multiplied (group_mass.py). THOROUGH_AT: with a quick plan, the
# record of the same group with the thorough one; QUICK_LANE is 1 where the quick one will do
# a member: its body, the number of its first degree of freedom in the group, and the member that it
# hangs on, or −1
MEMBER_BODY, MEMBER_DOF, MEMBER_INNER = range(3)
MEMBER_RECORD = 3
# a degree of freedom: its place in v, and whether it is a length
DOF_PLACE, DOF_LINEAR = range(2)
DOF_CELLS = 2

# a stage
(
    STAGE_CONSTRAINTS, STAGE_LIST_AT, STAGE_ROWS, TOUCHED, CONSUMED, KEPT, RANK, NEW, FIRST_NEW,
    TOUCHED_AT, PASSES, PASSES_AT, MATRIX_LANE, TAU_LANE, PIVOT_LANE, MASK_LANE, GAP_LANE,
    SIDE_LANE, PART_LANE, BASIS_LANE, EVERY_ROW, PIVOTS, DIRECT,
) = range(23)  # fmt: skip
STAGE_RECORD = 23
# STAGE_ROWS: without rows that say nothing in a plane (planar_loops.py), EVERY_ROW: with them.
# PIVOTS: how many of the first variables kept may come to depend on others. DIRECT: its basis lies
# in X, its part among the values
# a pass: the stage (its place), where its new variables begin among those touched, and how many
# pairs follow: a place among those touched, and the same variable's among those that stage kept
PASS_STAGE, PASS_FIRST, PASS_PAIRS = range(3)
PASS_HEADER = 3

# a constraint; bodies are −1 for the ground. A path leads from the end inward: bodies, each with
# the place among those touched of its first degree of freedom and, bit by bit, which are lengths
(
    KIND_OF, BODY_A, BODY_B, PRIMITIVES, PRIMITIVES_AT, PARAMETERS_AT, ROW_COUNT, FIRST_ROW,
    PATH_A, PATH_A_AT, PATH_B, PATH_B_AT, NEEDS_RATE, ESSENTIALS, ESSENTIALS_AT, ESSENTIAL_COUNT,
) = range(16)  # fmt: skip
CONSTRAINT_RECORD = 16
# PRIMITIVES, and ROW_COUNT rows that they are; ESSENTIALS are those that dynamics keeps. A
# primitive is its kind and where its parameters begin (IN_PLANE: a body)
PRIMITIVE_CELLS = 2
PATH_BODY, PATH_SLOT, PATH_LINEAR = range(3)
PATH_CELLS = 3
CLOSED_BY_JOINT = 0  # KIND_OF a loop; couplings have POLYNOMIAL or LINEAR of loop_description.py

# parameters of a loop: the two origins, then for each primitive u, w, c and e
ORIGIN_A, ORIGIN_B = 0, 3
LOOP_NUMBERS = 6
ROW_U, ROW_W, ROW_C, ROW_E = 0, 3, 6, 7
ROW_NUMBERS = 10
# of a polynomial coupling: five coefficients; of a linear one: the offset, then a factor a joint
POLYNOMIAL_NUMBERS = 5

RANK_TOLERANCE = 1e-7
"""Relative to a loop's own rows. Seen: true singular values above 1e-5, false ones below 1e-13."""

SMALL_ROWS = 0.01
"""Rows smaller than this part of the group's length are no measure of themselves: in a mechanism of
the plane a planar closure has nothing but rounding in its rows."""
