"""The command line: commands that belong together are a file. They hold no logic of their own.

The files import what they need inside their functions, so that all of them load fast.
"""
