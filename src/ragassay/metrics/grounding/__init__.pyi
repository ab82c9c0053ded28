from .contradicted import Contradicted as Contradicted
from .hallucination import Hhem as Hhem
