"""Systems asked, samples evaluated, and what becomes of run folders."""
