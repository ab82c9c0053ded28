"""Neural models that measure: encoders and classifiers, on this machine, without a network.

Everything here is lazy: torch and transformers (the extra ``models``) are imported when a model is
first used. Nothing is downloaded while scoring; a model that is not on this machine is
`Unavailable`, and what needs it is unscored with that sentence.
"""

from ragassay.models.model_options import ModelOptions
from ragassay.models.models import Models
from ragassay.models.weights.weight_files import Unavailable, Unusable, Weights

__all__ = ["ModelOptions", "Models", "Unavailable", "Unusable", "Weights"]
