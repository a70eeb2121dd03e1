-- Animals. AUTOINCREMENT, so that an identifier is never given twice, not even after a deletion by hand.
CREATE TABLE animal (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT    NOT NULL,
    category_id INTEGER NOT NULL,
    status      TEXT    CHECK (status IN ('available', 'pending', 'sold'))
) STRICT;

-- A page of one status is one range of this index. Animals without a status match none and are not in it.
CREATE INDEX animal_by_status ON animal (status, id) WHERE status IS NOT NULL;
