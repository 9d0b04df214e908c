"""Rotations, 6-vectors, rigid transforms and spatial inertias, as small jitted helpers on tuples.

All of them are generic in lane width: a number below is a float or a lane. They inline completely,
so kernels can be written as the papers print them and still compile to straight-line code.

    vector   (x, y, z)
    matrix   nine numbers, row by row
    sym3     (xx, xy, xz, yy, yz, zz), a symmetric 3×3 matrix
    quaternion   (w, x, y, z), scalar first
    6-vector     (angular, linear), a pair of vectors
    inertia      (m, h, J): mass, first moment m·c, second moment about the frame's origin
    articulated  (A, B, C): [[A, B], [Bᵀ, C]] with A and C symmetric
"""
