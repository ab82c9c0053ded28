from .application import ServiceOptions as ServiceOptions, create_app as create_app
