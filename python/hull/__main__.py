"""`python -m hull` is the command `hull`."""

import sys

from hull.cli import main

sys.exit(main())
