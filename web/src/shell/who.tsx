/** Who is signed in: behind a button in the bar. Where the server does not ask who calls, there is none. */
import { CircleUserRound } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { useMe } from "../api/session";
import { useSignIn } from "../api/sign_in";
import { Button } from "../parts/button";
import styles from "./who.module.css";

const load = () => import("./who_menu");
const WhoMenu = lazy(load);

export function Who() {
  const me = useMe();
  // Who signs in again has not asked for the menu.
  const { era } = useSignIn();
  const [wanted, setWanted] = useState(-1);
  if (!me?.authenticated) return null;
  const name = me.caller.display_name ?? me.caller.name;
  const button = (
    <Button kind="ghost" className={styles["who"] ?? ""} aria-label={`You are ${name}`} aria-haspopup="menu" onPointerEnter={() => void load()} onFocus={() => void load()} onClick={() => setWanted(era)}>
      <CircleUserRound className="icon" aria-hidden />
      <span>{name}</span>
    </Button>
  );
  if (wanted !== era) return button;
  return (
    <Suspense fallback={button}>
      <WhoMenu me={me} button={button} />
    </Suspense>
  );
}
