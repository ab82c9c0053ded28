"""Make and look after golden sets.

A golden set is a folder: queries with references and gold spans, a line each, and the documents in
which the spans are. `ragassay run ANSWERS --golden DIR` scores a system by it.

```sh
ragassay golden import questions.jsonl --documents docs -o golden
ragassay golden anchor golden
ragassay golden split golden --into dev=0.5,test=0.5
```
"""
