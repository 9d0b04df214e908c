"""Where kernels find which joints have their acceleration given.

The header of `tree` has this place behind those of layout.py; it says where a flag for each body
begins. Only the trees of prescription.py have one.
"""

from __future__ import annotations

PRESCRIBED = 5
