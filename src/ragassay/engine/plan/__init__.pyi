from .data_preview import preview as preview
