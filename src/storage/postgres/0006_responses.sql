-- Idempotency keys hold the fingerprint of the request and the response, so that a repeated request gets the same response
-- whatever happened to the animal since. Keys whose animal was removed are dropped. The table stays, with the privileges
-- on it.
LOCK TABLE animal, idempotency_key IN ACCESS EXCLUSIVE MODE;
ALTER TABLE idempotency_key ADD COLUMN fingerprint bytea, ADD COLUMN response text;
UPDATE idempotency_key SET
    fingerprint = sha256(convert_to(
        concat_ws(chr(10), 'createPet', category_id, coalesce(status, ''), name), 'UTF8'
    )),
    response = CASE WHEN status IS NULL
        THEN json_build_object('id', id, 'name', name, 'categoryId', category_id)
        ELSE json_build_object('id', id, 'name', name, 'categoryId', category_id, 'status', status)
    END::text
FROM animal WHERE id = animal_id;
DELETE FROM idempotency_key WHERE response IS NULL;
ALTER TABLE idempotency_key
    ALTER COLUMN fingerprint SET NOT NULL,
    ALTER COLUMN response SET NOT NULL,
    ADD CHECK (octet_length(fingerprint) = 32),
    DROP COLUMN animal_id;

-- The removal of expired keys begins with the oldest.
CREATE INDEX idempotency_key_by_age ON idempotency_key (added);

-- Texts in indexes are compared by their bytes, so a new version of the C library or of ICU on the server, with another order
-- of texts, makes no index overlook a row. With a primary key, rows can be removed also where the table is published.
ALTER TABLE idempotency_key
    ALTER COLUMN client TYPE text COLLATE "C",
    ALTER COLUMN value TYPE text COLLATE "C",
    DROP CONSTRAINT idempotency_key_client_value_key,
    ADD PRIMARY KEY (client, value);
ALTER TABLE api_key ALTER COLUMN id TYPE text COLLATE "C";
ALTER TABLE animal ALTER COLUMN status TYPE text COLLATE "C";

-- Every statement of 1.2.0 on animals names the column `category_id`, so a replica of 1.2.0 that still runs is not ready any
-- more: it would not order its batches, and would store no keys that this release finds.
ALTER TABLE animal RENAME COLUMN category_id TO category;
