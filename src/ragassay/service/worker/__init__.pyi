from .worker import Worker as Worker, WorkerOptions as WorkerOptions
