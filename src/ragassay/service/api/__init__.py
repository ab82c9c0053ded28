"""The REST interface of the service, under ``/api/v1``."""
