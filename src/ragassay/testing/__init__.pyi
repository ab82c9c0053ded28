from .collected_samples import (
    CollectedSamples as CollectedSamples,
    GatedSession as GatedSession,
    gated as gated,
)
from .score_assertion import assert_score as assert_score
