"""Kinds of joints, one file each; a further kind is a further file, and nothing else."""
