from .nugget_making import NuggetOptions as NuggetOptions, make_nuggets as make_nuggets
from .nugget_recall import Nuggets as Nuggets, NuggetsOre as NuggetsOre
from .nugget_scores import (
    LENIENT as LENIENT,
    NuggetScore as NuggetScore,
    published_nugget_score as published_nugget_score,
)
