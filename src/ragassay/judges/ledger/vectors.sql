CREATE TABLE IF NOT EXISTS vectors (
    key BLOB NOT NULL,
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    answered_by TEXT NOT NULL,
    vector BLOB NOT NULL,
    input_tokens INTEGER NOT NULL,
    cost REAL,
    created REAL NOT NULL
);

CREATE UNIQUE INDEX IF NOT EXISTS vectors_by_key ON vectors (key);
