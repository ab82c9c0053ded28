from .provider_table import Provider as Provider
