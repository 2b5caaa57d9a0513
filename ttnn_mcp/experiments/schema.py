"""The store's tables, version by version. A released version is never changed; a new one is appended."""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE runs (
            id TEXT PRIMARY KEY, name TEXT NOT NULL, performance TEXT, memory TEXT, kernel_ns INTEGER NOT NULL,
            warm INTEGER NOT NULL, rank INTEGER
        )""",
        """CREATE TABLE experiments (
            id INTEGER PRIMARY KEY AUTOINCREMENT, uid TEXT NOT NULL UNIQUE, recorded REAL NOT NULL,
            change TEXT NOT NULL, step INTEGER, hypothesis TEXT, note TEXT,
            baseline TEXT NOT NULL REFERENCES runs (id), candidate TEXT NOT NULL REFERENCES runs (id),
            pcc REAL, wall_before_ms REAL, wall_after_ms REAL, measured TEXT NOT NULL, judged_by TEXT NOT NULL,
            change_share REAL NOT NULL, noise_share REAL NOT NULL, verdict TEXT NOT NULL, why TEXT NOT NULL,
            flags TEXT NOT NULL
        )""",
    ),
    (
        """CREATE TABLE targets (
            baseline TEXT PRIMARY KEY REFERENCES runs (id), kind TEXT NOT NULL, value REAL NOT NULL,
            batch INTEGER NOT NULL, recorded REAL NOT NULL
        )""",
    ),
    (
        "ALTER TABLE experiments ADD COLUMN finding TEXT",
        "ALTER TABLE experiments ADD COLUMN at_most_us REAL",
        "ALTER TABLE targets ADD COLUMN rounds INTEGER",
        "ALTER TABLE targets ADD COLUMN hours REAL",
    ),
    (
        "ALTER TABLE runs ADD COLUMN reading TEXT",
        "ALTER TABLE runs ADD COLUMN program TEXT",
    ),
    (
        "ALTER TABLE experiments ADD COLUMN layer_pccs TEXT",
        "ALTER TABLE experiments ADD COLUMN drifts_at INTEGER",
    ),
)
VERSION = len(MIGRATIONS)  # PRAGMA user_version of a new store
