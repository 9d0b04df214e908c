"""Right-hand sides of the equations of motion, one for each kind of model."""
