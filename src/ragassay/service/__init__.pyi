from .application import ServiceOptions as ServiceOptions, create_app as create_app
from .sample_project import create_sample as create_sample
