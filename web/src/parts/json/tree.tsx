/** A JSON value as a tree: search, fold, copy. Text is text, whatever it contains. */
import { ChevronRight, Copy, Search } from "lucide-react";
import { type CSSProperties, memo, useMemo, useState } from "react";
import { Button } from "../button";
import { copyText } from "../copy";
import { List } from "../list/list";
import { toast } from "../toast";
import { beginsOpen, flatten, isBranch, type JsonRow, matching } from "./flatten";
import styles from "./tree.module.css";

const ROW = 24;
/** Longer texts are cut; they are copied whole. */
const TEXT = 2000;

interface Props {
  value: unknown;
  /** What it is, for people who cannot see it: `Output of charge`. */
  label: string;
  /** Beside the search box. */
  tools?: React.ReactNode;
}

export function JsonTree({ value, label, tools }: Props) {
  const [text, setText] = useState("");
  const [flipped, setFlipped] = useState<ReadonlySet<string>>(new Set());
  const found = useMemo(() => matching(value, text), [value, text]);
  const rows = useMemo(
    () =>
      flatten(value, (path, depth, size) => {
        if (text && found.open.has(path)) return true;
        return flipped.has(path) !== beginsOpen(depth, size);
      }),
    [value, text, found, flipped],
  );
  const flip = (path: string) => {
    const next = new Set(flipped);
    if (!next.delete(path)) next.add(path);
    setFlipped(next);
  };
  return (
    <div className={styles["json"]}>
      <div className={styles["tools"]}>
        <Search className="icon small" aria-hidden />
        <input
          type="search"
          value={text}
          placeholder={`Find in ${label.toLowerCase()}`}
          aria-label={`Find in ${label}`}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        {text && <span className={styles["hits"]}>{found.hits.size} found</span>}
        <Button
          kind="ghost"
          onClick={() => void copyText(JSON.stringify(value, null, 2) ?? "").then(() => toast(`${label} copied`))}
        >
          <Copy className="icon small" aria-hidden />
          Copy
        </Button>
        {tools}
      </div>
      <List
        className={styles["rows"] ?? ""}
        count={rows.length}
        row={ROW}
        label={label}
        role="tree"
        render={(i) => {
          const row = rows[i];
          return row && <Row key={row.path} row={row} hit={found.hits.has(row.path)} flip={flip} />;
        }}
      />
    </div>
  );
}

const Row = memo(function Row({ row, hit, flip }: { row: JsonRow; hit: boolean; flip: (path: string) => void }) {
  const { name, value, size, open, depth, path } = row;
  const isIndex = /\[\d+\]$/.test(path);
  const names = [styles["row"], hit && styles["hit"]].filter(Boolean).join(" ");
  const place = { "--depth": depth } as CSSProperties;
  if (size === undefined) {
    return (
      <div className={names} role="treeitem" aria-level={depth + 1} style={place} title={path}>
        {name !== undefined && <span className={isIndex ? styles["index"] : styles["key"]}>{name}</span>}
        <Value value={value} />
      </div>
    );
  }
  return (
    <button
      type="button"
      className={names}
      role="treeitem"
      aria-level={depth + 1}
      aria-expanded={open}
      style={place}
      title={path}
      onClick={() => flip(path)}
    >
      <ChevronRight className={`icon small ${open ? styles["open"] : ""}`} aria-hidden />
      <span className={isIndex ? styles["index"] : styles["key"]}>{name}</span>
      <span className={styles["size"]}>{Array.isArray(value) ? `[${size}]` : `{${size}}`}</span>
    </button>
  );
});

function Value({ value }: { value: unknown }) {
  if (typeof value === "string") {
    const cut = value.length > TEXT ? `${value.slice(0, TEXT)}…` : value;
    return <span className={styles["string"]}>{JSON.stringify(cut)}</span>;
  }
  if (isBranch(value)) return <span className={styles["size"]}>{Array.isArray(value) ? "[]" : "{}"}</span>;
  const kind = value === null || value === undefined ? "null" : typeof value;
  return <span className={styles[kind]}>{String(value ?? null)}</span>;
}
