-- API keys. Only the SHA-256 of a key is kept. Times are seconds since the Unix epoch.
CREATE TABLE api_key (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id       TEXT    NOT NULL UNIQUE,
    name     TEXT    NOT NULL,
    hash     BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    created  INTEGER NOT NULL,
    expires  INTEGER,
    revoked  INTEGER
) STRICT;
