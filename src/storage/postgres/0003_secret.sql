-- The one secret of the store. The program fills it in, from the system's random numbers.
CREATE TABLE IF NOT EXISTS secret (
    only_row bigint PRIMARY KEY CHECK (only_row = 1),
    bytes    bytea  NOT NULL CHECK (octet_length(bytes) = 32)
);
