/** Ctrl K: find runs, workflows, business objects, and go anywhere. */
import { useQuery } from "@tanstack/react-query";
import { Command } from "cmdk";
import { BellRing, Blocks, Box, Clock, Keyboard, LayoutTemplate, Link2, type LucideIcon, MailX, Moon, Play, Search, Sun, SunMoon, UserRoundCog, Workflow, Zap } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import type { Found } from "../api/documents";
import { searchQuery } from "../api/search";
import type { Operation } from "../api/policy";
import { useFeatures, useMay } from "../api/session";
import { stateOf } from "../look/status";
import { Dialog } from "../parts/dialog";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import styles from "./palette.module.css";
import { useClock } from "./preferences";
import { type Section, SECTIONS } from "./sections";
import { chooseTheme } from "./theme";

/** Views that are not sections, to be found by their names. */
const PLACES: (Section & { needs?: Operation })[] = [
  { to: "/catalog/connectors", word: "Connectors", icon: Blocks, letter: "", feature: "catalog" },
  { to: "/catalog/templates", word: "Templates", icon: LayoutTemplate, letter: "", feature: "templates" },
  { to: "/entities", word: "Entities of rules", icon: Box, letter: "", feature: "rules" },
  { to: "/alerts", word: "Alerts of rules", icon: BellRing, letter: "", feature: "rules" },
  { to: "/system/dead-letters", word: "Dead letters", icon: MailX, letter: "", feature: "dead_letters" },
  { to: "/admin/keys", word: "Keys", icon: UserRoundCog, letter: "", needs: "list_keys" },
  { to: "/admin/people", word: "People", icon: UserRoundCog, letter: "", needs: "list_users" },
  { to: "/admin/sessions", word: "Sessions", icon: UserRoundCog, letter: "" },
  { to: "/admin/secrets", word: "Secrets", icon: UserRoundCog, letter: "", needs: "list_secrets" },
  { to: "/admin/credentials", word: "Credentials", icon: UserRoundCog, letter: "", needs: "list_credentials" },
  { to: "/admin/audit", word: "Audit", icon: UserRoundCog, letter: "", needs: "list_audit" },
  { to: "/system/resources", word: "Resources of other systems", icon: Link2, letter: "", feature: "resources" },
];

interface Props {
  open: boolean;
  onClose: () => void;
  onKeys: () => void;
}

export function Palette({ open, onClose, onKeys }: Props) {
  return (
    <Dialog open={open} onClose={onClose} title="Search or jump to" bare wide>
      <Content onClose={onClose} onKeys={onKeys} />
    </Dialog>
  );
}

function Content({ onClose, onKeys }: Omit<Props, "open">) {
  const [text, setText] = useState("");
  const [, go] = useLocation();
  const [, setClock] = useClock();
  const wanted = text.trim();
  const { data: found } = useQuery(searchQuery(wanted));
  // What Enter does is what stands first, whenever something else was found. The list knows no verb for it but its key:
  // a value from outside would not move what screen readers hear.
  const list = useRef<HTMLDivElement>(null);
  const first = wanted && found ? firstOf(found) : undefined;
  useEffect(() => {
    if (first) list.current?.dispatchEvent(new KeyboardEvent("keydown", { key: "Home", bubbles: true }));
  }, [first]);
  const to = (place: string) => () => {
    onClose();
    go(place);
  };
  const then = (run: () => void) => () => {
    onClose();
    run();
  };
  const matches = (word: string) => word.toLowerCase().includes(wanted.toLowerCase());
  const has = useFeatures();
  const may = useMay();
  const allowed = PLACES.filter(({ needs }) => needs === undefined || may(needs));
  const places = [...SECTIONS, ...allowed].filter((one) => has(one.feature) && matches(`go to ${one.word}`));
  const verbs: [string, LucideIcon, () => void][] = [
    ["Use the light theme", Sun, () => chooseTheme("light")],
    ["Use the dark theme", Moon, () => chooseTheme("dark")],
    ["Use the theme of the system", SunMoon, () => chooseTheme("system")],
    ["Show times as distance from now", Clock, () => setClock("relative")],
    ["Show times on the local clock", Clock, () => setClock("local")],
    ["Show times in UTC", Clock, () => setClock("utc")],
    ["Show all keys", Keyboard, onKeys],
  ];
  const shown = wanted ? verbs.filter(([word]) => matches(word)) : verbs.slice(-1);
  return (
    <Command shouldFilter={false} label="Search or jump to" className={styles["palette"]} ref={list} loop>
      <div className={styles["input"]}>
        <Search className="icon" aria-hidden />
        <Command.Input value={text} onValueChange={setText} placeholder="Run id, workflow, order 8841, or where to go" autoFocus />
        <kbd>Esc</kbd>
      </div>
      <Command.List className={styles["list"]}>
        {wanted && found && (
          <>
            <Group title="Runs">
              {found.runs.map((run) => (
                <Item key={run.id} value={`run ${run.id}`} onSelect={to(`/runs/${run.id}`)}>
                  <Status of={stateOf(run)} bare />
                  <span>{run.workflow}</span>
                  <code>{run.id}</code>
                  <small>
                    <Time at={run.started_at} />
                  </small>
                </Item>
              ))}
            </Group>
            <Group title="Workflows">
              {found.workflows.map((one) => (
                <Item key={one.id} value={`workflow ${one.id}`} icon={Workflow} onSelect={to(`/workflows/${encodeURIComponent(one.name)}`)}>
                  <span>{one.name}</span>
                  <small>{one.title}</small>
                </Item>
              ))}
            </Group>
            <Group title="About">
              {found.heroes.map((one) => (
                <Item
                  key={`${one.type}:${one.id}`}
                  value={`hero ${one.type}:${one.id}`}
                  icon={Box}
                  onSelect={to(`/heroes/${encodeURIComponent(one.type)}/${encodeURIComponent(one.id)}`)}
                >
                  <span>
                    {one.type} {one.id}
                  </span>
                  <small>{one.runs} runs</small>
                </Item>
              ))}
            </Group>
            <Group title="Triggers">
              {found.triggers.map((one) => (
                <Item key={one.id} value={`trigger ${one.id}`} icon={Zap} onSelect={to(`/workflows/${encodeURIComponent(one.workflow)}`)}>
                  <span>{one.name ?? one.id}</span>
                  <small>{one.workflow}</small>
                </Item>
              ))}
            </Group>
          </>
        )}
        {wanted && (
          <Group title="Search">
            <Item value="search-runs" icon={Play} onSelect={to(`/runs?text=${encodeURIComponent(wanted)}`)}>
              <span>Runs with “{wanted}” in name, label or error</span>
            </Item>
          </Group>
        )}
        <Group title="Go to">
          {places.map((one) => (
            <Item key={one.to} value={`go ${one.to}`} icon={one.icon} onSelect={to(one.to)}>
              <span>{one.word}</span>
              {one.letter && (
                <>
                  <kbd>g</kbd>
                  <kbd>{one.letter}</kbd>
                </>
              )}
            </Item>
          ))}
        </Group>
        <Group title="Page">
          {shown.map(([word, Icon, run]) => (
            <Item key={word} value={word} icon={Icon} onSelect={then(run)}>
              <span>{word}</span>
            </Item>
          ))}
        </Group>
      </Command.List>
    </Command>
  );
}

/** The name of the first thing that was found. */
function firstOf({ runs, workflows, heroes, triggers }: Found): string | undefined {
  if (runs[0]) return `run ${runs[0].id}`;
  if (workflows[0]) return `workflow ${workflows[0].id}`;
  if (heroes[0]) return `hero ${heroes[0].type}:${heroes[0].id}`;
  return triggers[0] && `trigger ${triggers[0].id}`;
}

function Group({ title, children }: { title: string; children: React.ReactNode[] | React.ReactNode }) {
  if (Array.isArray(children) && children.length === 0) return null;
  return <Command.Group heading={title}>{children}</Command.Group>;
}

function Item({ value, icon: Icon, onSelect, children }: { value: string; icon?: LucideIcon; onSelect: () => void; children: React.ReactNode }) {
  return (
    <Command.Item value={value} onSelect={onSelect} className={styles["item"] ?? ""}>
      {Icon && <Icon className="icon" aria-hidden />}
      {children}
    </Command.Item>
  );
}
