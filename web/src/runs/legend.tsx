/** What the colours of the histogram mean, and how many there are; a click hides or shows one. */
import { ChevronDown } from "lucide-react";
import { BANDS, type Histogram } from "../api/documents";
import { count, several } from "../look/numbers";
import { saidLength } from "../look/time";
import { Button } from "../parts/button";
import { Menu, MenuChoice } from "../parts/menu";
import { BAND_LOOKS } from "./histogram";
import styles from "./legend.module.css";

const WINDOWS: [string, string][] = [
  ["5m", "Last 5 minutes"],
  ["15m", "Last 15 minutes"],
  ["30m", "Last 30 minutes"],
  ["1h", "Last hour"],
  ["6h", "Last 6 hours"],
  ["24h", "Last 24 hours"],
  ["7d", "Last 7 days"],
  ["30d", "Last 30 days"],
];
const ORDER = ["completed", "running", "waiting", "attention", "failed", "cancelled", "scheduled"] as const;

interface Props {
  data: Histogram;
  hidden: ReadonlySet<string>;
  since: string;
  onHide: (hidden: ReadonlySet<string>) => void;
  onWindow: (since: string) => void;
}

export function Legend({ data, hidden, since, onHide, onWindow }: Props) {
  const sum = BANDS.reduce((all, band) => all + data.totals[band], 0);
  const flip = (name: string) => {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    onHide(next);
  };
  return (
    <div className={styles["legend"]}>
      <ul>
        {ORDER.filter((name) => data.totals[name] > 0 || !["cancelled", "scheduled"].includes(name)).map((name) => (
          <li key={name} className={`t-${BAND_LOOKS[name]?.tone}`}>
            <button type="button" aria-pressed={!hidden.has(name)} onClick={() => flip(name)}>
              <i data-band={name} />
              {BAND_LOOKS[name]?.word}
              <b>{count(data.totals[name])}</b>
            </button>
          </li>
        ))}
      </ul>
      <Menu
        align="end"
        button={
          <Button kind="ghost" className={styles["window"]}>
            {several(sum, "run")} in {saidLength(since)}
            <ChevronDown className="icon small" aria-hidden />
          </Button>
        }
      >
        <MenuChoice value={since} choices={WINDOWS} onChoose={onWindow} />
      </Menu>
    </div>
  );
}
