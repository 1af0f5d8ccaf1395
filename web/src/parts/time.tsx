/** An instant as this person likes to read it; the tooltip has all of it. */
import { useNow } from "../api/session";
import { exact, instant, shown } from "../look/time";
import { useClock } from "../shell/preferences";

/** `at` is an instant of the API, or milliseconds. */
export function Time({ at }: { at: string | number | null | undefined }) {
  const [clock] = useClock();
  const ms = typeof at === "number" ? at : instant(at);
  if (Number.isNaN(ms)) return null;
  const iso = new Date(ms).toISOString();
  const title = `${exact(ms, "local")}\n${exact(ms, "utc")}`;
  return (
    <time dateTime={iso} title={title}>
      {clock === "relative" ? <Relative ms={ms} /> : <Fixed ms={ms} />}
    </time>
  );
}

function Relative({ ms }: { ms: number }) {
  return shown(ms, "relative", useNow());
}

function Fixed({ ms }: { ms: number }) {
  const [clock] = useClock();
  return shown(ms, clock, useNow());
}
