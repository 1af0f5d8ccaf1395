/** Browsers that are signed in. Everyone sees their own; those of others need `keys:manage`. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { changeOwnPassword, endOtherSessions, endSession, type Session, sessionsQuery } from "../api/admin";
import { saying } from "../api/client";
import { signOut } from "../api/login";
import { useMay, useMe } from "../api/session";
import { ActDialog, useActing } from "../parts/act";
import { Button } from "../parts/button";
import { SelectField, TextField } from "../parts/field";
import { Empty } from "../parts/states";
import { Time } from "../parts/time";
import { toast } from "../parts/toast";
import { usePlace } from "../shell/place";
import { browserOf } from "./agent";
import styles from "./admin.module.css";
import { Listed, Named, useChanged } from "./listed";

const VIA: Readonly<Record<string, string>> = { password: "Password", key: "API key", oidc: "Identity provider" };

export default function Sessions() {
  const place = usePlace();
  const me = useMe();
  const changed = useChanged();
  const mayAll = useMay()("list_users");
  const [asked, setAsked] = useState<"password" | "everywhere" | null>(null);
  const [ending, setEnding] = useState<string | null>(null);
  const all = mayAll && place.get("of") === "all";
  const pages = useInfiniteQuery(sessionsQuery(all));
  const end = async (one: Session) => {
    setEnding(one.id);
    try {
      if (one.current) return await signOut();
      await endSession(one.id);
      toast(`The session of ${one.name} has ended`);
      await changed();
    } catch (error) {
      toast(saying(error), { tone: "fail" });
    } finally {
      setEnding(null);
    }
  };
  const own = pages.data?.pages.flatMap((page) => page.data).find((one) => one.current);
  return (
    <>
      <div className={styles["lead"]}>
        <p>Browsers that are signed in. A session ends 12 hours after it began, or after 30 minutes without a request.</p>
        <div className={styles["verbs"]}>
          {own?.via === "password" && <Button onClick={() => setAsked("password")}>Change my password…</Button>}
          {own && <Button onClick={() => setAsked("everywhere")}>Sign out everywhere…</Button>}
          {mayAll && (
            <SelectField bare label="Whose sessions" value={all ? "all" : ""} onChange={(event) => place.set({ of: event.currentTarget.value || null })}>
              <option value="">My sessions</option>
              <option value="all">Those of everyone</option>
            </SelectField>
          )}
        </div>
      </div>
      <Listed
        pages={pages}
        what="sessions"
        heads={["Browser", "Who", "Signed in by", "Address", "Since", "Last request", "Ends"]}
        idOf={(one) => one.id}
        cells={(one) => [
          <Named key="agent" name={browserOf(one.agent)}>
            {one.current ? "this browser" : (one.address ?? "")}
          </Named>,
          one.name,
          VIA[one.via] ?? one.via,
          one.address,
          <Time key="since" at={one.inserted_at} />,
          <Time key="seen" at={one.seen_at} />,
          <Time key="ends" at={one.expires_at} />,
        ]}
        verbs={(one) => (
          <Button disabled={ending === one.id} onClick={() => void end(one)}>
            {one.current ? "Sign out" : "End it"}
          </Button>
        )}
        empty={
          <Empty title="No session">
            <p>{me?.authenticated ? "This caller has no session: it sends its key or token with every request." : "This server does not ask who calls."}</p>
          </Empty>
        }
      />
      {asked === "password" && <PasswordDialog onClose={() => setAsked(null)} />}
      {asked === "everywhere" && <EverywhereDialog onClose={() => setAsked(null)} />}
    </>
  );
}

function EverywhereDialog({ onClose }: { onClose: () => void }) {
  const acting = useActing();
  const leave = () =>
    void acting.run(async () => {
      await endOtherSessions();
      await signOut();
    });
  return (
    <ActDialog title="Sign out everywhere?" word="Sign out everywhere" acting={acting} onClose={onClose} onDo={leave}>
      <p>Every browser in which you are signed in has to sign in again, this one too. API keys and runs go on as they are.</p>
    </ActDialog>
  );
}

function PasswordDialog({ onClose }: { onClose: () => void }) {
  const acting = useActing();
  const [old, setOld] = useState("");
  const [next, setNext] = useState("");
  const save = async () => {
    if (await acting.run(() => changeOwnPassword(old, next))) onClose();
  };
  return (
    <ActDialog title="Change my password" word="Change it" leave="Cancel" acting={acting} disabled={old === "" || next.length < 12} onClose={onClose} onDo={() => void save()}>
      <div className={styles["form"]}>
        <TextField label="Password until now" type="password" autoComplete="current-password" value={old} onChange={(event) => setOld(event.currentTarget.value)} />
        <TextField label="New password" type="password" autoComplete="new-password" hint="At least 12 characters. All your sessions end, this one too: sign in again with it." value={next} onChange={(event) => setNext(event.currentTarget.value)} />
      </div>
    </ActDialog>
  );
}
