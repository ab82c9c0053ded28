PRAGMA application_id = 1380404273;
PRAGMA user_version = 1;
CREATE TABLE answers (
    key BLOB NOT NULL,
    system TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    query TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    record TEXT NOT NULL,
    created REAL NOT NULL
);
INSERT INTO "answers" VALUES(X'8597F35B133FA1A915513D64CA2762FEE665D2CB53BFDF1C049865278552A0FF','my_rag','f1','q1',0,'{"answer": "Yes."}',1750000100.0);
CREATE TABLE failures (
    key BLOB NOT NULL,
    system TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    query TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    times INTEGER NOT NULL,
    record TEXT NOT NULL,
    created REAL NOT NULL
);
INSERT INTO "failures" VALUES(X'9E435EFC0F44822A44FEE3F0F80669CC66A513468E0027C69E685AA7BAE9591F','my_rag','f1','q2',1,2,'{"failure": "timeout"}',1750000100.0);
INSERT INTO "failures" VALUES(X'8597F35B133FA1A915513D64CA2762FEE665D2CB53BFDF1C049865278552A0FF','my_rag','f1','q1',0,1,'{"failure": "timeout"}',1750000100.0);
CREATE TABLE rejected (
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    parameter TEXT NOT NULL,
    PRIMARY KEY (endpoint, model, parameter)
);
INSERT INTO "rejected" VALUES('https://api.openai.com/v1','o3','seed');
INSERT INTO "rejected" VALUES('https://api.openai.com/v1','o3','temperature');
INSERT INTO "rejected" VALUES('https://api.openai.com/v1','o3','min_p');
CREATE TABLE vectors (
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
INSERT INTO "vectors" VALUES(X'E6A3EE413C266BE28FC5174454C569B2720403BD5A0F6FC12356D7F7385FAA43','https://api.openai.com/v1','small',2,'small-1',X'0000003F000080BF',3,0.001,1750000050.0);
CREATE TABLE verdicts (
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
INSERT INTO "verdicts" VALUES(X'5FECEB66FFC86F38D952786C6D696C79C2DBC239DD4E91B46729D73A27FB57E9','relevance_grade',1,'00000000000000000000000000000000',0,'https://api.openai.com/v1','gpt-4o','gpt-4o-2024-08-06','abcdefabcdef',NULL,'',X'785EAB56CA4D2D2E4E4C4F2D56B28AAE562ACACF4955B2522A2D4E2D52D2514ACECF2B49CD2B010A04248215291828D5C6D60200DC5411AF','{"match":1,"trust":2,"grade":3}','{"match":1,"trust":2,"grade":3}',700,20,0.002,0.25,1,'[]',1750000000.0);
INSERT INTO "verdicts" VALUES(X'6B86B273FF34FCE19D6B804EFF5A3F5747ADA4EAA22F1D49C01E52DDB7875B4B','relevance_grade',1,'00000000000000000000000000000001',3,'https://api.openai.com/v1','gpt-4o','gpt-4o-2024-08-06','abcdefabcdef','refused','It would not say.',X'785EAB56CA4D2D2E4E4C4F2D56B28AAE562ACACF4955B2522A2D4E2D52D2514ACECF2B49CD2B010A0424821529182AD5C6D60200DC5911B0','Ich möchte nicht. 不',NULL,700,20,NULL,0.25,1,'["temperature","seed"]',1750000001.0);
CREATE UNIQUE INDEX verdicts_by_key ON verdicts (key);
CREATE UNIQUE INDEX answers_by_key ON answers (key);
CREATE UNIQUE INDEX failures_by_key ON failures (key);
CREATE UNIQUE INDEX vectors_by_key ON vectors (key);
