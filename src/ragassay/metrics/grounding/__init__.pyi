from .hallucination import Hhem as Hhem
