"""``python -m ragassay`` is the command ``ragassay``."""

from ragassay.cli import main

if __name__ == "__main__":
    main()
