"""What is measured: one file a family. Pure arithmetic, no input or output, no globals."""
