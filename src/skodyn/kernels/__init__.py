"""The rigid-body fast path: one algorithm per file, arrays in, arrays out, status back.

Every kernel is a gather (tips to base) or a scatter (base to tips) over the packed arrays of a
model. The `sweep` functions take a width tag and serve single states and batches alike; the
entry points, which Python calls, are at the end of each file.
"""
