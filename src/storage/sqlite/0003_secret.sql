-- The one secret of the store. The program fills it in, from the system's random numbers.
CREATE TABLE secret (
    only  INTEGER PRIMARY KEY CHECK (only = 1),
    bytes BLOB    NOT NULL CHECK (length(bytes) = 32)
) STRICT;
