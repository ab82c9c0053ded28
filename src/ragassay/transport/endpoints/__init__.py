"""The protocols that judges are spoken to in: one file each, all behind `base.Endpoint`."""
