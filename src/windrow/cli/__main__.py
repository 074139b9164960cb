"""`python -m windrow.cli` is the command `windrow`."""

import sys

from windrow.cli.main import main

if __name__ == "__main__":  # the process that writes readings imports this file, too
    sys.exit(main())
