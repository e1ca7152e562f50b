/** Schema of campaigns: jobs, their results, and the files that they read. */
import type { VersionedSchema } from '../migrations.ts';

export const JOB_SCHEMA: VersionedSchema = {
  name: 'orrery_jobs',
  migrations: [
    `
  create table orrery_jobs.campaigns (
    id           text primary key,
    kind         text not null,
    title        text not null,
    version      text not null,
    spec         text not null,
    priority     integer not null default 0,
    status       text not null default 'running'
                 check (status in ('running', 'done', 'failed', 'cancelled')),
    error        text,
    -- Values that the first report fixes for all later ones.
    fixed        jsonb not null default '{}',
    driver       text,
    driver_until timestamptz,
    submitted_at timestamptz not null default clock_timestamp(),
    ended_at     timestamptz
  );
  create table orrery_jobs.jobs (
    id          text primary key,
    -- The campaign on whose account it runs; others may want it too.
    campaign    text not null references orrery_jobs.campaigns,
    place       bigint not null,
    kind        text not null,
    task        text not null,
    status      text not null default 'queued'
                check (status in ('queued', 'leased', 'done', 'set aside')),
    attempts    integer not null default 0,
    worker      text,
    lease_until timestamptz,
    not_before  timestamptz not null default '-infinity',
    error       text,
    result      text,
    queued_at   timestamptz not null default clock_timestamp(),
    started_at  timestamptz,
    ended_at    timestamptz,
    check ((status = 'done') = (result is not null))
  );
  create index jobs_queued on orrery_jobs.jobs (campaign, place) where status = 'queued';
  create index jobs_leased on orrery_jobs.jobs (campaign) where status = 'leased';
  create table orrery_jobs.wanted (
    campaign text not null references orrery_jobs.campaigns,
    job      text not null references orrery_jobs.jobs,
    place    bigint not null,
    primary key (campaign, job)
  );
  create index wanted_job on orrery_jobs.wanted (job);
  -- Two results of one job that differ.
  create table orrery_jobs.disputes (
    job           text not null references orrery_jobs.jobs,
    first_worker  text,
    second_worker text not null,
    second_result text not null,
    found_at      timestamptz not null default clock_timestamp()
  );
  create table orrery_jobs.workers (
    id         text primary key,
    version    text not null,
    slots      integer not null,
    started_at timestamptz not null default clock_timestamp(),
    seen_at    timestamptz not null default clock_timestamp()
  );
  create table orrery_jobs.files (
    sha256 text primary key,
    pieces integer not null
  );
  create table orrery_jobs.pieces (
    sha256 text not null,
    place  integer not null,
    bytes  bytea not null,
    primary key (sha256, place)
  );
  alter table orrery_jobs.pieces alter column bytes set storage external;

  -- Results as rows. A text that is not valid jsonb would fail the whole query, so workers write none.
  create view orrery_jobs.trials as
    select w.campaign, w.place, j.id as job,
      j.task::jsonb -> 'parameters'                                    as parameters,
      (j.result::jsonb ->> 'score')::double precision                  as score,
      j.result::jsonb ->> 'error'                                      as error,
      (j.result::jsonb #>> '{figures,pnl}')::numeric                   as pnl,
      (j.result::jsonb #>> '{figures,totalReturn}')::double precision  as total_return,
      (j.result::jsonb #>> '{figures,sharpe}')::double precision       as sharpe,
      (j.result::jsonb #>> '{figures,maxDrawdown}')::double precision  as max_drawdown,
      (j.result::jsonb #>> '{figures,trades}')::integer                as trades,
      (j.result::jsonb #>> '{figures,fills}')::integer                 as fills,
      (j.result::jsonb #>> '{figures,turnover}')::numeric              as turnover,
      j.result::jsonb #>> '{figures,chainHash}'                        as chain_hash,
      j.result::jsonb -> 'returns'                                     as returns,
      (j.task::jsonb #>> '{plan,fromUs}')::bigint                      as from_us,
      (j.task::jsonb #>> '{plan,toUs}')::bigint                        as to_us,
      j.worker, j.attempts, j.started_at, j.ended_at
    from orrery_jobs.wanted w join orrery_jobs.jobs j on j.id = w.job
    where j.kind = 'trial' and j.status = 'done';
  create view orrery_jobs.fuzz_batches as
    select w.campaign, w.place, j.id as job,
      (j.result::jsonb ->> 'from')::integer          as from_run,
      (j.result::jsonb ->> 'to')::integer            as to_run,
      (j.result::jsonb ->> 'commands')::bigint       as commands,
      j.result::jsonb -> 'counts'                    as counts,
      (j.result::jsonb #>> '{failed,run}')::integer  as failed_run,
      j.result::jsonb #> '{failed,violation}'        as violation,
      j.worker, j.attempts, j.started_at, j.ended_at
    from orrery_jobs.wanted w join orrery_jobs.jobs j on j.id = w.job
    where j.kind = 'batch' and j.status = 'done';
  `,
  ],
};
