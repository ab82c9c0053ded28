from .alignment import COPY as COPY, Kind as Kind, Nearness as Nearness
from .contradictions import contradiction as contradiction
from .nearest import holding as holding
from .opposites import opposed as opposed
