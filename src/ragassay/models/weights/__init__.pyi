from .fetching import fetch as fetch, readable as readable
from .known_models import KNOWN as KNOWN, KnownModel as KnownModel
from .weight_files import (
    BY_MODEL as BY_MODEL,
    CONFIG as CONFIG,
    WEIGHT_FILES as WEIGHT_FILES,
    Unavailable as Unavailable,
    Unusable as Unusable,
    Weights as Weights,
    facts as facts,
    folder_of as folder_of,
    identity as identity,
    is_path as is_path,
    label_of as label_of,
    missing_folder as missing_folder,
    needs_packages as needs_packages,
    no_folder as no_folder,
    place_of as place_of,
)
