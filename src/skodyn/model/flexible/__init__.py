"""Flexible bodies of a model: beams, reduction, checks, tables for kernels."""
