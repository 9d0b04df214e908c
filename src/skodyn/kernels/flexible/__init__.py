"""Kernels of models with flexible bodies, in the place of those of rigid ones."""
