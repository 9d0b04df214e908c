"""Loops and couplings of a model: description, checks, assembly, tables for kernels."""
