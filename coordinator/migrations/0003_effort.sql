-- The most that a search of a position has been given, the one that has found its value or another that has found nothing better:
-- positions visited and milliseconds. Never less than `nodes`.
ALTER TABLE book_position ADD COLUMN effort_nodes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE book_position ADD COLUMN effort_ms BIGINT NOT NULL DEFAULT 0;
