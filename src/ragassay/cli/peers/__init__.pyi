from .mtrag_command import mtrag as mtrag, published_form as published_form
from .open_rag_eval_forms import open_rag_eval_form as open_rag_eval_form
from .pipeline_command import build as build, run_pipeline as run_pipeline
from .plot_command import plot as plot
from .trec_command import trec as trec
