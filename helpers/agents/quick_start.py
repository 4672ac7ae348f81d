"""Imports torch without Python's garbage collector, which takes an eighth of a second of that time.

While torch is imported, the collector goes several times through the hundreds of thousands of
objects that have been made so far, and frees next to none of them: modules stay. Afterwards they
are frozen, so that later collections leave them out. Whoever has imported torch before keeps things
as they are.
"""

import gc
import sys

if "torch" not in sys.modules and gc.isenabled():
    gc.disable()
    try:
        import torch  # noqa: F401
    finally:
        gc.freeze()
        gc.enable()
