"""Make and maintain golden sets.

A golden set is a folder: a line for each query with its references and gold spans, and the
documents with the spans. `ragassay run ANSWERS --golden DIR` scores a system by it.

```sh
ragassay golden import questions.jsonl --documents docs -o golden
ragassay golden anchor golden
ragassay golden split golden --into dev=0.5,test=0.5
```
"""
