-- Plain SQL that SQLite and PostgreSQL both run, as before. What is not known is 0 or empty, not NULL.

-- A job that works on a book has its name and a task, analyze or expand; its `spec` is a corridor.v1.BookAnalyzeRequest or ExpandRequest, its position is empty.
ALTER TABLE job ADD COLUMN book TEXT NOT NULL DEFAULT '';
ALTER TABLE job ADD COLUMN task TEXT NOT NULL DEFAULT '';

CREATE TABLE book (
    name TEXT PRIMARY KEY,
    created_unix_ms BIGINT NOT NULL
);

-- A position of a book, in canonical orientation. `key` has 16 hexadecimal digits; `number` is the order of arrival, from 0; `job` has added it, 0 is an import.
-- From `depth` to `others` what a search found (`depth` 0: nothing): scores are from White's view, `score_kind` is cm, white_wins_in or black_wins_in; `lines` is the root moves'
-- corridor.v1.DoneEvent; `others` has four bytes for each other root move: its number, its score (two, the larger first, wins from 32000 down), 1 upper, 2 lower or 3 exact.
-- From `value_source` on what the book says: rules, search or backed_up, the last through `value_move`.
CREATE TABLE book_position (
    book TEXT NOT NULL,
    key TEXT NOT NULL,
    number BIGINT NOT NULL,
    position TEXT NOT NULL,
    job BIGINT NOT NULL DEFAULT 0,
    depth BIGINT NOT NULL DEFAULT 0,
    score_kind TEXT NOT NULL DEFAULT '',
    score_white BIGINT NOT NULL DEFAULT 0,
    bound_white TEXT NOT NULL DEFAULT '',
    best_move TEXT NOT NULL DEFAULT '',
    pv TEXT NOT NULL DEFAULT '',
    nodes BIGINT NOT NULL DEFAULT 0,
    engine TEXT NOT NULL DEFAULT '',
    analysed_unix_s BIGINT NOT NULL DEFAULT 0,
    worker TEXT NOT NULL DEFAULT '',
    multipv BIGINT NOT NULL DEFAULT 0,
    prune TEXT NOT NULL DEFAULT '',
    deterministic BIGINT NOT NULL DEFAULT 0,
    lines BYTEA NOT NULL DEFAULT '',
    others BYTEA NOT NULL DEFAULT '',
    value_source TEXT NOT NULL DEFAULT '',
    value_kind TEXT NOT NULL DEFAULT '',
    value_white BIGINT NOT NULL DEFAULT 0,
    value_bound TEXT NOT NULL DEFAULT '',
    value_depth BIGINT NOT NULL DEFAULT 0,
    value_move TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (book, key)
);
CREATE INDEX book_position_key ON book_position (key);

-- A legal move from one position of a book to another, in the first one's orientation.
CREATE TABLE book_edge (
    book TEXT NOT NULL,
    parent TEXT NOT NULL,
    move TEXT NOT NULL,
    child TEXT NOT NULL,
    PRIMARY KEY (book, parent, move)
);

-- The last completed depth of a search that takes long: `lines` as above, `moves` in the order of the next depth.
CREATE TABLE book_progress (
    book TEXT NOT NULL,
    key TEXT NOT NULL,
    job BIGINT NOT NULL,
    depth BIGINT NOT NULL,
    nodes BIGINT NOT NULL,
    lines BYTEA NOT NULL,
    moves TEXT NOT NULL,
    PRIMARY KEY (book, key)
);
