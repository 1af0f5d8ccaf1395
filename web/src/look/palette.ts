/** The colours of the theme, for what is drawn on a canvas. */
import { useSyncExternalStore } from "react";

/** A colour by its name in `tokens.css`. */
export type Palette = (name: string) => string;

let palette: Palette | undefined;

function fresh(): Palette {
  const style = getComputedStyle(document.documentElement);
  const known = new Map<string, string>();
  return (name) => {
    const found = known.get(name) ?? style.getPropertyValue(`--${name}`).trim();
    known.set(name, found);
    return found;
  };
}

function current(): Palette {
  palette ??= fresh();
  return palette;
}

function watch(changed: () => void): () => void {
  const renew = () => {
    palette = fresh();
    changed();
  };
  addEventListener("theme", renew);
  return () => removeEventListener("theme", renew);
}

/** The colours. It is another function whenever the theme changes. */
export function usePalette(): Palette {
  return useSyncExternalStore(watch, current);
}
