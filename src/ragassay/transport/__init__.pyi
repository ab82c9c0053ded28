from .providers_and_prices import Provider as Provider
