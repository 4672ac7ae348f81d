"""One algorithm, one file, to be read from top to bottom: `python -m helpers.algorithms.td3`."""
