"""How systems are asked: side by side, within a budget, and what came of it."""
