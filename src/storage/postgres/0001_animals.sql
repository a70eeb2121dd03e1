-- Animals. Identifiers come from a sequence, so that none is given twice, not even after a deletion by hand.
-- IF NOT EXISTS here and in the next files: a server on which the advisory lock does nothing may run two at
-- once.
CREATE SEQUENCE IF NOT EXISTS animal_id;

CREATE TABLE IF NOT EXISTS animal (
    id          bigint PRIMARY KEY,
    name        text   NOT NULL,
    category_id bigint NOT NULL,
    status      text   CHECK (status IN ('available', 'pending', 'sold'))
);

-- A page of one status is one range of this index. Animals without a status match none and are not in it.
CREATE INDEX IF NOT EXISTS animal_by_status ON animal (status ASC, id ASC) WHERE status IS NOT NULL;
