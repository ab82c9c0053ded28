"""How a golden set is reviewed: how many people review an item, and what they answer first."""

from __future__ import annotations

import hashlib

from pydantic import BaseModel, ConfigDict, Field


class ReviewSettings(BaseModel):
    """How a golden set is reviewed; kept in the folder, so that it holds for all reviewers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    overlap: float = Field(0.0, ge=0, le=1, description="Share of items that several review")
    people: int = Field(2, ge=2, description="How many review each of those")
    calibration: str | None = Field(None, description="Golden set with known answers, shown first")

    def needs(self, item: str) -> int:
        """How many people review an item.

        Args:
            item: its id. The choice depends on it alone, so that it is the same for everybody.
        """
        share = int.from_bytes(hashlib.blake2b(item.encode(), digest_size=8).digest()) / 2**64
        return self.people if share < self.overlap else 1
