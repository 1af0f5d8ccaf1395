/** Try an event: which rules a change of a record would start, and which part of which condition is false. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { entityEventsQuery, matchRules, type RuleMatch, type TaggedRule } from "../api/rules";
import { several } from "../look/numbers";
import { ActDialog, useActing } from "../parts/act";
import { CodeField, SelectField, TextField } from "../parts/field";
import { parsed } from "../parts/parse";
import { Waiting } from "../parts/states";
import { Status } from "../parts/status";
import { Conditions } from "./parts";
import { operationOf, OPERATIONS, recordsOf, rulePlace, type WrittenEvent } from "./words";
import styles from "./edit.module.css";

interface Props {
  tagged: TaggedRule;
  onClose: () => void;
}

/** It begins with the newest event of the entity, so that a person changes a value instead of writing a record. */
export default function TryDialog(props: Props) {
  const { data, isPending } = useQuery(entityEventsQuery(props.tagged.rule.entity ?? ""));
  if (isPending) return <Waiting what="The last event is loading" />;
  const operation = operationOf(props.tagged.rule);
  const last = data?.find((one) => one.operation === operation) ?? { before: { status: "packed" }, after: { status: "shipped" } };
  const written = { entity: props.tagged.rule.entity ?? "", operation, before: pretty(last.before), after: pretty(last.after) };
  return <Form {...props} first={written} />;
}

function pretty(record: unknown): string {
  return JSON.stringify(record ?? {}, null, 2);
}

function Form({ tagged: { rule }, onClose, first }: Props & { first: WrittenEvent }) {
  const [event, setEvent] = useState(first);
  const [found, setFound] = useState<RuleMatch[] | null>(null);
  const acting = useActing();
  const [before, after] = [parsed(event.before), parsed(event.after)];
  const { hasBefore, hasAfter } = recordsOf(event.operation);
  const isWrong = event.entity.trim() === "" || (hasBefore && before.problem !== null) || (hasAfter && after.problem !== null);
  const change = (fields: Partial<WrittenEvent>) => {
    setEvent({ ...event, ...fields });
    setFound(null); // it would be about another event
  };
  const ask = async () => {
    if (isWrong) return;
    const entity = event.entity.trim();
    const tried = { entity, operation: event.operation, before: hasBefore ? before.value : null, after: hasAfter ? after.value : null };
    let matches: RuleMatch[] = [];
    const went = await acting.run(async () => {
      // This rule comes first, also if it is not active; the others are those that the event would start.
      const [mine, all] = await Promise.all([entity === rule.entity ? matchRules(tried, rule.key) : [], matchRules(tried)]);
      matches = [...mine, ...all.filter((one) => one.rule_id !== rule.id)];
    });
    if (went) setFound(matches);
  };
  return (
    <ActDialog wide title="Try an event" word="Try it" acting={acting} disabled={isWrong} onClose={onClose} onDo={() => void ask()}>
      <div className={styles["body"]}>
        <p>Nothing is stored and nothing is started.</p>
        <div className={styles["row"]}>
          <TextField label="Entity" value={event.entity} onChange={({ currentTarget }) => change({ entity: currentTarget.value })} />
          <SelectField label="Operation" value={event.operation} onChange={({ currentTarget }) => change({ operation: currentTarget.value })}>
            {OPERATIONS.map(([name, word]) => (
              <option key={name} value={name}>
                {word}
              </option>
            ))}
          </SelectField>
        </div>
        <div className={hasBefore && hasAfter ? styles["row"] : undefined}>
          {hasBefore && <CodeField label="Record before the change" value={event.before} rows={7} problem={before.problem} onText={(text) => change({ before: text })} onSend={() => void ask()} />}
          {hasAfter && <CodeField label="Record after the change" value={event.after} rows={7} problem={after.problem} onText={(text) => change({ after: text })} onSend={() => void ask()} />}
        </div>
        {found && <Found matches={found} entity={event.entity} />}
      </div>
    </ActDialog>
  );
}

function Found({ matches, entity }: { matches: RuleMatch[]; entity: string }) {
  if (matches.length === 0) return <p role="status">No active rule is about {entity}.</p>;
  const starting = matches.filter((one) => one.matches).length;
  return (
    <section className={styles["found"]} aria-label="Rules">
      <p role="status">
        <b>{starting === 0 ? "None" : starting}</b> of {several(matches.length, "rule")} {starting === 1 ? "matches" : "match"}.
      </p>
      {matches.map((one) => (
        <article key={one.rule_id} aria-label={one.name}>
          <header>
            <Status of={one.matches ? "matched" : "unmatched"} quiet />
            <Link href={rulePlace(one.rule)}>{one.name}</Link>
          </header>
          {one.conditions.length > 0 ? <Conditions parts={one.conditions} /> : <p>{one.matches ? "It has no conditions: every such event matches." : one.reason}</p>}
        </article>
      ))}
    </section>
  );
}
