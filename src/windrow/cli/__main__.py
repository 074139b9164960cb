"""`python -m windrow.cli` is the command `windrow`."""

import sys

from windrow.cli.main import main

sys.exit(main())
