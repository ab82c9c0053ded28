"""Labels and counts: how far people agree, whether something happens more often than it should."""
