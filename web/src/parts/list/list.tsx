/** A long list of which only what is seen is mounted. */
import { type ReactNode, type Ref, useImperativeHandle, useLayoutEffect, useRef, useState } from "react";
import { revealing, visible } from "./rows";
import styles from "./list.module.css";

export interface ListHandle {
  /** Scroll as little as needed so that a row is seen. */
  reveal: (index: number) => void;
  toTop: () => void;
  focus: () => void;
}

interface Props {
  count: number;
  row: number;
  label: string;
  render: (index: number) => ReactNode;
  /** The role of the scrolled part, as a table's `rowgroup`. */
  role?: string;
  /** Called when the end comes near. */
  onEnd?: () => void;
  onTop?: (atTop: boolean) => void;
  /** Told which rows are mounted, when that changes. */
  onSpan?: (first: number, end: number) => void;
  /** Below the last row: how to go on. */
  after?: ReactNode;
  handle?: Ref<ListHandle>;
  className?: string;
}

const NEAR = 15;

export function List({ count, row, label, render, role = "list", onEnd, onTop, onSpan, after, handle, className }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(800);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setHeight(entry.contentRect.height);
      // Heads of columns beside the list leave as much room as its scrollbar takes, if it has one.
      element.parentElement?.style.setProperty("--scrollbar", `${element.offsetWidth - element.clientWidth}px`);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useImperativeHandle(handle, () => ({
    reveal: (index) => {
      const element = box.current;
      if (element) element.scrollTop = revealing(index, element.scrollTop, element.clientHeight, row);
    },
    toTop: () => box.current?.scrollTo({ top: 0 }),
    focus: () => box.current?.focus({ preventScroll: true }),
  }));
  const { first, end } = visible(top, height, row, count);
  const near = end >= count - NEAR;
  useLayoutEffect(() => {
    if (near && count > 0) onEnd?.();
  }, [near, count, onEnd]);
  const told = useRef(onSpan);
  told.current = onSpan;
  useLayoutEffect(() => told.current?.(first, end), [first, end, count]);
  const rows = [];
  for (let i = first; i < end; i += 1) rows.push(render(i));
  return (
    <div
      ref={box}
      className={[styles["list"], className].filter(Boolean).join(" ")}
      role={role}
      aria-label={label}
      tabIndex={0}
      onScroll={(event) => {
        const at = event.currentTarget.scrollTop;
        setTop(at);
        onTop?.(at < row);
      }}
    >
      <div className={styles["whole"]} style={{ height: count * row }} role="presentation">
        <div style={{ transform: `translateY(${first * row}px)` }} role="presentation">
          {rows}
        </div>
      </div>
      {after}
    </div>
  );
}
