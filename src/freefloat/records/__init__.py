"""Records on disk: one schema from the dataclasses, read from TOML and JSON and written to them.

`schema` reads the annotations of a dataclass and lets pydantic find every departure from them;
`toml_text` and `json_text` know the two formats; `source` opens files with care. The readers and
writers of Model, Plan, Fit and Verdict are their clients.
"""
