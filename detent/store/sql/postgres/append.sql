-- The flush that most flushes are: journal entries and nothing else.
with fence as (
  select 1 from node where id = $1 and epoch = $2 for key share
),
written as (
  insert into journal (tenant, run, seq, at, kind, step, attempt, outcome, data)
  select t.* from fence, unnest($3::int[], $4::uuid[], $5::int[], $6::timestamptz[], $7::text[], $8::text[], $9::int[],
                                $10::text[], $11::text[]) as t
  /*again on conflict (run, seq) do nothing */
)
select (select count(*) from fence) as held, clock_timestamp() as now
