"""Contacts of a model: shapes that touch, the law, pairs, tables for kernels."""
