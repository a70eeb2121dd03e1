-- A page of one status is one range of this index and needs no look-up of each animal in the table, which would take
-- longer with each level that the tree of a larger table has.
DROP INDEX animal_by_status;
CREATE INDEX animal_by_status ON animal (status, id, name, category_id) WHERE status IS NOT NULL;
