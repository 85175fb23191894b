"""``python -m rankstone``: the command line."""

from rankstone.cli import main

main()
