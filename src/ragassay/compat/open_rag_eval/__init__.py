"""Open RAG Eval's Python classes, which run the suites ``trecrag``, ``consistency`` and ``golden``.

>>> from ragassay import OpenAIModel, TRECEvaluator
>>> evaluator = TRECEvaluator(OpenAIModel("gpt-4o"), {"k_values": [1, 3, 5]})  # doctest: +SKIP
>>> result = evaluator.evaluate("answers.csv")                                  # doctest: +SKIP
>>> evaluator.citation_metric.compute({"query": "...", "passages": [...],       # doctest: +SKIP
...                                    "answer": "... [1]"})

Its YAML files are translated in `published_config`.

Wherever a model is expected, a judge's name (``"openai:gpt-4o"``, ``"offline"``) or a `Judge` will
do. Data is whatever `ragassay.evaluate` takes: a path, samples, mappings, a frame. A mapping is
flat, as a line of a file is (``retrieved_passages``, ``generated_answer`` are understood, too; an
answer may be a text)::

    {"query": "Who wrote Dune?",
     "passages": {"[1]": "Dune is by Frank Herbert."},
     "answer": [{"text": "Frank Herbert.", "citations": ["[1]"]}]}
"""
