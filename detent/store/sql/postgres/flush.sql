-- The parts of a commit. A flush is ONE statement of the parts it needs (`flush.py` joins them and numbers each `$?`).
-- $1 is the node, $2 its epoch. The parts share one snapshot, and all of them are applied or none. Each part joins the
-- fence: if the node's row does not exist with this epoch, nothing is written. No part reads a clock to decide. No row
-- is changed twice (`flush.py` ensures that), and no row that an outsider can lock for long is changed.

-- part fence
fence as (
  select 1 from node where id = $1 and epoch = $2 for key share
)

-- part started
-- Only a flush with parks can start a run that has a stage (`staged`): others are checked.
started as (
  insert into run (id, tenant, workflow, version, status, trigger, input, opening, owner, epoch, wake_at, expires_at,
                   queue, priority, code, request_id, request_hash, hero_type, hero_id, labels, origin, parent,
                   started_at, ended_at, output, error /*staged , stage, stage_step, stage_epoch */)
  select t.id, t.tenant, t.workflow, t.version, t.status, t.trigger, t.input, t.opening, case when t.owned then $1 end,
         t.epoch, t.wake_at, t.expires_at, t.queue, t.priority, t.code, t.request_id, t.request_hash, t.hero_type,
         t.hero_id, t.labels, t.origin, t.parent, t.started_at, t.ended_at, t.output, t.error
         /*staged , t.stage, t.stage_step, t.epoch */
  from fence, unnest($?::uuid[], $?::int[], $?::uuid[], $?::int[], $?::text[], $?::text[], $?::text[], $?::text[],
                     $?::bool[], $?::int[], $?::timestamptz[], $?::timestamptz[], $?::text[], $?::int[],
                     $?::text[], $?::text[], $?::bytea[], $?::text[], $?::text[], $?::text[], $?::uuid[],
                     $?::uuid[], $?::timestamptz[], $?::timestamptz[], $?::text[], $?::text[]
                     /*staged , $?::text[], $?::text[] */)
       as t(id, tenant, workflow, version, status, trigger, input, opening, owned, epoch, wake_at, expires_at, queue,
            priority, code, request_id, request_hash, hero_type, hero_id, labels, origin, parent, started_at, ended_at,
            output, error /*staged , stage, stage_step */)
  /*again on conflict (id) do nothing */
)

-- part checked
-- Starts that may be refused. They are sorted by key and request id and inserted in that order, so that two nodes that
-- start the same seldom deadlock. Any unique index that already has the key refuses a start. A run that ends in the
-- flush that starts it is never in the index of open runs, so for that one the holder of the key is looked up.
started as (
  insert into run (id, tenant, workflow, version, status, trigger, input, opening, owner, epoch, wake_at, expires_at,
                   queue, priority, code, request_id, request_hash, hero_type, hero_id, labels, origin, parent,
                   started_at, ended_at, output, error, origin_kind, fired_by, active_key, stage, stage_step, stage_epoch,
                   principal, via, correlation, seal)
  select t.id, t.tenant, t.workflow, t.version, t.status, t.trigger, t.input, t.opening, case when t.owned then $1 end,
         t.epoch, t.wake_at, t.expires_at, t.queue, t.priority, t.code, t.request_id, t.request_hash, t.hero_type,
         t.hero_id, t.labels, t.origin, t.parent, t.started_at, t.ended_at, t.output, t.error, t.origin_kind, t.fired_by,
         t.active_key, t.stage, t.stage_step, t.epoch, t.principal, t.via, t.correlation,
         t.seal
  from fence, unnest($?::uuid[], $?::int[], $?::uuid[], $?::int[], $?::text[], $?::text[], $?::text[], $?::text[],
                     $?::bool[], $?::int[], $?::timestamptz[], $?::timestamptz[], $?::text[], $?::int[],
                     $?::text[], $?::text[], $?::bytea[], $?::text[], $?::text[], $?::text[], $?::uuid[],
                     $?::uuid[], $?::timestamptz[], $?::timestamptz[], $?::text[], $?::text[], $?::text[],
                     $?::uuid[], $?::int[], $?::text[], $?::text[], $?::text[], $?::text[], $?::text[],
                     $?::text[], $?::bytea[]) with ordinality
       as t(id, tenant, workflow, version, status, trigger, input, opening, owned, epoch, wake_at, expires_at, queue,
            priority, code, request_id, request_hash, hero_type, hero_id, labels, origin, parent, started_at, ended_at,
            output, error, origin_kind, fired_by, check_, active_key, stage, stage_step, principal, via,
            correlation, seal, place)
  -- No `exists`: the planner would read every workflow once instead of looking up each. `check_` is a StartCheck.
  where (t.check_ = 0 or (
      select true from workflow w where w.id = t.workflow and w.deleted_at is null
        and (t.check_ = 3 or w.enabled and w.status = 'active')
        and case t.check_ when 1 then w.version = t.version else (
          select true from workflow_version v where v.workflow = t.workflow and v.version = t.version) end))
    and (t.active_key is null or t.ended_at is null or (
      select true from run r where r.tenant = t.tenant and r.active_key = t.active_key and r.ended_at is null) is null)
  order by t.place
  on conflict do nothing
  returning id
)

-- part refused
-- $3 are the ids of the starts. In a repeated flush, a start that exists was inserted by the first sending.
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
  insert into callback (tenant, run, step, early, state, until, ask, created_at)
  select t.tenant, t.run, t.step, t.early, t.state, t.until, t.ask, clock_timestamp()
  from fence, unnest($?::int[], $?::uuid[], $?::text[], $?::bool[], $?::text[], $?::timestamptz[], $?::text[])
       as t(tenant, run, step, early, state, until, ask)
  /*checked where t.run not in (select id from refused) */
  /*again on conflict (run, step) do nothing */
)

-- part activated
activated as (
  update callback c
  set until = t.until, state = case when c.state = 'pending' then t.state else c.state end, ask = coalesce(t.ask, c.ask)
  from fence, unnest($?::uuid[], $?::text[], $?::timestamptz[], $?::text[], $?::text[]) as t(run, step, until, state, ask)
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
-- `is not distinct from`, not `=`: with an equality the planner may scan every run the node owns, for each run that
-- parks or ends. A run must be looked up by its id.
parked as (
  update run r set owner = case when t.kept then r.owner end, wake_at = t.wake_at, status = t.status,
                   queue = coalesce(t.queue, r.queue), priority = coalesce(t.priority, r.priority),
                   version = coalesce(t.version, r.version), code = coalesce(t.code, r.code),
                   stage = t.stage, stage_step = t.stage_step, stage_epoch = r.epoch
  from fence, unnest($?::uuid[], $?::int[], $?::timestamptz[], $?::text[], $?::text[], $?::int[], $?::int[],
                     $?::text[], $?::bool[], $?::text[], $?::text[])
       as t(run, generation, wake_at, status, queue, priority, version, code, kept, stage, stage_step)
  where r.id = t.run and r.owner is not distinct from $1 and r.epoch = t.generation and r.ended_at is null
)

-- part ended
ended as (
  update run r
  set owner = null, wake_at = null, status = t.status, ended_at = t.ended_at, output = t.output, error = t.error,
      seal = t.seal
  from fence, unnest($?::uuid[], $?::int[], $?::text[], $?::timestamptz[], $?::text[], $?::text[], $?::bytea[])
       as t(run, generation, status, ended_at, output, error, seal)
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
  -- Repeated flush: if the entry that sent the message existed before, so did the message, even if it is consumed by
  -- now.
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

-- part linked
-- The claims are sorted (`Flush.sorted_links`) and inserted in that order. This part waits for a claim of another
-- transaction, and then it cannot see that row: the snapshot is older. So whose it is must be read afterwards.
linked as (
  insert into link (tenant, system, type, id, run, step, url, at)
  select t.tenant, t.system, t.type, t.id, t.run, t.step, t.url, clock_timestamp()
  from fence, unnest($?::int[], $?::text[], $?::text[], $?::text[], $?::uuid[], $?::text[], $?::text[]) with ordinality
       as t(tenant, system, type, id, run, step, url, place)
  order by t.place
  on conflict (tenant, system, type, id) do nothing
  returning tenant, system, type, id, run
)

-- part audited
audited as (
  insert into audit (id, tenant, at, actor, via, action, kind, object, outcome, reason, address, correlation, detail)
  select t.id, t.tenant, t.at, t.actor, t.via, t.action, t.kind, t.object, t.outcome, t.reason, t.address, t.correlation,
         t.detail
  from fence, unnest($?::uuid[], $?::uuid[], $?::int[], $?::timestamptz[], $?::text[], $?::text[], $?::text[],
                     $?::text[], $?::text[], $?::text[], $?::text[], $?::text[], $?::text[], $?::text[])
       as t(run, id, tenant, at, actor, via, action, kind, object, outcome, reason, address, correlation, detail)
  /*checked where t.run not in (select id from refused) */
  on conflict (id) do nothing
)

-- part lettered
lettered as (
  insert into dead_letter (id, tenant, kind, workflow, run, step, source, trigger, reason, message, payload, attempts,
                           last_error, at, state)
  select t.*, clock_timestamp(), 'open'
  from fence, unnest($?::uuid[], $?::int[], $?::text[], $?::uuid[], $?::uuid[], $?::text[], $?::uuid[], $?::uuid[],
                     $?::text[], $?::text[], $?::text[], $?::int[], $?::text[])
       as t(id, tenant, kind, workflow, run, step, source, trigger, reason, message, payload, attempts, last_error)
  on conflict (id) do nothing
)

-- part logged
logged as (
  insert into step_log (id, tenant, run, kind, step, attempt, first, size, data)
  select t.*
  from fence, unnest($?::uuid[], $?::int[], $?::uuid[], $?::text[], $?::text[], $?::int[], $?::int[], $?::int[],
                     $?::text[])
       as t(id, tenant, run, kind, step, attempt, first, size, data)
  on conflict (id) do nothing
)

-- part unlogged
unlogged as (
  delete from step_log s using fence where s.id = any($?::uuid[])
)
