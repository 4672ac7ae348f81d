"""The course's own tools: the notebook builder and what goes with it."""
