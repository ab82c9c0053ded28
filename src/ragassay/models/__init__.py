"""Neural models that measure: encoders and classifiers, on this machine, without a network.

Everything here is lazy: torch and transformers (the extra ``models``) are imported when a model is
first used. Nothing is downloaded while scoring; a model that is not on this machine is
`Unavailable`, and what needs it is unscored with that sentence.
"""
