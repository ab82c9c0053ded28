"""ML cube's wire under ``/sdk/v1``: what its published client asks, answered by our store."""
