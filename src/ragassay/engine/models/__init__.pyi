from .model_checks import (
    check_folders as check_folders,
    check_models as check_models,
    check_names as check_names,
    models_used as models_used,
)
from .model_survey import Surveyed as Surveyed, check as check, survey as survey
from .modelling import (
    cosine_of as cosine_of,
    embedding_among as embedding_among,
    here as here,
    identities as identities,
    model_options as model_options,
    weights_among as weights_among,
)
from .run_embedder import (
    address_for as address_for,
    is_endpoint as is_endpoint,
    models_again as models_again,
    models_for as models_for,
    spending_of as spending_of,
)
