"""`python -m novikoff` is `novikoff`."""

import sys

from novikoff.cli.main import main

sys.exit(main())
