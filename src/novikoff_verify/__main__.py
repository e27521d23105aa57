"""Entry of `python -m novikoff_verify`."""

import sys

from novikoff_verify.command import main

sys.exit(main())
