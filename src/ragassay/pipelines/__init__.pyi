from .pipeline_file import is_pipeline as is_pipeline
from .pipeline_run import Options as Options
from .pipelines import build as build, run as run, steps as steps
