/** What Detent gave up: filters, the list, one letter with its payload, and requeue or purge of one or of all that match. */
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowRight, RotateCw, Trash2, X } from "lucide-react";
import { memo, useRef, useState } from "react";
import { Link } from "wouter";
import { isMissing } from "../api/client";
import { changeMany, type Letter, type LetterFilter, letterQuery, lettersQuery, type LetterVerb, matchedQuery, purgeLetter, requeueLetter } from "../api/letters";
import { count, several } from "../look/numbers";
import { ActDialog, useActing } from "../parts/act";
import { Button } from "../parts/button";
import { Chip } from "../parts/chip";
import { CopyButton } from "../parts/copy";
import { SelectField, TextField } from "../parts/field";
import { JsonBox } from "../parts/json/box";
import { List, type ListHandle } from "../parts/list/list";
import { Notice } from "../parts/notice";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { toast } from "../parts/toast";
import { useKeys } from "../shell/keys";
import { useNarrow } from "../shell/narrow";
import { usePlace } from "../shell/place";
import { about, isSame, kindOf, KINDS, resultPlace, saidFilter } from "./words";
import styles from "./letters.module.css";

export default function DeadLetters() {
  const place = usePlace();
  const [isAsked, setAsked] = useState<LetterVerb | null>(null);
  // Those that wait for a decision come first; the URL says so only where it is another choice.
  const state = place.get("state") || "open";
  const filter: LetterFilter = {};
  if (state !== "all") filter.state = state;
  for (const name of ["kind", "workflow", "reason", "run"] as const) if (place.get(name)) filter[name] = place.get(name);
  const pages = useInfiniteQuery(lettersQuery(filter));
  const { data, error, refetch } = pages;
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const chosen = place.get("letter");
  const isFiltered = Object.keys(filter).length > (filter.state === "open" ? 1 : 0) || state === "requeued";
  return (
    <div className={styles["tab"]}>
      <div className={styles["filters"]}>
        <SelectField bare label="State" value={state} onChange={(event) => place.set({ state: event.currentTarget.value === "open" ? null : event.currentTarget.value, letter: null })}>
          <option value="open">Given up</option>
          <option value="requeued">Requeued</option>
          <option value="all">Both</option>
        </SelectField>
        <SelectField bare label="Kind" value={filter.kind ?? ""} onChange={(event) => place.set({ kind: event.currentTarget.value, letter: null })}>
          <option value="">All kinds</option>
          {KINDS.map((one) => (
            <option key={one} value={one}>
              {kindOf(one).word}
            </option>
          ))}
        </SelectField>
        <WorkflowField key={filter.workflow ?? ""} value={filter.workflow ?? ""} />
        {filter.reason && <Chip name="reason" value={filter.reason} onRemove={() => place.set({ reason: null, letter: null })} />}
        {filter.run && <Chip name="run" value={`…${filter.run.slice(-6)}`} onRemove={() => place.set({ run: null, letter: null })} />}
        {rows.length > 0 && (
          <div className={styles["bulk"]}>
            {state !== "requeued" && <Button needs="change_many_dead_letters" onClick={() => setAsked("requeue")}>Requeue all that match…</Button>}
            <Button needs="change_many_dead_letters" onClick={() => setAsked("purge")}>Purge all that match…</Button>
          </div>
        )}
      </div>
      {isLost(error, data) ? (
        <Failure error={error} what="The dead letters could not be listed" onRetry={() => void refetch()} />
      ) : !data ? (
        <Waiting what="The dead letters are loading" />
      ) : rows.length === 0 ? (
        <Nothing isFiltered={isFiltered} />
      ) : (
        <div className={`${styles["panes"]} ${chosen ? styles["open"] : ""}`}>
          <Rows rows={rows} chosen={chosen} onEnd={() => pages.hasNextPage && !pages.isFetching && void pages.fetchNextPage()} />
          {chosen && <Detail key={chosen} id={chosen} />}
        </div>
      )}
      {isAsked && <Many verb={isAsked} filter={isAsked === "requeue" ? { ...filter, state: "open" } : filter} onClose={() => setAsked(null)} />}
    </div>
  );
}

function WorkflowField({ value }: { value: string }) {
  const place = usePlace();
  const [text, setText] = useState(value);
  const search = () => text.trim() !== value && place.set({ workflow: text.trim(), letter: null });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        search();
      }}
    >
      <TextField bare label="Workflow" placeholder="Workflow, by name" value={text} onBlur={search} onChange={(event) => setText(event.currentTarget.value)} />
    </form>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No dead letter matches" />;
  return (
    <Empty title="Nothing was given up">
      <p>Detent gives up rarely: a step that killed its nodes, a run that it cannot read, a request that can never start a run. Each would be here, with its payload, until it is requeued or purged.</p>
      <Snippet label="The same on the command line">detent dead-letters list</Snippet>
    </Empty>
  );
}

function Rows({ rows, chosen, onEnd }: { rows: Letter[]; chosen: string; onEnd: () => void }) {
  const place = usePlace();
  const list = useRef<ListHandle>(null);
  const row = useNarrow() ? 62 : 44;
  const at = rows.findIndex((one) => one.id === chosen);
  const move = (step: number) => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
    if (!next) return;
    place.set({ letter: next.id }, { replace: chosen !== "" });
    list.current?.reveal(rows.indexOf(next));
  };
  useKeys("Dead letters", [
    { key: "j", says: "Next letter", run: () => move(1) },
    { key: "k", says: "Previous letter", run: () => move(-1) },
    { key: "Escape", says: "Close the letter", run: () => (chosen ? place.set({ letter: null }, { replace: true }) : false) },
  ]);
  return (
    <div className={styles["left"]}>
      <div className={`${styles["row"]} ${styles["heads"]}`} aria-hidden>
        <span>State</span>
        <span>What</span>
        <span>Why</span>
        <span>Since</span>
      </div>
      <List
        handle={list}
        label="Dead letters"
        count={rows.length}
        row={row}
        onEnd={onEnd}
        render={(i) => {
          const one = rows[i];
          return one && <Row key={one.id} letter={one} to={place.with({ letter: one.id })} isAt={one.id === chosen} />;
        }}
      />
    </div>
  );
}

const Row = memo(function Row({ letter, to, isAt }: { letter: Letter; to: string; isAt: boolean }) {
  return (
    <Link href={to} role="listitem" className={`${styles["row"]} ${isAt ? styles["at"] : ""}`} aria-current={isAt ? "true" : undefined}>
      <Status of={letter.state} quiet />
      <span className={styles["what"]}>
        <b>{about(letter)}</b>
        <i>{kindOf(letter.kind).word}</i>
      </span>
      <small title={letter.message}>
        <code>{letter.reason}</code> {letter.message}
      </small>
      <Time at={letter.written_at} />
    </Link>
  );
});

function Detail({ id }: { id: string }) {
  const place = usePlace();
  const queries = useQueryClient();
  const acting = useActing();
  const [isAsked, setAsked] = useState(false);
  const { data: letter, error } = useQuery(letterQuery(id));
  const close = () => place.set({ letter: null }, { replace: true });
  const requeue = async () => {
    let made: Letter | undefined;
    const went = await acting.run(async () => {
      made = await requeueLetter(id);
    });
    await queries.invalidateQueries({ queryKey: ["letters"] });
    if (went && made) toast(`Requeued: ${kindOf(made.kind).requeue.split(":")[0]?.toLowerCase()}`);
  };
  const purge = async () => {
    if (!(await acting.run(() => purgeLetter(id)))) return;
    toast("The letter is purged");
    close();
    await queries.invalidateQueries({ queryKey: ["letters"] });
  };
  const result = resultPlace(letter?.result ?? null);
  return (
    <aside className={styles["detail"]} aria-label="Dead letter">
      <header>
        {letter && <Status of={letter.state} pill />}
        <h2>{letter ? about(letter) : ""}</h2>
        <Button kind="ghost" square aria-label="Close the letter" onClick={close}>
          <X className="icon" aria-hidden />
        </Button>
      </header>
      {error && <Notice tone="fail">{isMissing(error) ? "There is no such letter any more: it was purged." : "The letter could not be read."}</Notice>}
      {!letter && !error && <Waiting what="The letter is loading" />}
      {letter && (
        <>
          <p className={styles["why"]}>{letter.message}</p>
          <div className={styles["verbs"]}>
            {letter.state === "open" && (
              <Button kind="primary" needs="requeue_dead_letter" disabled={acting.busy} onClick={() => void requeue()}>
                <RotateCw className="icon" aria-hidden />
                Requeue it
              </Button>
            )}
            <Button needs="purge_dead_letter" disabled={acting.busy} onClick={() => setAsked(true)}>
              <Trash2 className="icon" aria-hidden />
              Purge it…
            </Button>
          </div>
          {letter.state === "open" && <p className={styles["soft"]}>{kindOf(letter.kind).requeue}. Mend what it says first.</p>}
          {acting.error && <Notice tone="fail">{acting.error}</Notice>}
          <Facts letter={letter} result={result} />
          {letter.last_error && !isSame(letter.last_error, letter.message) && (
            <>
              <h3>Last error</h3>
              <pre tabIndex={0}>
                <code>{letter.last_error}</code>
              </pre>
            </>
          )}
          <h3>Payload</h3>
          {letter.payload === null || letter.payload === undefined ? <p className={styles["soft"]}>It has none.</p> : <JsonBox value={letter.payload} label="Payload" />}
        </>
      )}
      {isAsked && letter && (
        <ActDialog danger title="Purge this letter?" word="Purge it" acting={acting} onClose={() => setAsked(false)} onDo={() => void purge()}>
          <p>The letter and its payload are deleted. {letter.run_id ? "Its run stays as it is." : "Its firing stays as it is."}</p>
        </ActDialog>
      )}
    </aside>
  );
}

function Facts({ letter, result }: { letter: Letter; result: string | null }) {
  const place = usePlace();
  return (
    <dl>
      <dt>Reason</dt>
      <dd>
        <Link href={place.with({ reason: letter.reason })}>
          <code>{letter.reason}</code>
        </Link>
      </dd>
      <dt>Workflow</dt>
      <dd>
        <Link href={`/workflows/${encodeURIComponent(letter.workflow)}`}>{letter.workflow}</Link>
      </dd>
      {letter.run_id && (
        <>
          <dt>Run</dt>
          <dd>
            <Link href={`/runs/${letter.run_id}${letter.step ? `?step=${encodeURIComponent(letter.step)}` : ""}`}>
              <code>…{letter.run_id.slice(-6)}</code>
              {letter.step && ` ${letter.step}`}
              <ArrowRight className="icon small" aria-hidden />
            </Link>
          </dd>
        </>
      )}
      {letter.firing_id && (
        <>
          <dt>Firing</dt>
          <dd>
            <Link href={`/triggers/received?trigger=${letter.trigger_id ?? ""}&firing=${letter.firing_id}`}>
              <code>…{letter.firing_id.slice(-6)}</code>
              <ArrowRight className="icon small" aria-hidden />
            </Link>
          </dd>
        </>
      )}
      <dt>Attempts</dt>
      <dd>{count(letter.attempts)}</dd>
      <dt>Given up</dt>
      <dd>
        <Time at={letter.written_at} />
      </dd>
      {letter.settled_at && (
        <>
          <dt>Requeued</dt>
          <dd>
            <Time at={letter.settled_at} />
            {letter.settled_by && ` by ${letter.settled_by}`}
          </dd>
        </>
      )}
      {result && letter.result && (
        <>
          <dt>Became</dt>
          <dd>
            <Link href={result}>
              <code>…{letter.result.slice(-6)}</code>
              <ArrowRight className="icon small" aria-hidden />
            </Link>
          </dd>
        </>
      )}
      <dt>Letter</dt>
      <dd>
        <code>…{letter.id.slice(-6)}</code>
        <CopyButton text={letter.id} what="the id of the letter" />
      </dd>
    </dl>
  );
}

function Many({ verb, filter, onClose }: { verb: LetterVerb; filter: LetterFilter; onClose: () => void }) {
  const queries = useQueryClient();
  const acting = useActing();
  const matched = useQuery({ ...matchedQuery(verb, filter), gcTime: 0, staleTime: 0 });
  const found = matched.data?.matched ?? 0;
  const many = several(found, "letter");
  const change = async () => {
    let words = "";
    let isWhole = true;
    const went = await acting.run(async () => {
      const { done, refused, more } = await changeMany(verb, filter, false);
      words = `${several(done, "letter")} ${verb === "requeue" ? "requeued" : "purged"}.`;
      if (refused[0]) words += ` ${several(refused.length, "letter")} refused: ${refused[0].message}.`;
      if (more) words += " More match: do it again for the next.";
      isWhole = refused.length === 0;
    });
    await queries.invalidateQueries({ queryKey: ["letters"] });
    if (!went) return;
    toast(words, isWhole ? {} : { tone: "fail" });
    onClose();
  };
  const word = verb === "requeue" ? `Requeue ${many}` : `Purge ${many}`;
  return (
    <ActDialog
      title={verb === "requeue" ? "Requeue dead letters?" : "Purge dead letters?"}
      {...(found > 0 ? { word } : {})}
      danger={verb === "purge"}
      acting={acting}
      onClose={onClose}
      onDo={() => void change()}
    >
      {matched.error ? (
        <Notice tone="fail">They could not be counted.</Notice>
      ) : !matched.data ? (
        <p role="status">Counting what matches…</p>
      ) : (
        <>
          <p>
            <b>
              {found === 0 ? "No letter matches." : `${many}${matched.data.more ? ", the oldest of those that match," : ""} will be ${verb === "requeue" ? "requeued" : "purged"}.`}
            </b>{" "}
            {found > 0 && (verb === "requeue" ? "Each is tried once more, as its kind says." : "They and their payloads are deleted. Runs and firings stay as they are.")}
          </p>
          <p className={styles["soft"]}>Which: {saidFilter(filter)}.</p>
        </>
      )}
    </ActDialog>
  );
}
