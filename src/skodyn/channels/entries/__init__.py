"""The channels of skodyn; a further one is a further file here, and nothing else."""
