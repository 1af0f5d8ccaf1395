/** Secrets: their names, and where they may be sent. Nothing shows a value. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { deleteSecret, type Secret, secretsQuery, setSecret } from "../api/admin";
import { ActDialog, useActing } from "../parts/act";
import { Button } from "../parts/button";
import { TextField } from "../parts/field";
import { Empty, Snippet } from "../parts/states";
import { Time } from "../parts/time";
import { toast } from "../parts/toast";
import styles from "./admin.module.css";
import { Listed, Named, useChanged, wordsOf } from "./listed";

const SHORTEST = 8;

type Open = { verb: "set"; secret: Secret | null } | { verb: "delete"; secret: Secret };

export default function Secrets() {
  const [open, setOpen] = useState<Open | null>(null);
  const pages = useInfiniteQuery(secretsQuery());
  const close = () => setOpen(null);
  return (
    <>
      <div className={styles["lead"]}>
        <p>
          Steps send a secret as <code>{"{{secrets.NAME}}"}</code>. Its value is sealed in the database, opened at the moment it is sent, and removed from what comes back.
        </p>
        <Button kind="primary" needs="set_secret" onClick={() => setOpen({ verb: "set", secret: null })}>
          <Plus className="icon" aria-hidden />
          Set a secret…
        </Button>
      </div>
      <Listed
        pages={pages}
        what="secrets"
        heads={["Secret", "Sent to", "Version", "Changed", "By"]}
        idOf={(one) => one.name}
        cells={(one) => [
          <Named key="name" name={<code>{one.name}</code>} />,
          one.hosts.length > 0 ? one.hosts.join(", ") : "every host",
          one.version,
          <Time key="changed" at={one.updated_at} />,
          one.updated_by,
        ]}
        verbs={(one) => (
          <>
            <Button square needs="set_secret" aria-label={`Set ${one.name} again…`} title="Set a new value" onClick={() => setOpen({ verb: "set", secret: one })}>
              <Pencil className="icon" aria-hidden />
            </Button>
            <Button square needs="delete_secret" aria-label={`Delete ${one.name}…`} title="Delete" onClick={() => setOpen({ verb: "delete", secret: one })}>
              <Trash2 className="icon" aria-hidden />
            </Button>
          </>
        )}
        empty={
          <Empty title="No secret yet">
            <Snippet label="Set one on the command line">detent secrets set STRIPE_KEY --host api.stripe.com</Snippet>
          </Empty>
        }
      />
      {open?.verb === "set" && <SetDialog of={open.secret} onClose={close} />}
      {open?.verb === "delete" && <DeleteDialog of={open.secret} onClose={close} />}
    </>
  );
}

function SetDialog({ of, onClose }: { of: Secret | null; onClose: () => void }) {
  const acting = useActing();
  const changed = useChanged();
  const [name, setName] = useState(of?.name ?? "");
  const [value, setValue] = useState("");
  const [hosts, setHosts] = useState(of?.hosts.join(" ") ?? "");
  const isShort = value !== "" && new TextEncoder().encode(value).length < SHORTEST;
  const save = async () => {
    if (!(await acting.run(() => setSecret(name.trim(), value, wordsOf(hosts))))) return;
    toast(of ? `${of.name} has a new value` : `${name.trim()} is set`);
    onClose();
    await changed();
  };
  return (
    <ActDialog title={of ? `Set ${of.name} again` : "Set a secret"} word="Set it" leave="Cancel" acting={acting} disabled={name.trim() === "" || value === "" || isShort} onClose={onClose} onDo={() => void save()}>
      <div className={styles["form"]}>
        {!of && <TextField label="Name" autoComplete="off" autoCapitalize="characters" spellCheck={false} placeholder="STRIPE_KEY" value={name} onChange={(event) => setName(event.currentTarget.value)} />}
        <TextField
          label={of ? "New value" : "Value"}
          type="password"
          autoComplete="off"
          value={value}
          problem={isShort ? `At least ${SHORTEST} bytes: a shorter one cannot be found in answers and removed` : null}
          hint={of ? "Runs send it from their next attempt on." : "No person and no program can read it again."}
          onChange={(event) => setValue(event.currentTarget.value)}
        />
        <TextField label="Hosts that it may be sent to" autoComplete="off" spellCheck={false} placeholder="every host" hint="Names, with spaces between. Without them an editor can send it anywhere." value={hosts} onChange={(event) => setHosts(event.currentTarget.value)} />
      </div>
    </ActDialog>
  );
}

function DeleteDialog({ of, onClose }: { of: Secret; onClose: () => void }) {
  const acting = useActing();
  const changed = useChanged();
  const remove = async () => {
    if (!(await acting.run(() => deleteSecret(of.name)))) return;
    toast(`${of.name} is deleted`);
    onClose();
    await changed();
  };
  return (
    <ActDialog danger title={`Delete ${of.name}?`} word="Delete it" acting={acting} onClose={onClose} onDo={() => void remove()}>
      <p>Steps that send it fail from now on. Its value is gone: nothing can bring it back.</p>
    </ActDialog>
  );
}
