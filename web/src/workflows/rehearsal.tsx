/** What a draft would do to recorded runs: in groups that would do the same. */
import { ArrowRight, CircleCheck, OctagonX, Split } from "lucide-react";
import { Link } from "wouter";
import type { MoveGroup, Rehearsal, RehearsalGroup } from "../api/workflows";
import { count, several } from "../look/numbers";
import styles from "./dialogs.module.css";

export function RehearsalView({ found }: { found: Rehearsal }) {
  const all = found.same + found.other + found.failing;
  if (all === 0 && found.matched === 0) {
    return <p>There is no run of the last {several(found.days, "day")} to rehearse with, and none in flight. Nothing speaks against the draft.</p>;
  }
  return (
    <>
      <dl className={styles["figures"]} aria-label="Rehearsed runs">
        <Figure n={found.same} word="take the same path" />
        <Figure n={found.other} word="take another path" tone={found.other ? "hold" : ""} />
        <Figure n={found.failing} word="would fail" tone={found.failing ? "bad" : ""} />
        {found.matched > 0 && <Figure n={found.movable} word={`of ${count(found.matched)} in flight can be moved`} />}
      </dl>
      {found.groups.length > 0 && (
        <ul className={styles["groups"]} aria-label="Rehearsed runs in groups">
          {found.groups.map((group, i) => (
            <Group key={i} group={group} />
          ))}
        </ul>
      )}
      {found.moves.some((one) => !one.movable) && <MoveGroups groups={found.moves.filter((one) => !one.movable)} version={found.version} />}
    </>
  );
}

function Figure({ n, word, tone = "" }: { n: number; word: string; tone?: string }) {
  return (
    <div className={styles[tone]}>
      <dt>{word}</dt>
      <dd>{count(n)}</dd>
    </div>
  );
}

function Group({ group }: { group: RehearsalGroup }) {
  const isBad = group.failures.length > 0;
  const Icon = isBad ? OctagonX : group.same ? CircleCheck : Split;
  const tone = isBad ? "fail" : group.same ? "ok" : "hold";
  const word = isBad ? "would fail" : group.same ? (group.runs === 1 ? "takes the same path" : "take the same path") : group.runs === 1 ? "takes another path" : "take another path";
  return (
    <li>
      <p className={`t-${tone}`}>
        <Icon className="icon" aria-hidden color="var(--ct)" />
        <b>
          {several(group.runs, group.in_flight ? "run in flight" : "finished run", group.in_flight ? "runs in flight" : "finished runs")} {word}
        </b>
        <Examples ids={group.examples} />
      </p>
      {(isBad || group.detours.length > 0 || group.new_steps.length > 0) && (
        <ul>
          {group.failures.map((one) => (
            <li key={`f${one.step}`}>
              <b>{one.step}</b>: {one.message}
            </li>
          ))}
          {group.detours.map((one) => (
            <li key={`d${one.step}`}>
              <b>{one.step}</b> {one.was} <ArrowRight className="icon small" aria-label="becomes" /> {one.now}
              {one.edge && `, by ${one.edge}`}
            </li>
          ))}
          {group.new_steps.length > 0 && <li>Would run, with no recorded answer: {group.new_steps.join(", ")}</li>}
        </ul>
      )}
      {group.differences.length > 0 && (
        <details>
          <summary>{several(group.differences.length, "parameter")} would differ</summary>
          <dl className={styles["params"]}>
            {group.differences.map((one) => (
              <div key={`${one.step} ${one.field}`}>
                <dt>
                  {one.step}, {one.field}
                </dt>
                <dd>
                  {one.old !== null && <del>{one.old}</del>}
                  {one.new !== null && <ins>{one.new}</ins>}
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </li>
  );
}

export function MoveGroups({ groups, version }: { groups: readonly MoveGroup[]; version: number }) {
  return (
    <ul className={styles["groups"]} aria-label="Runs in flight in groups">
      {groups.map((group, i) => (
        <li key={i}>
          <p className={`t-${group.movable ? "ok" : "hold"}`}>
            {group.movable ? <CircleCheck className="icon" aria-hidden color="var(--ct)" /> : <OctagonX className="icon" aria-hidden color="var(--ct)" />}
            <b>
              {several(group.runs, "run")} of version {group.was} {group.movable ? "can be moved" : `cannot be moved to version ${version}`}
            </b>
            <Examples ids={group.examples} />
          </p>
          <ul>
            {group.at.length > 0 && <li>At {group.at.join(", ")}</li>}
            {group.begins.length > 0 && <li>Begins at once: {group.begins.join(", ")}</li>}
            {group.reasons.map((one, k) => (
              <li key={k}>
                {one.step && <b>{one.step}: </b>}
                {one.message}
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

function Examples({ ids }: { ids: readonly string[] }) {
  return (
    <span className={styles["examples"]}>
      {ids.slice(0, 3).map((id) => (
        <Link key={id} href={`/runs/${id}`}>
          <span className="unseen">run </span>
          <code>…{id.slice(-6)}</code>
        </Link>
      ))}
    </span>
  );
}
