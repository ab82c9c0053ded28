"""Whether an answer agrees with its passages or with facts: claims, HHEM."""
