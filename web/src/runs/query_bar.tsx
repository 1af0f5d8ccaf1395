/** The search box: chips of what is filtered, one field for words, and the same as one line of text. */
import { useQuery } from "@tanstack/react-query";
import { Braces, ChevronDown, ListFilter, X } from "lucide-react";
import { type KeyboardEvent, lazy, type Ref, Suspense, useEffect, useId, useRef, useState } from "react";
import { facetsQuery, type Filter } from "../api/runs";
import { now } from "../api/session";
import { count } from "../look/numbers";
import { lookOf } from "../look/status";
import { type Clock, minute } from "../look/time";
import { Button } from "../parts/button";
import { Chip as ChipView } from "../parts/chip";
import { Menu, MenuChoice } from "../parts/menu";
import { useClock } from "../shell/preferences";
import { type Chip, saidTogether, together, valueOf, withChip, without } from "./query";
import styles from "./query_bar.module.css";
import type { Suggestion } from "./suggestions";

const CLOCKS: [Clock, string][] = [
  ["relative", "Relative time"],
  ["local", "Local time"],
  ["utc", "UTC"],
];
/** The list follows the words after so long without a key. */
const PAUSE = 300;

const loadText = () => import("./query_text");
const AsText = lazy(() => import("./query_line").then((all) => ({ default: all.QueryLine })));

interface Props {
  chips: readonly Chip[];
  filter: Filter;
  onChips: (chips: Chip[]) => void;
  input: Ref<HTMLInputElement>;
}

export function QueryBar({ chips, filter, onChips, input }: Props) {
  const [asText, setAsText] = useState(false);
  const [clock, setClock] = useClock();
  return (
    <div className={styles["bar"]} role="search" aria-label="Filter runs">
      <ListFilter className="icon" aria-hidden />
      {asText ? (
        <Suspense fallback={<span className={styles["input"]} />}>
          <AsText chips={chips} onChips={onChips} />
        </Suspense>
      ) : (
        <AsChips chips={chips} filter={filter} onChips={onChips} input={input} clock={clock} />
      )}
      {chips.length > 0 && (
        <Button kind="ghost" square aria-label="Remove all filters" onClick={() => onChips([])}>
          <X className="icon small" aria-hidden />
        </Button>
      )}
      <span className={styles["tools"]}>
        <Button kind="ghost" aria-pressed={asText} onClick={() => setAsText(!asText)}>
          <Braces className="icon" aria-hidden />
          Query
        </Button>
        <Menu
          align="end"
          button={
            <Button kind="ghost">
              {CLOCKS.find(([name]) => name === clock)?.[1]}
              <ChevronDown className="icon small" aria-hidden />
            </Button>
          }
        >
          <MenuChoice value={clock} choices={CLOCKS} onChoose={setClock} />
        </Menu>
      </span>
    </div>
  );
}

function AsChips({ chips, filter, onChips, input, clock }: Props & { clock: Clock }) {
  const applied = valueOf(chips, "text") ?? "";
  const [text, setText] = useState(applied);
  // Another search, as by a saved view, replaces the words; the same one leaves them as they are typed.
  const [seen, setSeen] = useState(applied);
  if (seen !== applied) {
    setSeen(applied);
    if (applied !== text.trim()) setText(applied);
  }
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const list = useId();
  const [words, setWords] = useState<Awaited<ReturnType<typeof loadText>> | undefined>();
  const near = () => void loadText().then(setWords);
  const { data: facets } = useQuery({ ...facetsQuery(filter), enabled: open });
  const found = open && words ? words.suggestions(text, chips, facets) : [];
  const fixed = without(chips, "text");

  // Words are searched for while they are typed, after a pause.
  const latest = useRef(onChips);
  latest.current = onChips;
  const before = useRef(chips);
  before.current = chips;
  useEffect(() => {
    const wanted = text.trim();
    if (!words || wanted === applied || words.isFilter(wanted)) return;
    const timer = setTimeout(() => {
      const rest = without(before.current, "text");
      latest.current(wanted ? [...rest, { name: "text", value: wanted }] : rest);
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [text, applied, words]);

  const apply = async (line: string) => {
    const { parse } = await loadText();
    let next = fixed;
    for (const chip of parse(line)) next = withChip(next, chip);
    setText(valueOf(next, "text") ?? "");
    onChips(next);
    setActive(-1);
    setOpen(false);
  };
  const choose = (one: Suggestion) => {
    if (one.chip) {
      setText("");
      onChips(withChip(fixed, one.chip));
      setOpen(false);
    } else {
      setText(one.insert ?? "");
      setOpen(true);
    }
    setActive(-1);
  };
  const onKey = (event: KeyboardEvent<HTMLInputElement>) => {
    const chosen = found[active];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      setOpen(true);
      // Beyond the last comes the field itself, which is -1.
      const places = found.length + 1;
      setActive(((active + 1 + (event.key === "ArrowDown" ? 1 : -1) + places) % places) - 1);
    } else if (event.key === "Enter") {
      if (chosen) choose(chosen);
      else void apply(text);
    } else if (event.key === "Escape") {
      if (open) setOpen(false);
      else event.currentTarget.blur();
    } else if (event.key === "Backspace" && text === "" && fixed.length > 0) {
      onChips(fixed.slice(0, -1));
    }
  };
  return (
    <div className={styles["words"]}>
      <div className={styles["chips"]}>
        {together(fixed).map((some) => {
          const [name, value] = saidTogether(some, (at) => minute(at, clock === "relative" ? "local" : clock, now()));
          return (
            <ChipView
              key={some.map((one) => `${one.name}:${one.value}`).join(" ")}
              name={name}
              value={value}
              onEdit={async () => {
                setText((await loadText()).write(some));
                onChips(fixed.filter((one) => !some.includes(one)));
              }}
              onRemove={() => onChips(chips.filter((one) => !some.includes(one)))}
            />
          );
        })}
      </div>
      <input
        ref={input}
        className={styles["input"]}
        role="combobox"
        aria-label="Filter runs"
        aria-expanded={found.length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={active >= 0 ? `${list}-${active}` : undefined}
        value={text}
        autoComplete="off"
        spellCheck={false}
        placeholder={fixed.length > 0 ? "and…" : "Run id, workflow, order 8841, label, step, error, or status:failed"}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setOpen(true);
          setActive(-1);
        }}
        onPointerEnter={near}
        onFocus={() => {
          near();
          setOpen(true);
        }}
        onBlur={() => {
          setOpen(false);
          if (words?.isFilter(text.trim())) void apply(text);
        }}
        onKeyDown={onKey}
      />
      <ul className={styles["list"]} id={list} role="listbox" aria-label="Filters" hidden={found.length === 0}>
        {found.map((one, i) => (
          <li
            key={one.key}
            id={`${list}-${i}`}
            role="option"
            aria-selected={i === active}
            onPointerDown={(event) => {
              event.preventDefault();
              choose(one);
            }}
          >
            <i>{one.name}</i>
            <span>{one.chip?.name === "status" ? lookOf(one.value).word : one.value}</span>
            {one.count !== undefined && <em>{count(one.count)}</em>}
          </li>
        ))}
      </ul>
    </div>
  );
}
