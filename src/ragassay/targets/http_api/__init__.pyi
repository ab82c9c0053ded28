from .http_mapping import preset as preset, read_mapping as read_mapping, unset as unset
from .http_target import HttpTarget as HttpTarget
