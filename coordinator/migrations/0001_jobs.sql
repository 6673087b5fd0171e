-- Plain SQL that SQLite and PostgreSQL both run: no dialect, no database's own types beyond BIGINT, TEXT and BYTEA.

-- Numbers that must not be used twice, whatever is forgotten.
CREATE TABLE counter (
    name TEXT PRIMARY KEY,
    value BIGINT NOT NULL
);

-- A job, and where it stands. `depth` is the last completed one, `depth_nodes` the work up to its end; `spec` is a corridor.v1.JobSpec; what people look for stands beside it.
CREATE TABLE job (
    id BIGINT PRIMARY KEY,
    position TEXT NOT NULL,
    spec BYTEA NOT NULL,
    traceparent TEXT,
    accepted_unix_ms BIGINT NOT NULL,
    state TEXT NOT NULL,
    paused BIGINT NOT NULL,
    nodes BIGINT NOT NULL,
    elapsed_ms BIGINT NOT NULL,
    depth BIGINT NOT NULL,
    depth_nodes BIGINT NOT NULL,
    engine TEXT NOT NULL
);

-- A job's events, numbered from 1 without a gap. `body` is a corridor.v1.Event.
CREATE TABLE job_event (
    job BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    kind TEXT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (job, seq)
);

-- Every root move of a job's last completed iteration, best first; the next one looks at them by `next_place`. Scores are from White's view: `score_kind` is cm,
-- white_wins_in or black_wins_in; `pv` is moves in man, separated by blanks, the root move first.
CREATE TABLE job_line (
    job BIGINT NOT NULL,
    place BIGINT NOT NULL,
    next_place BIGINT NOT NULL,
    root_move TEXT NOT NULL,
    score_kind TEXT NOT NULL,
    score_white BIGINT NOT NULL,
    bound_white TEXT NOT NULL,
    depth BIGINT NOT NULL,
    pv TEXT NOT NULL,
    nodes BIGINT NOT NULL,
    heat_cm BIGINT NOT NULL,
    PRIMARY KEY (job, place)
);
