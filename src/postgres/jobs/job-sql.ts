/** Statements of `JobStore`. */

export const SUBMIT = `
  insert into orrery_jobs.campaigns as c (id, kind, title, version, spec, priority)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (id) do update
  set status = 'running', error = null, ended_at = null, priority = excluded.priority
  where c.status in ('failed', 'cancelled')`;

export const QUEUE_AGAIN = `
  update orrery_jobs.jobs j
  set status = 'queued', attempts = 0, error = null, not_before = '-infinity', campaign = $1
  where j.status = 'set aside'
    and exists (select from orrery_jobs.wanted w where w.job = j.id and w.campaign = $1)`;

export const CAMPAIGN = `
  select id, kind, title, version, spec, priority, status, error
  from orrery_jobs.campaigns where id = $1`;

export const STATUS = 'select status, error from orrery_jobs.campaigns where id = $1';

export const LIST = `
  select c.id, c.kind, c.title, c.version, c.priority, c.status, c.error,
    c.submitted_at as "submittedAt",
    count(j.id)::integer as jobs,
    count(j.id) filter (where j.status = 'done')::integer as done,
    count(j.id) filter (where j.status = 'leased')::integer as running,
    count(j.id) filter (where j.status = 'set aside')::integer as "setAside"
  from orrery_jobs.campaigns c
  left join orrery_jobs.wanted w on w.campaign = c.id
  left join orrery_jobs.jobs j on j.id = w.job
  where starts_with(c.id, $1)
  group by c.id order by c.submitted_at`;

export const PRIORITY = 'update orrery_jobs.campaigns set priority = $2 where id = $1';

export const END = `
  update orrery_jobs.campaigns
  set status = $2, error = $3, ended_at = clock_timestamp(), driver = null, driver_until = null
  where id = $1 and status = 'running'`;

/** Jobs of an ended campaign go to another one that wants them. */
export const HAND_OVER = `
  update orrery_jobs.jobs j set campaign = other.campaign
  from (
    select w.job, min(w.campaign) as campaign
    from orrery_jobs.wanted w join orrery_jobs.campaigns c on c.id = w.campaign
    where c.status = 'running' group by w.job
  ) other
  where j.campaign = $1 and j.id = other.job and j.status in ('queued', 'leased')
    and exists (select from orrery_jobs.campaigns c where c.id = $1 and c.status <> 'running')`;

/**
 * Jobs without a running owner go to this campaign, which wants them. Another campaign can end
 * between the look of `WANT` or `HAND_OVER` and their commit, or without a hand-over.
 */
export const ADOPT = `
  update orrery_jobs.jobs j set campaign = $1
  where j.id in (
    select q.id from orrery_jobs.jobs q join orrery_jobs.campaigns owner on owner.id = q.campaign
    where q.status = 'queued' and owner.status <> 'running'
      and exists (select from orrery_jobs.wanted w where w.campaign = $1 and w.job = q.id)
      and exists (select from orrery_jobs.campaigns c where c.id = $1 and c.status = 'running')
    for update of q skip locked
  )`;

export const FIXED = `
  update orrery_jobs.campaigns
  set fixed = jsonb_strip_nulls(jsonb_build_object($2::text, $3::numeric)) || fixed
  where id = $1 returning fixed ->> $2::text as value`;

export const WANT = `
  with asked as (
    select * from json_to_recordset($2::json) as t(id text, place bigint, kind text, task text)
  ), added as (
    insert into orrery_jobs.jobs as j (id, campaign, place, kind, task)
    select id, $1, place, kind, task from asked order by id
    on conflict (id) do update set campaign = excluded.campaign
    where j.status <> 'done' and not exists (
      select from orrery_jobs.campaigns c where c.id = j.campaign and c.status = 'running'
    )
  )
  insert into orrery_jobs.wanted (campaign, job, place) select $1, id, place from asked order by id
  on conflict do nothing`;

export const ENDED = `
  select id, result, error from orrery_jobs.jobs
  where id = any($1) and status in ('done', 'set aside')`;

export const ENROL = `
  insert into orrery_jobs.workers (id, version, slots) values ($1, $2, $3)
  on conflict (id) do update set seen_at = clock_timestamp()`;

export const VERSIONS = `
  select distinct version from orrery_jobs.campaigns where status = 'running' order by version`;

export const WORKERS = `
  select coalesce(sum(slots), 0) as slots from orrery_jobs.workers
  where seen_at > clock_timestamp() - interval '1 minute'`;

/** Leases that ran out, of workers that ended, or are paused or cut off. */
export const EXPIRE = `
  update orrery_jobs.jobs j
  set status = case when attempts >= $1 then 'set aside' else 'queued' end,
    error = 'the worker ' || worker || ' ended or was out of reach during the job'
  where id in (
    select id from orrery_jobs.jobs
    where status = 'leased' and lease_until < clock_timestamp()
    for update skip locked
  )`;

export const CLAIM = `
  with share as (
    select c.id, c.priority, (
      select count(*) from orrery_jobs.jobs j where j.campaign = c.id and j.status = 'leased'
    ) as running
    from orrery_jobs.campaigns c where c.status = 'running' and c.version = $2
  ), picked as (
    select next.id from share cross join lateral (
      select j.id from orrery_jobs.jobs j
      where j.campaign = share.id and j.status = 'queued' and j.not_before <= clock_timestamp()
      order by j.place limit 1 for update skip locked
    ) next
    order by share.priority desc, share.running, share.id limit 1
  )
  update orrery_jobs.jobs j
  set status = 'leased', worker = $1, attempts = attempts + 1, started_at = clock_timestamp(),
    lease_until = clock_timestamp() + make_interval(secs => $3)
  from picked where j.id = picked.id
  returning j.id, j.kind, j.task, j.attempts`;

export const RENEW = `
  with seen as (
    update orrery_jobs.workers set seen_at = clock_timestamp() where id = $1
  )
  update orrery_jobs.jobs set lease_until = clock_timestamp() + make_interval(secs => $2)
  where id = any($3) and worker = $1 and status = 'leased' returning id`;

export const COMPLETE = `
  update orrery_jobs.jobs
  set status = 'done', result = $3, worker = $1, error = null, ended_at = clock_timestamp()
  where id = $2 and status <> 'done'
  returning id`;

export const RESULT = 'select result from orrery_jobs.jobs where id = $1';

export const DISPUTE = `
  with found as (
    insert into orrery_jobs.disputes (job, first_worker, second_worker, second_result)
    select id, worker, $1, $3 from orrery_jobs.jobs where id = $2
  )
  update orrery_jobs.campaigns
  set status = 'failed', ended_at = clock_timestamp(),
    error = 'job ' || $2 || ' has two results: it is not deterministic'
  where id in (select campaign from orrery_jobs.wanted where job = $2)`;

export const FAIL = `
  update orrery_jobs.jobs
  set status = case when attempts >= $4 then 'set aside' else 'queued' end, error = $3,
    not_before = clock_timestamp() + make_interval(secs => least(60, 0.5 * 2 ^ attempts))
  where id = $2 and worker = $1 and status = 'leased'`;

export const RELEASE = `
  with free as (
    update orrery_jobs.campaigns set driver = null, driver_until = null where driver = $1
  ), gone as (
    update orrery_jobs.workers set seen_at = '-infinity' where id = $1
  )
  update orrery_jobs.jobs set status = 'queued', attempts = attempts - 1
  where worker = $1 and status = 'leased'`;

export const DRIVE = `
  update orrery_jobs.campaigns
  set driver = $1, driver_until = clock_timestamp() + make_interval(secs => $3)
  where id = (
    select id from orrery_jobs.campaigns
    where status = 'running' and version = $2
      and (driver is null or driver_until < clock_timestamp())
    order by priority desc, submitted_at limit 1 for update skip locked
  )
  returning id, kind, title, version, spec, priority, status, error`;

export const DRIVEN = `
  update orrery_jobs.campaigns set driver_until = clock_timestamp() + make_interval(secs => $2)
  where driver = $1 and status = 'running' returning id`;
