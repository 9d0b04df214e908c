"""The layout of what an implicit step knows besides its forces: integers, by implicit_tables.py.

They lie behind the codes of all forces. The explicit codes are those forces once more without what
the step solves for: contacts, servos, springs, dampers, friction and stops of joints.
"""

from __future__ import annotations

# header; offsets are from where it begins
EXPLICIT = 0  # where the explicit codes begin
SERVOS, SERVOS_AT = 1, 2  # how many, and where their records are
CONTACTS_FROM_CODES = 3  # where contact tables begin, from the codes of all forces; 0 for none
BRISTLE_INTEGRAL = 4  # which number behind the velocities is the first bristle
TOUCHED_AT = 5  # a row of starts, one per body and one more, into the list behind it
PAIRS, PAIRS_AT = 6, 7  # points between two bodies, and their numbers
PUSHED = 8  # 1 if other elements push bodies
LANES_AT = 9  # the first lane of the workspace that nobody else needs
OWN_SWEEP = 10  # 1 if Newton's steps are a part of their own: parts.py
FULL_AT = 11  # where the tree of every joint begins; 0 if none follows another
IMPLICIT_HEADER = 12

# an entry of the list of touched bodies is 8·point + 4·second + 2·pair + side.
# side: the body is b; pair: the other is no ground; second: the other comes first in the tree
SIDE, PAIR, SECOND_SIDE, TOUCH_CODES = 1, 2, 4, 8
