from .mtrag_steps import StepOptions as StepOptions, run_steps as run_steps
