"""Formats of model files, one file each; a further format is a further file, and nothing else."""
