"""Kernels of contact: geometry, law and states; the implicit step."""
