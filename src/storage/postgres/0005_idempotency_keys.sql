-- The Idempotency-Key with which an animal was added, for a day. `client` is the identifier of an API key; `added` is in
-- seconds since the Unix epoch. Identifiers of animals ascend with time, so the oldest keys have the lowest ones.
CREATE TABLE IF NOT EXISTS idempotency_key (
    animal_id bigint PRIMARY KEY,
    client    text   NOT NULL,
    value     text   NOT NULL,
    added     bigint NOT NULL,
    UNIQUE (client, value)
);
