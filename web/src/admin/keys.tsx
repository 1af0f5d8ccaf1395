/** API keys: made, rotated and revoked. The text of a key is shown once. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Ban, Plus, RotateCw } from "lucide-react";
import { useState } from "react";
import { createKey, type Key, keysQuery, type MadeKey, type NewKey, revokeKey, rotateKey } from "../api/admin";
import { SCOPES } from "../api/policy";
import { now } from "../api/session";
import { several } from "../look/numbers";
import { DAY } from "../look/time";
import { ActDialog, useActing } from "../parts/act";
import { Button } from "../parts/button";
import { CopyButton } from "../parts/copy";
import { Dialog } from "../parts/dialog";
import { SelectField, TextField, Tick } from "../parts/field";
import { Notice } from "../parts/notice";
import { Empty, Snippet } from "../parts/states";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { toast } from "../parts/toast";
import styles from "./admin.module.css";
import { Listed, Named, useChanged, wordsOf } from "./listed";
import { RoleField } from "./people";

type Open = { verb: "create" } | { verb: "rotate" | "revoke"; key: Key };

/** Whether requests with it are answered. */
function isValid(key: Key): boolean {
  return key.status === "active" || key.status === "rotated";
}

export default function Keys() {
  const [open, setOpen] = useState<Open | null>(null);
  const [made, setMade] = useState<MadeKey | null>(null);
  const pages = useInfiniteQuery(keysQuery());
  const close = () => setOpen(null);
  return (
    <>
      <div className={styles["lead"]}>
        <p>Programs send a key with every request. Give each program a key of its own, with no more than it needs.</p>
        <Button kind="primary" needs="create_key" onClick={() => setOpen({ verb: "create" })}>
          <Plus className="icon" aria-hidden />
          Create a key…
        </Button>
      </div>
      <Listed
        pages={pages}
        what="keys"
        heads={["Key", "May", "State", "Starts only", "Last used", "Expires", "Created"]}
        idOf={(one) => one.id}
        isPale={(one) => !isValid(one)}
        cells={(one) => [
          <Named key="name" name={one.name}>
            <code>dk_{one.id}_…</code>
          </Named>,
          one.role ?? <span title={one.scopes.join("\n")}>{several(one.scopes.length, "scope")}</span>,
          <Status key="state" of={one.status} quiet />,
          one.workflows === null ? "" : <span title={one.workflows.join("\n")}>{one.workflows.length > 1 ? several(one.workflows.length, "workflow") : one.workflows[0]}</span>,
          one.used_at ? <Time at={one.used_at} /> : "never",
          one.revoked_at ? <Time at={one.revoked_at} /> : one.expires_at ? <Time at={one.expires_at} /> : "never",
          <span key="made" title={`by ${one.created_by}`}>
            <Time at={one.created_at} />
          </span>,
        ]}
        verbs={(one) =>
          isValid(one) && (
            <>
              {one.status === "active" && (
                <Button square needs="rotate_key" aria-label={`Rotate ${one.name}…`} title="Rotate" onClick={() => setOpen({ verb: "rotate", key: one })}>
                  <RotateCw className="icon" aria-hidden />
                </Button>
              )}
              <Button square needs="revoke_key" aria-label={`Revoke ${one.name}…`} title="Revoke" onClick={() => setOpen({ verb: "revoke", key: one })}>
                <Ban className="icon" aria-hidden />
              </Button>
            </>
          )
        }
        empty={
          <Empty title="No key yet">
            <Snippet label="Make one on the command line">detent keys create ci --role operator</Snippet>
          </Empty>
        }
      />
      {open?.verb === "create" && <CreateDialog onClose={close} onMade={setMade} />}
      {open?.verb === "rotate" && <RotateDialog of={open.key} onClose={close} onMade={setMade} />}
      {open?.verb === "revoke" && <RevokeDialog of={open.key} onClose={close} />}
      {made && <MadeDialog made={made} onClose={() => setMade(null)} />}
    </>
  );
}

const LIVES: readonly [string, string][] = [
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
  ["", "Never"],
];

function CreateDialog({ onClose, onMade }: { onClose: () => void; onMade: (made: MadeKey) => void }) {
  const acting = useActing();
  const changed = useChanged();
  const [name, setName] = useState("");
  const [by, setBy] = useState("role");
  const [role, setRole] = useState("operator");
  const [scopes, setScopes] = useState<readonly string[]>(["workflows:execute"]);
  const [workflows, setWorkflows] = useState("");
  const [days, setDays] = useState("90");
  const create = async () => {
    const key: NewKey = { name: name.trim(), ...(by === "role" ? { role } : { scopes: [...scopes] }) };
    if (wordsOf(workflows).length > 0) key.workflows = wordsOf(workflows);
    if (days) key.expires_at = new Date(now() + Number(days) * DAY).toISOString();
    let made: MadeKey | undefined;
    const done = await acting.run(async () => {
      made = await createKey(key);
    });
    if (!done || !made) return;
    onClose();
    onMade(made);
    await changed();
  };
  return (
    <ActDialog title="Create a key" word="Create it" leave="Cancel" acting={acting} disabled={name.trim() === "" || (by === "scopes" && scopes.length === 0)} onClose={onClose} onDo={() => void create()}>
      <div className={styles["form"]}>
        <TextField label="Name" autoComplete="off" spellCheck={false} hint="Which program uses it: it is in the audit and in journals." value={name} onChange={(event) => setName(event.currentTarget.value)} />
        <div className={styles["two"]}>
          <SelectField label="What it may do" value={by} onChange={(event) => setBy(event.currentTarget.value)}>
            <option value="role">As a role</option>
            <option value="scopes">Single scopes</option>
          </SelectField>
          <SelectField label="Expires" value={days} onChange={(event) => setDays(event.currentTarget.value)}>
            {LIVES.map(([value, word]) => (
              <option key={value} value={value}>
                {word}
              </option>
            ))}
          </SelectField>
        </div>
        {by === "role" ? (
          <RoleField role={role} onRole={setRole} />
        ) : (
          <fieldset className={styles["scopes"]}>
            <legend>Scopes</legend>
            {SCOPES.map((one) => (
              <Tick key={one} label={<code>{one}</code>} checked={scopes.includes(one)} onTick={(on) => setScopes(on ? [...scopes, one] : scopes.filter((other) => other !== one))} />
            ))}
          </fieldset>
        )}
        <TextField label="Workflows that it may start" autoComplete="off" spellCheck={false} placeholder="all" hint="Names, with spaces between. Left empty, it may start all." value={workflows} onChange={(event) => setWorkflows(event.currentTarget.value)} />
      </div>
    </ActDialog>
  );
}

function RotateDialog({ of, onClose, onMade }: { of: Key; onClose: () => void; onMade: (made: MadeKey) => void }) {
  const acting = useActing();
  const changed = useChanged();
  const rotate = async () => {
    let made: MadeKey | undefined;
    const done = await acting.run(async () => {
      made = await rotateKey(of.id);
    });
    if (!done || !made) return;
    onClose();
    onMade(made);
    await changed();
  };
  return (
    <ActDialog title={`Rotate ${of.name}?`} word="Rotate it" acting={acting} onClose={onClose} onDo={() => void rotate()}>
      <p>
        A new key with the same name and scopes is made. The old one, <code>dk_{of.id}_…</code>, works for one more day, so that its program can change over.
      </p>
    </ActDialog>
  );
}

function RevokeDialog({ of, onClose }: { of: Key; onClose: () => void }) {
  const acting = useActing();
  const changed = useChanged();
  const revoke = async () => {
    if (!(await acting.run(() => revokeKey(of.id)))) return;
    toast(`${of.name} is revoked`);
    onClose();
    await changed();
  };
  return (
    <ActDialog danger title={`Revoke ${of.name}?`} word="Revoke it" acting={acting} onClose={onClose} onDo={() => void revoke()}>
      <p>
        Requests with <code>dk_{of.id}_…</code> are refused within two seconds, on every node. Its sessions end. Runs that it started go on. This cannot be undone.
      </p>
    </ActDialog>
  );
}

/** The only time that the text of a key is shown. */
export function MadeDialog({ made, onClose }: { made: MadeKey; onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      title={`The key ${made.name}`}
      actions={
        <Button kind="primary" onClick={onClose}>
          I have stored it
        </Button>
      }
    >
      <div className={styles["form"]}>
        <Notice tone="hold">Copy it now. It is shown once: the database has only its hash.</Notice>
        <p className={styles["made"]}>
          <code>{made.key}</code>
          <CopyButton text={made.key} what="the key" />
        </p>
        <Snippet label="Send it with each request">{`curl -H "Authorization: Bearer $DETENT_KEY" ${location.origin}/api/v1/me`}</Snippet>
      </div>
    </Dialog>
  );
}
