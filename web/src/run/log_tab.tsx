/** The log: what the code of the steps wrote, as it comes, and how far the steps are. */
import { useEffect, useRef, useState } from "react";
import type { Outline } from "../api/run";
import { count } from "../look/numbers";
import { exact } from "../look/time";
import { Empty, Failure, Waiting } from "../parts/states";
import { usePreference } from "../shell/preferences";
import { hasEnded } from "./live";
import { shownName } from "./nodes";
import type { Places } from "./place";
import { Progress } from "./progress";
import { type LogLine, useLog } from "./use_log";
import tabs from "./tabs.module.css";
import styles from "./log.module.css";

const LEVELS = [
  ["debug", "All levels"],
  ["info", "Info and above"],
  ["warning", "Warnings and errors"],
  ["error", "Errors"],
] as const;

export function LogTab({ id, outline, places }: { id: string; outline: Outline; places: Places }) {
  const [level, setLevel] = usePreference("log-level", "debug");
  const [wrap, setWrap] = usePreference("log-wrap", "yes");
  const [again, setAgain] = useState(0);
  const step = places.place.of;
  const log = useLog(id, { step, level: level === "debug" ? null : level }, again);
  const isOpen = !hasEnded(outline.run.status);
  const isNarrowed = step !== null || level !== "debug";
  return (
    <div className={tabs["tab"]}>
      <div className={tabs["bar"]}>
        <label className={styles["field"]}>
          <span className="unseen">Step</span>
          <select value={step ?? ""} onChange={(event) => places.go({ of: event.currentTarget.value || null }, true)}>
            <option value="">All steps</option>
            {outline.steps.map((one) => (
              <option key={one.name} value={one.name}>
                {shownName(one.name)}
              </option>
            ))}
          </select>
        </label>
        <label className={styles["field"]}>
          <span className="unseen">Level</span>
          <select value={level} onChange={(event) => setLevel(event.currentTarget.value)}>
            {LEVELS.map(([name, word]) => (
              <option key={name} value={name}>
                {word}
              </option>
            ))}
          </select>
        </label>
        <label className={tabs["only"]}>
          <input type="checkbox" checked={wrap === "yes"} onChange={(event) => setWrap(event.currentTarget.checked ? "yes" : "no")} />
          Wrap lines
        </label>
        <span className={tabs["soft"]}>{log.isLoaded ? `${count(log.lines.length + log.dropped)} lines` : ""}</span>
      </div>
      {log.error !== null ? (
        <Failure error={log.error} what="The log could not be shown" onRetry={() => setAgain(again + 1)} />
      ) : !log.isLoaded && log.lines.length === 0 ? (
        <Waiting what="The log is loading" />
      ) : (
        <div className={styles["body"]}>
          {log.progress.length > 0 && <Progress all={log.progress} />}
          {log.lines.length === 0 ? (
            <Empty title={isNarrowed ? "No line fits" : "The steps have logged nothing"}>
              <p>
                {isNarrowed
                  ? "Choose another step or level."
                  : `What a step logs with self.log, context.log, run.log or a logger of Python is shown here${isOpen ? " as it comes" : ""}.`}
              </p>
            </Empty>
          ) : (
            <Lines lines={log.lines} dropped={log.dropped} wrap={wrap === "yes"} follows={isOpen} />
          )}
        </div>
      )}
    </div>
  );
}

interface LinesProps {
  lines: LogLine[];
  dropped: number;
  wrap: boolean;
  follows: boolean;
}

function Lines({ lines, dropped, wrap, follows }: LinesProps) {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    const element = box.current;
    if (element && follows && atEnd.current) element.scrollTop = element.scrollHeight;
  }, [lines, follows]);
  return (
    <div
      ref={box}
      className={styles["lines"]}
      role="log"
      aria-label="Log"
      tabIndex={0}
      data-wrap={wrap || undefined}
      onScroll={(event) => {
        const { scrollHeight, scrollTop, clientHeight } = event.currentTarget;
        atEnd.current = scrollHeight - scrollTop - clientHeight < 40;
      }}
    >
      {dropped > 0 && <p className={styles["gap"]}>{count(dropped)} older lines are not shown here; `detent logs` has them.</p>}
      {lines.map((line) => (
        <Line key={`${line.step}/${line.attempt}/${line.number}`} line={line} />
      ))}
    </div>
  );
}

function Line({ line }: { line: LogLine }) {
  const at = Date.parse(line.at);
  const attempt = line.attempt > 1 ? ` · attempt ${line.attempt}` : "";
  const facts = Object.entries(line.facts ?? {});
  return (
    <>
      {(line.left_out ?? 0) > 0 && <p className={styles["gap"]}>{count(line.left_out ?? 0)} lines left out</p>}
      <div className={styles["line"]} data-level={line.level}>
        <time title={`${exact(at, "local")}\n${exact(at, "utc")}`}>{exact(at, "local").slice(11)}</time>
        <span className={styles["level"]}>{line.level}</span>
        <span className={styles["step"]} title={`${line.step}${attempt} · ${line.logger}`}>
          {shownName(line.step)}
          {attempt}
        </span>
        <code>
          {line.message}
          {facts.map(([name, value]) => (
            <span key={name} className={tabs["soft"]}>
              {" "}
              {name}={typeof value === "string" ? value : JSON.stringify(value)}
            </span>
          ))}
        </code>
      </div>
    </>
  );
}
