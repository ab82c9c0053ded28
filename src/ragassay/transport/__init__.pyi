from .providers import Provider as Provider
