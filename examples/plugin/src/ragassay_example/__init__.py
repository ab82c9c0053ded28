"""One thing of each kind that a package can add to ragassay."""
