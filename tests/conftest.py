"""Set up before anything is imported: hypothesis without deadlines, and a fresh numba cache when a kernel changed.

numba's cache sees an edit of the file that a kernel is in, but not of the kernels that it calls.
"""

import hashlib
import os
import tempfile
from pathlib import Path

from hypothesis import settings

KERNELS = Path(__file__).parent.parent / "src" / "novikoff" / "kernels"
digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(KERNELS.glob("*.py")))).hexdigest()[:16]
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"novikoff-numba-{digest}"))

settings.register_profile("novikoff", deadline=None)
settings.load_profile("novikoff")
