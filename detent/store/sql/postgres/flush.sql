-- The one statement of a commit. Its parts share one snapshot and one fate, and each of them joins the fence: where the
-- node's row is not there with this epoch, nothing is written. No part reads a clock to decide. No row is changed twice
-- (`shape.py` sees to that), and none that an outsider can hold for long.
with fence as (
  select 1 from node where id = $1 and epoch = $2 for key share
),
started as (
  insert into run (id, tenant, workflow, version, status, trigger, input, opening, owner, epoch, wake_at, expires_at,
                   queue, priority, code, request_id, request_hash, hero_type, hero_id, labels, origin, parent,
                   started_at, ended_at, output, error)
  select t.id, t.tenant, t.workflow, t.version, t.status, t.trigger, t.input, t.opening, case when t.owned then $1 end,
         t.epoch, t.wake_at, t.expires_at, t.queue, t.priority, t.code, t.request_id, t.request_hash, t.hero_type,
         t.hero_id, t.labels, t.origin, t.parent, t.started_at, t.ended_at, t.output, t.error
  from fence, unnest($3::uuid[], $4::int[], $5::uuid[], $6::int[], $7::text[], $8::text[], $9::text[], $10::text[],
                     $11::bool[], $12::int[], $13::timestamptz[], $14::timestamptz[], $15::text[], $16::int[],
                     $17::text[], $18::text[], $19::bytea[], $20::text[], $21::text[], $22::text[], $23::uuid[],
                     $24::uuid[], $25::timestamptz[], $26::timestamptz[], $27::text[], $28::text[])
       as t(id, tenant, workflow, version, status, trigger, input, opening, owned, epoch, wake_at, expires_at, queue,
            priority, code, request_id, request_hash, hero_type, hero_id, labels, origin, parent, started_at, ended_at,
            output, error)
  /*again on conflict (id) do nothing */
),
written as (
  insert into journal (tenant, run, seq, at, kind, step, attempt, outcome, data)
  select t.* from fence, unnest($29::int[], $30::uuid[], $31::int[], $32::timestamptz[], $33::text[], $34::text[],
                                $35::int[], $36::text[], $37::text[]) as t
  /*again on conflict (run, seq) do nothing */
),
awaited as (
  insert into callback (tenant, run, step, early, state, until, created_at)
  select t.tenant, t.run, t.step, t.early, t.state, t.until, clock_timestamp()
  from fence, unnest($38::int[], $39::uuid[], $40::text[], $41::bool[], $42::text[], $43::timestamptz[])
       as t(tenant, run, step, early, state, until)
  /*again on conflict (run, step) do nothing */
),
activated as (
  update callback c
  set until = t.until, state = case when c.state = 'pending' then t.state else c.state end
  from fence, unnest($44::uuid[], $45::text[], $46::timestamptz[], $47::text[]) as t(run, step, until, state)
  where c.run = t.run and c.step = t.step
  returning c.run, c.step, c.state
),
lapsed as (
  update callback c set state = 'expired'
  from fence, unnest($48::uuid[], $49::text[]) as t(run, step)
  where c.run = t.run and c.step = t.step and c.state in ('pending', 'active')
  returning c.run, c.step, c.state
),
-- `is not distinct from` rather than `=`: an equality would let the planner walk through every run the node owns, for
-- each run that parks or ends, when the way to a run is its id.
parked as (
  update run r set owner = null, wake_at = t.wake_at, status = t.status
  from fence, unnest($50::uuid[], $51::int[], $52::timestamptz[], $53::text[]) as t(run, generation, wake_at, status)
  where r.id = t.run and r.owner is not distinct from $1 and r.epoch = t.generation and r.ended_at is null
),
ended as (
  update run r
  set owner = null, wake_at = null, status = t.status, ended_at = t.ended_at, output = t.output, error = t.error
  from fence, unnest($54::uuid[], $55::int[], $56::text[], $57::timestamptz[], $58::text[], $59::text[])
       as t(run, generation, status, ended_at, output, error)
  where r.id = t.run and r.owner is not distinct from $1 and r.epoch = t.generation and r.ended_at is null
  returning r.id
),
closed as (
  update callback c set state = 'expired'
  from ended where c.run = ended.id and c.state in ('pending', 'active')
  returning c.run, c.step, c.state
),
dropped as (
  delete from inbox i using ended where i.run = ended.id
),
posted as (
  insert into inbox (tenant, run, kind, step, data, source, source_seq, at)
  select t.tenant, t.run, t.kind, t.step, t.data, t.source, t.source_seq, clock_timestamp()
  from fence, unnest($60::int[], $61::uuid[], $62::text[], $63::text[], $64::text[], $65::uuid[], $66::int[], $67::bool[])
       as t(tenant, run, kind, step, data, source, source_seq, with_entry)
  -- Sent again: if the entry that sent it was there before, so was the message, even if it is consumed by now.
  where not (t.with_entry and exists (select 1 from journal j where j.run = t.source and j.seq = t.source_seq))
  on conflict (source, source_seq) where source is not null do nothing
),
consumed as (
  delete from inbox i using fence where i.id = any($68::bigint[])
),
known as (
  select c.run, c.step, c.state
  from fence, unnest($69::uuid[], $70::text[]) as t(run, step)
  join callback c on c.run = t.run and c.step = t.step
  union all select * from activated
  union all select * from lapsed
  union all select * from closed
)
select (select count(*) from fence) as held, clock_timestamp() as now,
       array(select run from known where state = 'expired') as expired_runs,
       array(select step from known where state = 'expired') as expired_steps
