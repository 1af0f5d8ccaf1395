/** The frame around every page. */
import { useQueryClient } from "@tanstack/react-query";
import { Fragment, lazy, type ReactNode, Suspense, useState } from "react";
import { useLocation } from "wouter";
import { useLive } from "../api/live";
import { countsQuery } from "../api/runs";
import { useMe } from "../api/session";
import { useSignIn } from "../api/sign_in";
import { Toasts } from "../parts/toast";
import { BusyLine } from "./busy_line";
import { ConnectionLine } from "./connection_line";
import { useKeys } from "./keys";
import { SECTIONS } from "./sections";
import styles from "./shell.module.css";
import { TopBar } from "./top_bar";

const Palette = lazy(() => import("./palette").then((all) => ({ default: all.Palette })));
const KeyList = lazy(() => import("./key_list").then((all) => ({ default: all.KeyList })));

const SignIn = lazy(() => import("./sign_in"));

export function Shell({ children }: { children: ReactNode }) {
  const [over, setOver] = useState<"palette" | "keys" | undefined>();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const { isOut, person } = useSignIn();
  useMe();
  useLive("counts", ({ event, data }) => {
    if (event === "counts") queries.setQueryData(countsQuery().queryKey, data as never);
  });
  const close = () => setOver(undefined);
  useKeys("Everywhere", [
    { key: "Ctrl k", says: "Search or jump to", run: () => setOver(over === "palette" ? undefined : "palette") },
    ...SECTIONS.map((one) => ({ key: `g ${one.letter}`, says: `Go to ${one.word}`, run: () => go(one.to) })),
    { key: "?", says: "Show this list", run: () => setOver("keys") },
  ]);
  return (
    <div className={styles["shell"]}>
      <a href="#main" className={styles["skip"]} onClick={(event) => {
        event.preventDefault();
        document.getElementById("main")?.focus();
      }}>
        Skip to content
      </a>
      <TopBar onSearch={() => setOver("palette")} />
      <ConnectionLine />
      <main id="main" className={styles["main"]} tabIndex={-1}>
        <BusyLine />
        {/* What a person was writing stays until another one signs in. */}
        <Fragment key={person}>{children}</Fragment>
      </main>
      <Suspense fallback={null}>
        {isOut && <SignIn />}
        {over === "palette" && <Palette open onClose={close} onKeys={() => setOver("keys")} />}
        {over === "keys" && <KeyList open onClose={close} />}
      </Suspense>
      <Toasts />
    </div>
  );
}
