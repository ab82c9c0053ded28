"""Named bundles of metrics that reproduce a published system."""
