-- Claims runs that no node is running. $1 node, $2 epoch, $3 limit, $4 queues or null, $5 served actions as a JSON
-- list, $6 how far ahead (seconds), $7 the run of the inbox after which to read, $8 how many to read, $9 the sort of runs
-- that comes first (`Favoured`). Cost does not grow with sleeping or owned runs: `lanes` and `owners` hop from one value
-- of an index to the next. It does not grow with the inbox either: `walked` and `fresh` each read a part of it.
with recursive fence as materialized (
  select 1 from node where id = $1 and epoch = $2 for key share
),
lanes as (
  (select queue, priority from run where owner is null and ended_at is null order by queue, priority limit 1)
  union all
  select further.* from lanes cross join lateral (
    select queue, priority from run
    where owner is null and ended_at is null and (queue, priority) > (lanes.queue, lanes.priority)
    order by queue, priority limit 1
  ) further
),
owners as (
  (select owner from run where owner is not null order by owner limit 1)
  union all
  select further.* from owners cross join lateral (
    select owner from run where owner is not null and owner > owners.owner order by owner limit 1
  ) further
),
due as (
  select found.* from fence, lanes cross join lateral (
    select r.id, r.epoch, r.priority, r.wake_at, false as adopted from run r
    where r.owner is null and r.ended_at is null and r.queue = lanes.queue and r.priority = lanes.priority
      and r.wake_at <= now() + make_interval(secs => $6) and (r.code is null or r.code::jsonb <@ $5::jsonb)
    order by r.wake_at limit $3 * 2
  ) found
  where $4::text[] is null or lanes.queue = any($4::text[])
),
walked as (
  (select run, 1 as place from inbox where run > $7 order by run limit 1)
  union all
  select further.run, walked.place + 1 from walked cross join lateral (
    select run from inbox where run > walked.run order by run limit 1
  ) further where walked.place < $8
),
fresh as (
  select run from inbox order by id desc limit $8
),
mailed as (
  -- Join the inbox to the runs first and limit afterwards, or mail of owned runs would starve the others. `num_nulls`
  -- tests that the run is unowned and open without naming the condition of `run_due`. Otherwise the planner would scan
  -- that whole index for every message, although a run can be looked up by its id.
  select found.* from fence, (select run from walked union select run from fresh) mail cross join lateral (
    select r.id, r.epoch, r.priority, r.wake_at, false as adopted from run r
    where r.id = mail.run and num_nulls(r.owner, r.ended_at) = 2
      and ($4::text[] is null or r.queue = any($4::text[])) and (r.code is null or r.code::jsonb <@ $5::jsonb)
    offset 0
  ) found
),
orphaned as (
  select found.* from fence, owners cross join lateral (
    select r.id, r.epoch, r.priority, r.wake_at, true as adopted from run r
    where r.owner = owners.owner and r.ended_at is null
      and ($4::text[] is null or r.queue = any($4::text[])) and (r.code is null or r.code::jsonb <@ $5::jsonb)
    order by r.priority desc, r.wake_at nulls first, r.id limit $3 * 2
  ) found
  where not exists (select 1 from node n where n.id = owners.owner)
),
candidates as materialized (
  select id, epoch, adopted, priority, wake_at, case $9::int
    when 1 then case when id not in (select id from mailed) then 0
                     when wake_at <= now() + make_interval(secs => $6) then 1 else 2 end
    when 2 then adopted::int
    when 3 then case when wake_at <= now() + make_interval(secs => $6) then 1 else 0 end
    else 0 end as favour
  from (select * from due union select * from mailed union select * from orphaned) every
  order by favour desc, priority desc, wake_at nulls first, id limit $3 * 2
),
taken as (
  -- The generation in the snapshot must still be the run's after we have locked it. A run that another node claimed
  -- since then is skipped, even if that node registered after our snapshot and looks dead in it.
  select r.id, c.adopted from candidates c join run r on r.id = c.id and r.epoch = c.epoch
  order by c.favour desc, c.priority desc, c.wake_at nulls first, c.id limit $3
  for update of r skip locked
),
claimed as (
  update run r set owner = $1, epoch = r.epoch + 1, stage = null, stage_step = null from taken where r.id = taken.id
  returning r.id, r.tenant, r.workflow, r.version, r.status, r.input, r.opening, r.epoch, taken.adopted, r.expires_at,
            r.wake_at, r.queue, r.priority, r.started_at, r.parent, r.hero_type, r.hero_id, r.principal, r.via,
            r.correlation
)
select (select count(*) from fence) as held, clock_timestamp() as now,
       (select run from walked where place = $8) as walked_to, claimed.*
from (select 1) always left join claimed on true
order by claimed.priority desc, claimed.wake_at nulls first, claimed.id
