from .device import check_device as check_device, device_of as device_of
from .model_options import ModelOptions as ModelOptions, in_half as in_half
from .run_models import Models as Models
from .weights.weight_files import (
    Unavailable as Unavailable,
    Unusable as Unusable,
    Weights as Weights,
)
