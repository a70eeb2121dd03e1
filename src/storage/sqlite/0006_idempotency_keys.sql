-- The Idempotency-Key with which an animal was added, for a day. `client` is the identifier of an API key; `added` is in
-- seconds since the Unix epoch. Identifiers of animals ascend with time, so the oldest keys are the first rows.
CREATE TABLE idempotency_key (
    animal_id INTEGER PRIMARY KEY,
    client    TEXT    NOT NULL,
    value     TEXT    NOT NULL,
    added     INTEGER NOT NULL,
    UNIQUE (client, value)
) STRICT;
