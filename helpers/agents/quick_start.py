"""Imports torch without Python's garbage collector, which takes an eighth of a second of that time.

While torch is imported, the collector goes several times through the objects made so far, in the
end a quarter of a million, and frees 7,000 of them: modules stay. Afterwards all are frozen, so
that later collections leave them out. Whoever has imported torch before keeps all as it is.
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
