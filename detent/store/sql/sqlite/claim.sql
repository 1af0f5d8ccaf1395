-- Finds runs that no node is running. The same thread then claims them, and no other thread writes. Cost does not grow
-- with sleeping or owned runs: `lanes` and `owners` hop from one value of an index to the next. It does not grow with
-- the inbox either: a claim reads its newest messages, and `window` of its runs after the run `after`. `favoured` is the
-- sort of runs that comes first.
with recursive fence as (
  select 1 from node where id = :node and epoch = :epoch
),
lanes (queue, priority) as (
  select * from (select queue, priority from run where owner is null and ended_at is null order by queue, priority limit 1)
  union all
  select further.queue, further.priority from lanes join run further on further.rowid = coalesce(
    (select rowid from run where owner is null and ended_at is null and queue = lanes.queue and priority > lanes.priority
     order by priority limit 1),
    (select rowid from run where owner is null and ended_at is null and queue > lanes.queue
     order by queue, priority limit 1))
),
owners (owner) as (
  select * from (select owner from run where owner is not null order by owner limit 1)
  union all
  select (select owner from run where owner is not null and owner > owners.owner order by owner limit 1) as next
  from owners where next is not null
),
due as (
  select r.id, r.priority, r.wake_at, 0 as adopted from fence cross join lanes cross join run r on r.rowid in (
    select rowid from run
    where owner is null and ended_at is null and queue = lanes.queue and priority = lanes.priority and wake_at <= :until
      and (code is null or not exists (
        select 1 from json_each(code) where value not in (select value from json_each(:serves))))
    order by wake_at limit :limit)
  where :queues is null or lanes.queue in (select value from json_each(:queues))
),
walked (run, place) as (
  select * from (select run, 1 from inbox where run > :after order by run limit 1)
  union all
  select (select run from inbox where run > walked.run order by run limit 1) as next, place + 1
  from walked where place < :window and next is not null
),
mailed as (
  select r.id, r.priority, r.wake_at, 0 as adopted
  from fence, (select run from walked union select * from (select run from inbox order by id desc limit :window)) mail
       cross join run r on r.id = mail.run
  where r.owner is null and r.ended_at is null
    and (:queues is null or r.queue in (select value from json_each(:queues)))
    and (r.code is null or not exists (
      select 1 from json_each(r.code) where value not in (select value from json_each(:serves))))
),
orphaned as (
  select r.id, r.priority, r.wake_at, 1 as adopted from fence, owners cross join run r on r.owner = owners.owner
  where not exists (select 1 from node where id = owners.owner) and r.ended_at is null
    and (:queues is null or r.queue in (select value from json_each(:queues)))
    and (r.code is null or not exists (
      select 1 from json_each(r.code) where value not in (select value from json_each(:serves))))
)
select (select count(*) from fence), (select run from walked where place = :window), found.id, found.adopted from (select 1) left join (
  select * from (select * from due union select * from mailed union select * from orphaned)
  order by case :favoured
    when 1 then case when id not in (select id from mailed) then 0 when wake_at <= :until then 1 else 2 end
    when 2 then adopted
    when 3 then coalesce(wake_at <= :until, 0)
    else 0 end desc, priority desc, wake_at nulls first, id limit :limit) found
order by found.priority desc, found.wake_at nulls first, found.id
