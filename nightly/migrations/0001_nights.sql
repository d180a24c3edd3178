-- Nights, what was run in them, and what it came to. The text suits SQLite and PostgreSQL alike.
-- Whole numbers are BIGINT; seeds, which have all 64 bits, are text. What is only read as a whole is JSON.

CREATE TABLE night (
    label TEXT NOT NULL,          -- how the night is called; no two nights of a plan are called the same
    plan TEXT NOT NULL,           -- the plan's name
    plan_sha256 TEXT NOT NULL,
    seed TEXT NOT NULL,
    began BIGINT NOT NULL,        -- milliseconds since 1970
    ended BIGINT,                 -- NULL while it runs, and where it was killed
    complete BIGINT NOT NULL,     -- 1: all of the plan was done
    shards BIGINT NOT NULL,       -- of how many parts it is made, 1 for a night that is not divided
    bugaroo TEXT NOT NULL,        -- version
    notes TEXT NOT NULL,          -- JSON: what the reader should know of the night, a line each
    PRIMARY KEY (plan, label)
);

CREATE TABLE part (
    plan TEXT NOT NULL,
    label TEXT NOT NULL,
    shard BIGINT NOT NULL,        -- from 1
    complete BIGINT NOT NULL,
    PRIMARY KEY (plan, label, shard)
);

CREATE TABLE program (
    plan TEXT NOT NULL,
    label TEXT NOT NULL,
    shard BIGINT NOT NULL,
    program TEXT NOT NULL,
    facts TEXT NOT NULL,          -- JSON: what it is, its baseline, or why it was not run
    PRIMARY KEY (plan, label, program, shard)
);

CREATE TABLE cell (
    plan TEXT NOT NULL,
    label TEXT NOT NULL,
    program TEXT NOT NULL,
    cell TEXT NOT NULL,
    facts TEXT NOT NULL,          -- JSON: kind and variation
    PRIMARY KEY (plan, label, program, cell)
);

-- Trials that were counted together: first, first + step, first + 2 step … A batch is written whole or not at all.
CREATE TABLE batch (
    plan TEXT NOT NULL,
    label TEXT NOT NULL,
    program TEXT NOT NULL,
    cell TEXT NOT NULL,
    first BIGINT NOT NULL,
    step BIGINT NOT NULL,
    trials BIGINT NOT NULL,
    pass BIGINT NOT NULL,
    wrong_result BIGINT NOT NULL,
    crash BIGINT NOT NULL,
    deadlock BIGINT NOT NULL,
    timeout BIGINT NOT NULL,
    slow BIGINT NOT NULL,
    killed BIGINT NOT NULL,
    delayed_stores BIGINT NOT NULL,
    forgetful BIGINT NOT NULL,    -- trials in which a model forgot writes
    forgotten BIGINT NOT NULL,    -- those writes
    milliseconds BIGINT NOT NULL, -- of wall-clock time for all of them
    PRIMARY KEY (plan, label, program, cell, first)
);

-- Trials that did not simply pass. The record of the first ones of each kind is kept, the seed of all.
CREATE TABLE trial (
    plan TEXT NOT NULL,
    label TEXT NOT NULL,
    program TEXT NOT NULL,
    cell TEXT NOT NULL,
    trial BIGINT NOT NULL,
    seed TEXT NOT NULL,
    outcome TEXT NOT NULL,
    variation TEXT,               -- JSON, where the trial chose its own
    record TEXT,                  -- JSON
    PRIMARY KEY (plan, label, program, cell, trial)
);

-- In how many trials of a batch a finding was seen.
CREATE TABLE sighting (
    plan TEXT NOT NULL,
    label TEXT NOT NULL,
    program TEXT NOT NULL,
    cell TEXT NOT NULL,
    first BIGINT NOT NULL,
    finding TEXT NOT NULL,        -- its fingerprint
    trials BIGINT NOT NULL,
    PRIMARY KEY (plan, label, program, cell, first, finding)
);

-- Findings by their fingerprints, with all that is told of them.
CREATE TABLE finding (
    plan TEXT NOT NULL,
    label TEXT NOT NULL,
    program TEXT NOT NULL,
    finding TEXT NOT NULL,
    cell TEXT NOT NULL,
    trial BIGINT NOT NULL,        -- the first that showed it
    facts TEXT NOT NULL,          -- JSON
    PRIMARY KEY (plan, label, program, finding, cell)
);

-- What was done of a program besides trials: kernels verified, fences searched for, flush lengths measured.
CREATE TABLE study (
    plan TEXT NOT NULL,
    label TEXT NOT NULL,
    program TEXT NOT NULL,
    study TEXT NOT NULL,
    facts TEXT NOT NULL,          -- JSON
    milliseconds BIGINT NOT NULL,
    PRIMARY KEY (plan, label, program, study)
);

CREATE INDEX batch_by_cell ON batch (program, cell);
