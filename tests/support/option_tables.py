"""The options of a run as lists of the documentation, and as a JSON Schema."""

from typing import Any

from ragassay.engine.config.run_config import GROUPS, MODEL_KWARGS, RunConfig, options_of


def option_table(group: str) -> str:
    """The options of a group as a list of Markdown: key, default, what it is."""
    lines = []
    for name, option in options_of(GROUPS[group]).items():
        default = f" ({option.default})" if option.default else ""
        is_named_so = option.flags[0] == f"--{name.replace('_', '-')}"
        flag = "" if is_named_so else f" The flag is `{option.flags[0]}`."
        page = f" [More]({option.page})." if option.page else ""
        lines.append(f"- `{name}`{default}: {option.help}{flag}{page}")
    return "\n".join(lines)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a configuration file with our own keys."""
    schema = RunConfig.model_json_schema()
    keys = schema["properties"]
    for name, option in options_of(RunConfig).items():
        keys[name] = _as_read({**keys[name], "description": option.help})
    for name in ("budget", "price"):  # also dollars
        keys[name]["anyOf"].append({"type": "number"})
    keys["key_map"] = {**keys["columns"], "description": "UltraRAG's word for columns."}
    keys["model_kwargs"] = {
        "type": "object",
        "description": "The judge's sampling parameters, under the names that endpoints have.",
        "properties": {their: keys[ours] for their, ours in MODEL_KWARGS.items()},
        "additionalProperties": False,
    }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _as_read(key: dict[str, Any]) -> dict[str, Any]:
    """What a file may hold for a key: one value need not be a list, numbers may be texts (they come
    from the environment), and a mapping may be empty (which needs no telling as a default)."""
    key = {name: value for name, value in key.items() if value not in ([], {})}
    forms = key.pop("anyOf", None) or [
        {
            name: key.pop(name)
            for name in list(key)
            if name not in ("description", "default", "title")
        }
    ]
    for form in list(forms):
        if form.get("type") == "array":
            forms.append(form["items"])
        elif form.get("type") in ("integer", "number"):
            forms.append({"type": "string"})
        elif form.get("type") == "object":
            forms.append({"type": "null"})
    return {**key, "anyOf": forms}
