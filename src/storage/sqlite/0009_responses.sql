-- Idempotency keys hold the fingerprint of the request and the response, so that a repeated request gets the same response
-- whatever happened to the animal since. Keys whose animal was removed are dropped. Of keys that 1.1.0 stored twice, the
-- first counts.
CREATE TABLE idempotency_response (
    client      TEXT    NOT NULL,
    value       TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    response    TEXT    NOT NULL,
    added       INTEGER NOT NULL,
    UNIQUE (client, value)
) STRICT;
INSERT INTO idempotency_response (client, value, fingerprint, response, added)
SELECT client, value, fingerprint_of_addition(category_id, status, name),
    CASE WHEN status IS NULL
        THEN json_object('id', id, 'name', name, 'categoryId', category_id)
        ELSE json_object('id', id, 'name', name, 'categoryId', category_id, 'status', status)
    END,
    added
FROM idempotency_key JOIN animal ON id = animal_id WHERE true ORDER BY animal_id
ON CONFLICT DO NOTHING;
DROP TABLE idempotency_key;
ALTER TABLE idempotency_response RENAME TO idempotency_key;

-- The removal of expired keys begins with the oldest.
CREATE INDEX idempotency_key_by_age ON idempotency_key (added);

-- Every statement of 1.2.0 on animals names the column `category_id`, so a process of 1.2.0 that still runs is not ready any
-- more: it stores no keys that this release would find.
ALTER TABLE animal RENAME COLUMN category_id TO category;
