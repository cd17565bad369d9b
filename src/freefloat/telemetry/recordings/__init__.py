"""Recordings as people have them: any file, a map from its fields to channels, Telemetry.

Every module of this folder with a `SOURCE` (see `source_recording.SourceFormat`) is a format: to
add one, add a file. `import_telemetry` brings them together with a map (`recording_map`).
"""
