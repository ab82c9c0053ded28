from .application import ServiceOptions as ServiceOptions, create_app as create_app
from .http_protocol import TimedProtocol as TimedProtocol
from .named_models import NamedModels as NamedModels
from .sample_project import create_sample as create_sample
