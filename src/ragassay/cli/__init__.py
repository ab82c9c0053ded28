"""The command line: each command is a file, and commands that belong together
are a package. They hold no logic of their own.

The files import what they need inside their functions, so that all of them load fast.
"""
