-- Who has an API key or what it is for, in words, and the hour of its last use.
ALTER TABLE api_key ADD COLUMN IF NOT EXISTS note text;
ALTER TABLE api_key ADD COLUMN IF NOT EXISTS last_used bigint;
