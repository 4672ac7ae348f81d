"""The course as an importable package: agents, buffers, networks, figures and exercise checks."""
