"""Kernels of closed loops: their rows, factors, projections, embedded dynamics."""
