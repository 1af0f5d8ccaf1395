/** Light, dark, or as the system has it. */
import { preference, setPreference, usePreference, watchPreferences } from "./preferences";

export type Theme = "light" | "dark" | "system";

function apply(): void {
  const theme = preference("theme", "system");
  const root = document.documentElement;
  if (theme === "light" || theme === "dark") root.dataset["theme"] = theme;
  else delete root.dataset["theme"];
  dispatchEvent(new Event("theme"));
}

/** Show the chosen theme, now and whenever another is chosen. Canvases listen to the event `theme` of the window. */
export function startTheme(): void {
  apply();
  watchPreferences(apply);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => dispatchEvent(new Event("theme")));
}

export function chooseTheme(theme: Theme): void {
  setPreference("theme", theme);
}

/** Whether it is dark now. */
export function isDark(theme: string): boolean {
  return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

export function useTheme(): Theme {
  const [theme] = usePreference("theme", "system");
  return theme === "light" || theme === "dark" ? theme : "system";
}
