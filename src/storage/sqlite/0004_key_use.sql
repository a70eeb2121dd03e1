-- Who has an API key or what it is for, in words, and the hour of its last use.
ALTER TABLE api_key ADD COLUMN note TEXT;
ALTER TABLE api_key ADD COLUMN last_used INTEGER;
