CREATE TABLE IF NOT EXISTS answers (
    key BLOB NOT NULL,
    system TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    query TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    record TEXT NOT NULL,
    created REAL NOT NULL
);

CREATE UNIQUE INDEX IF NOT EXISTS answers_by_key ON answers (key);
