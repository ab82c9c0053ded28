"""``python -m ragassay`` is the command ``ragassay``."""

from ragassay.cli.start import main

if __name__ == "__main__":
    main()
