/** A sentence of the server. Its instants are shown as this person reads time. */
import { Fragment } from "react";
import { now } from "../api/session";
import { exact, moment, partsOf } from "../look/time";
import { useClock } from "../shell/preferences";

export function Said({ text }: { text: string }) {
  const [clock] = useClock();
  const shown = clock === "utc" ? "utc" : "local";
  return partsOf(text).map((part, i) =>
    typeof part === "string" ? (
      <Fragment key={i}>{part}</Fragment>
    ) : (
      <time key={i} dateTime={new Date(part.at).toISOString()} title={exact(part.at, "utc")}>
        {moment(part.at, shown, now())}
      </time>
    ),
  );
}
