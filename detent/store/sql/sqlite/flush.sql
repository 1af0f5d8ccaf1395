-- A flush is one insert into this view. Its trigger does everything, so a flush is one statement and one transaction,
-- and the writer's thread releases and takes the GIL once, not once per row. Each part is a JSON list of rows. Ids and
-- payloads are concatenated in `bytes`. A row has the position of each (an id has 16 bytes) and the length of a
-- payload. `limit -1` makes a subquery compute the row once: SQLite writes its JSON again for each use of `value` of
-- json_each, which is a fifth of the time of an entry. `checked`: the number of starts if some may be refused, else 0.
-- `refused` then lists the refused ones.
create temp view flush (
  node, epoch, again, checked, now, bytes, starts, messages, entries, callbacks, activations, expiries, parks, ends, consumed
) as select null, null, null, null, null, null, null, null, null, null, null, null, null, null, null;
create temp table refused (id blob primary key) without rowid;

create temp trigger flush_everything instead of insert on flush begin
  select raise(abort, 'fence') where not exists (select 1 from node where id = new.node and epoch = new.epoch);

  delete from refused;

  insert into run (id, workflow, origin, parent, request_hash, input, opening, owner, epoch, tenant, version, status,
                   "trigger", wake_at, expires_at, queue, priority, code, request_id, hero_type, hero_id, labels, started_at,
                   origin_kind, fired_by, active_key, stage, stage_step, stage_epoch, principal, via, correlation)
  select substr(new.bytes, value ->> 0, 16), substr(new.bytes, value ->> 1, 16), substr(new.bytes, value ->> 2, 16),
         substr(new.bytes, value ->> 3, 16), substr(new.bytes, value ->> 4, value ->> 5),
         cast(substr(new.bytes, value ->> 6, value ->> 7) as text), cast(substr(new.bytes, value ->> 8, value ->> 9) as text),
         iif(value ->> 10, new.node, null), value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14,
         value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19, value ->> 20, value ->> 21, value ->> 22,
         value ->> 23, value ->> 24, iif(new.checked, value ->> 25, null),
         iif(new.checked, substr(new.bytes, value ->> 26, 16), null), iif(new.checked, value ->> 28, null),
         iif(new.checked, value ->> 29, null), iif(new.checked, value ->> 30, null), iif(new.checked, value ->> 10, null),
         iif(new.checked, value ->> 31, null), iif(new.checked, value ->> 32, null), iif(new.checked, value ->> 33, null)
  from (select value from json_each(new.starts) limit -1)
  where (not new.again or not exists (select 1 from run where id = substr(new.bytes, value ->> 0, 16)))
    and (not new.checked or not value ->> 27 or exists (
      select 1 from workflow w where w.id = substr(new.bytes, value ->> 1, 16) and w.deleted_at is null
        and (value ->> 27 = 3 or w.enabled and w.status = 'active')
        and iif(value ->> 27 = 1, w.version = value ->> 12, exists (
          select 1 from workflow_version v where v.workflow = w.id and v.version = value ->> 12))))
  on conflict (tenant, request_id) where request_id is not null do nothing
  on conflict (tenant, active_key) where active_key is not null and ended_at is null do nothing;

  insert into refused select substr(new.bytes, value ->> 0, 16) from (select value from json_each(new.starts) limit -1)
  where new.checked and changes() < new.checked
    and not exists (select 1 from run where id = substr(new.bytes, value ->> 0, 16));

  -- Before the entries. Repeated flush: if the entry that sent a message exists already, so did the message, even if it
  -- is consumed by now.
  insert into inbox (run, source, data, source_seq, tenant, kind, step, at)
  select substr(new.bytes, value ->> 0, 16), substr(new.bytes, value ->> 1, 16),
         cast(substr(new.bytes, value ->> 2, value ->> 3) as text), value ->> 4, value ->> 5, value ->> 6, value ->> 7, new.now
  from (select value from json_each(new.messages) limit -1)
  where not (value ->> 8 and exists (
    select 1 from journal where run = substr(new.bytes, value ->> 1, 16) and seq = value ->> 4))
    and (not exists (select 1 from refused) or substr(new.bytes, value ->> 1, 16) not in (select id from refused))
  on conflict (source, source_seq) where source is not null do nothing;

  insert into journal (run, data, seq, tenant, at, kind, step, attempt, outcome)
  select substr(new.bytes, value ->> 0, 16), cast(substr(new.bytes, value ->> 1, value ->> 2) as text), value ->> 3,
         value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9
  from (select value from json_each(new.entries) limit -1)
  where (not new.again
      or not exists (select 1 from journal where run = substr(new.bytes, value ->> 0, 16) and seq = value ->> 3))
    and (not exists (select 1 from refused) or substr(new.bytes, value ->> 0, 16) not in (select id from refused));

  insert into callback (run, tenant, step, early, state, created_at, ask)
  select substr(new.bytes, value ->> 0, 16), value ->> 1, value ->> 2, value ->> 3, 'pending', new.now, value ->> 4
  from (select value from json_each(new.callbacks) limit -1)
  where (not new.again
      or not exists (select 1 from callback where run = substr(new.bytes, value ->> 0, 16) and step = value ->> 2))
    and (not exists (select 1 from refused) or substr(new.bytes, value ->> 0, 16) not in (select id from refused));

  update callback set until = given.value ->> 2, state = iif(state = 'pending', 'active', state),
                      ask = coalesce(given.value ->> 3, ask)
  from json_each(new.activations) given
  where run = substr(new.bytes, given.value ->> 0, 16) and step = given.value ->> 1;

  update callback set state = 'expired'
  from json_each(new.expiries) given
  where run = substr(new.bytes, given.value ->> 0, 16) and step = given.value ->> 1 and state in ('pending', 'active');

  -- `+owner` prevents the planner from scanning every run this node owns: a run must be looked up by its id.
  update run set owner = iif(given.value ->> 8, owner, null), wake_at = given.value ->> 2, status = given.value ->> 3,
                 queue = coalesce(given.value ->> 4, queue), priority = coalesce(given.value ->> 5, priority),
                 version = coalesce(given.value ->> 6, version), code = coalesce(given.value ->> 7, code),
                 stage = given.value ->> 9, stage_step = given.value ->> 10, stage_epoch = epoch
  from (select value from json_each(new.parks) limit -1) given
  where run.id = substr(new.bytes, given.value ->> 0, 16) and +owner = new.node and epoch = given.value ->> 1
    and ended_at is null;

  update run set owner = null, wake_at = null, status = given.value ->> 2, ended_at = given.value ->> 3,
                 output = cast(substr(new.bytes, given.value ->> 4, given.value ->> 5) as text), error = given.value ->> 6,
                 seal = substr(new.bytes, given.value ->> 7, given.value ->> 8)
  from (select value from json_each(new.ends) limit -1) given
  where run.id = substr(new.bytes, given.value ->> 0, 16) and +owner = new.node and epoch = given.value ->> 1
    and ended_at is null;

  update callback set state = 'expired'
  where run in (select run.id from json_each(new.ends) given
                join run on run.id = substr(new.bytes, given.value ->> 0, 16) where run.ended_at is not null)
    and state in ('pending', 'active');

  delete from inbox
  where run in (select run.id from json_each(new.ends) given
                join run on run.id = substr(new.bytes, given.value ->> 0, 16) where run.ended_at is not null);

  delete from inbox where id in (select value from json_each(new.consumed));
end;
