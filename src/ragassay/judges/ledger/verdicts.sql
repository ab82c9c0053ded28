CREATE TABLE IF NOT EXISTS rejected (
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    parameter TEXT NOT NULL,
    PRIMARY KEY (endpoint, model, parameter)
);

CREATE TABLE IF NOT EXISTS verdicts (
    key BLOB NOT NULL,
    kind TEXT NOT NULL,
    version INTEGER NOT NULL,
    question TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    answered_by TEXT NOT NULL,
    prompt_hash TEXT NOT NULL,
    reason TEXT,
    detail TEXT NOT NULL,
    request BLOB NOT NULL,
    reply TEXT NOT NULL,
    answer TEXT,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost REAL,
    latency REAL NOT NULL,
    attempts INTEGER NOT NULL,
    dropped TEXT NOT NULL,
    created REAL NOT NULL
);

CREATE UNIQUE INDEX IF NOT EXISTS verdicts_by_key ON verdicts (key);
