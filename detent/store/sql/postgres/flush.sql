-- The parts of a commit. A flush is ONE statement of those parts it needs (`flush.py` puts them together and numbers
-- each `$?`); $1 is the node, $2 its epoch. The parts share one snapshot and one fate, and each of them joins the fence:
-- where the node's row is not there with this epoch, nothing is written. No part reads a clock to decide. No row is changed
-- twice (`flush.py` sees to that), and none that an outsider can hold for long.

-- part fence
fence as (
  select 1 from node where id = $1 and epoch = $2 for key share
)

-- part started
started as (
  insert into run (id, tenant, workflow, version, status, trigger, input, opening, owner, epoch, wake_at, expires_at,
                   queue, priority, code, request_id, request_hash, hero_type, hero_id, labels, origin, parent,
                   started_at, ended_at, output, error)
  select t.id, t.tenant, t.workflow, t.version, t.status, t.trigger, t.input, t.opening, case when t.owned then $1 end,
         t.epoch, t.wake_at, t.expires_at, t.queue, t.priority, t.code, t.request_id, t.request_hash, t.hero_type,
         t.hero_id, t.labels, t.origin, t.parent, t.started_at, t.ended_at, t.output, t.error
  from fence, unnest($?::uuid[], $?::int[], $?::uuid[], $?::int[], $?::text[], $?::text[], $?::text[], $?::text[],
                     $?::bool[], $?::int[], $?::timestamptz[], $?::timestamptz[], $?::text[], $?::int[],
                     $?::text[], $?::text[], $?::bytea[], $?::text[], $?::text[], $?::text[], $?::uuid[],
                     $?::uuid[], $?::timestamptz[], $?::timestamptz[], $?::text[], $?::text[])
       as t(id, tenant, workflow, version, status, trigger, input, opening, owned, epoch, wake_at, expires_at, queue,
            priority, code, request_id, request_hash, hero_type, hero_id, labels, origin, parent, started_at, ended_at,
            output, error)
  /*again on conflict (id) do nothing */
)

-- part checked
-- Starts that may be refused. They come in the order of their keys and request ids, and are inserted in that order, so
-- that two nodes that start the same seldom wait for each other in a circle. Whatever unique index says that one is there
-- already refuses it. A run that ends in the flush that starts it is never in the index of open runs, so for that one the
-- holder of the key is looked up.
started as (
  insert into run (id, tenant, workflow, version, status, trigger, input, opening, owner, epoch, wake_at, expires_at,
                   queue, priority, code, request_id, request_hash, hero_type, hero_id, labels, origin, parent,
                   started_at, ended_at, output, error, origin_kind, fired_by, active_key)
  select t.id, t.tenant, t.workflow, t.version, t.status, t.trigger, t.input, t.opening, case when t.owned then $1 end,
         t.epoch, t.wake_at, t.expires_at, t.queue, t.priority, t.code, t.request_id, t.request_hash, t.hero_type,
         t.hero_id, t.labels, t.origin, t.parent, t.started_at, t.ended_at, t.output, t.error, t.origin_kind, t.fired_by,
         t.active_key
  from fence, unnest($?::uuid[], $?::int[], $?::uuid[], $?::int[], $?::text[], $?::text[], $?::text[], $?::text[],
                     $?::bool[], $?::int[], $?::timestamptz[], $?::timestamptz[], $?::text[], $?::int[],
                     $?::text[], $?::text[], $?::bytea[], $?::text[], $?::text[], $?::text[], $?::uuid[],
                     $?::uuid[], $?::timestamptz[], $?::timestamptz[], $?::text[], $?::text[], $?::text[],
                     $?::uuid[], $?::bool[], $?::text[]) with ordinality
       as t(id, tenant, workflow, version, status, trigger, input, opening, owned, epoch, wake_at, expires_at, queue,
            priority, code, request_id, request_hash, hero_type, hero_id, labels, origin, parent, started_at, ended_at,
            output, error, origin_kind, fired_by, current, active_key, place)
  -- No `exists`: the planner would read every workflow once instead of looking up each.
  where (not t.current or (
      select true from workflow w where w.id = t.workflow and w.version = t.version and w.enabled and w.status = 'active'
        and w.deleted_at is null))
    and (t.active_key is null or t.ended_at is null or (
      select true from run r where r.tenant = t.tenant and r.active_key = t.active_key and r.ended_at is null) is null)
  order by t.place
  on conflict do nothing
  returning id
)

-- part refused
-- $3 are the ids of the starts. Sent again, what is there was inserted by the first sending.
refused as materialized (
  select t.id from unnest($3::uuid[]) as t(id)
  where t.id not in (select id from started) /*again and not exists (select 1 from run r where r.id = t.id) */
)

-- part written
written as (
  insert into journal (tenant, run, seq, at, kind, step, attempt, outcome, data)
  select t.* from fence, unnest($?::int[], $?::uuid[], $?::int[], $?::timestamptz[], $?::text[], $?::text[],
                                $?::int[], $?::text[], $?::text[])
                    as t(tenant, run, seq, at, kind, step, attempt, outcome, data)
  /*checked where t.run not in (select id from refused) */
  /*again on conflict (run, seq) do nothing */
)

-- part awaited
awaited as (
  insert into callback (tenant, run, step, early, state, until, created_at)
  select t.tenant, t.run, t.step, t.early, t.state, t.until, clock_timestamp()
  from fence, unnest($?::int[], $?::uuid[], $?::text[], $?::bool[], $?::text[], $?::timestamptz[])
       as t(tenant, run, step, early, state, until)
  /*checked where t.run not in (select id from refused) */
  /*again on conflict (run, step) do nothing */
)

-- part activated
activated as (
  update callback c
  set until = t.until, state = case when c.state = 'pending' then t.state else c.state end
  from fence, unnest($?::uuid[], $?::text[], $?::timestamptz[], $?::text[]) as t(run, step, until, state)
  where c.run = t.run and c.step = t.step
  returning c.run, c.step, c.state
)

-- part lapsed
lapsed as (
  update callback c set state = 'expired'
  from fence, unnest($?::uuid[], $?::text[]) as t(run, step)
  where c.run = t.run and c.step = t.step and c.state in ('pending', 'active')
  returning c.run, c.step, c.state
)

-- part parked
-- `is not distinct from` rather than `=`: an equality would let the planner walk through every run the node owns, for
-- each run that parks or ends, when the way to a run is its id.
parked as (
  update run r set owner = null, wake_at = t.wake_at, status = t.status,
                   queue = coalesce(t.queue, r.queue), priority = coalesce(t.priority, r.priority)
  from fence, unnest($?::uuid[], $?::int[], $?::timestamptz[], $?::text[], $?::text[], $?::int[])
       as t(run, generation, wake_at, status, queue, priority)
  where r.id = t.run and r.owner is not distinct from $1 and r.epoch = t.generation and r.ended_at is null
)

-- part ended
ended as (
  update run r
  set owner = null, wake_at = null, status = t.status, ended_at = t.ended_at, output = t.output, error = t.error
  from fence, unnest($?::uuid[], $?::int[], $?::text[], $?::timestamptz[], $?::text[], $?::text[])
       as t(run, generation, status, ended_at, output, error)
  where r.id = t.run and r.owner is not distinct from $1 and r.epoch = t.generation and r.ended_at is null
  returning r.id
)

-- part closed
closed as (
  update callback c set state = 'expired'
  from ended where c.run = ended.id and c.state in ('pending', 'active')
  returning c.run, c.step, c.state
)

-- part dropped
dropped as (
  delete from inbox i using ended where i.run = ended.id
)

-- part posted
posted as (
  insert into inbox (tenant, run, kind, step, data, source, source_seq, at)
  select t.tenant, t.run, t.kind, t.step, t.data, t.source, t.source_seq, clock_timestamp()
  from fence, unnest($?::int[], $?::uuid[], $?::text[], $?::text[], $?::text[], $?::uuid[], $?::int[], $?::bool[])
       as t(tenant, run, kind, step, data, source, source_seq, with_entry)
  -- Sent again: if the entry that sent it was there before, so was the message, even if it is consumed by now.
  where not (t.with_entry and exists (select 1 from journal j where j.run = t.source and j.seq = t.source_seq))
    /*checked and t.source not in (select id from refused) */
  on conflict (source, source_seq) where source is not null do nothing
)

-- part consumed
consumed as (
  delete from inbox i using fence where i.id = any($?::bigint[])
)

-- part known
known as (
  select c.run, c.step, c.state
  from fence, unnest($?::uuid[], $?::text[]) as t(run, step)
  join callback c on c.run = t.run and c.step = t.step
  union all select * from activated
  union all select * from lapsed
  union all select * from closed
)
