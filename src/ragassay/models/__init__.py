"""Neural models that measure, on this machine, without a network: torch and transformers (the extra
``models``) are imported when a model is first used."""
