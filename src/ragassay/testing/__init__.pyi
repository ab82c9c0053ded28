from .collected_samples import CollectedSamples as CollectedSamples
from .score_assertion import assert_score as assert_score
