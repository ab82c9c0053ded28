from .http_mapping import read_mapping as read_mapping, unset as unset
from .http_target import HttpTarget as HttpTarget, preset as preset
