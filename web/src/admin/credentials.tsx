/** Credentials: how Detent proves itself to other systems. Those of OAuth are connected by a person. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link2, Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { connectCredential, type Credential, credentialsQuery, deleteCredential, setCredential } from "../api/admin";
import { ActDialog, useActing } from "../parts/act";
import { Button } from "../parts/button";
import { SelectField, TextField } from "../parts/field";
import { Notice } from "../parts/notice";
import { Empty, Snippet } from "../parts/states";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { toast } from "../parts/toast";
import { usePlace } from "../shell/place";
import styles from "./admin.module.css";
import { documentOf, KINDS, kindOf } from "./kinds";
import { Listed, Named, useChanged } from "./listed";

type Open = { verb: "set"; credential: Credential | null } | { verb: "connect" | "delete"; credential: Credential };

export default function Credentials() {
  const place = usePlace();
  const [open, setOpen] = useState<Open | null>(null);
  const pages = useInfiniteQuery(credentialsQuery());
  const wanted = place.get("credential");
  const close = () => setOpen(null);
  return (
    <>
      <div className={styles["lead"]}>
        <p>Connectors and steps name a credential; Detent adds it to their requests, renews its tokens, and sends it to its own hosts only.</p>
        <Button kind="primary" needs="set_credential" onClick={() => setOpen({ verb: "set", credential: null })}>
          <Plus className="icon" aria-hidden />
          Set a credential…
        </Button>
      </div>
      <Listed
        pages={pages}
        what="credentials"
        heads={["Credential", "State", "Kind", "Sent to", "Token until", "Changed", "By"]}
        idOf={(one) => one.name}
        cells={(one) => [
          <Named key="name" name={one.name}>
            {one.state === "reconnect" && <span className={styles["bad"]}>{one.reason ?? "Its grant is dead"}</span>}
          </Named>,
          <Status key="state" of={one.state} quiet />,
          kindOf(one.kind).word,
          one.hosts.join(", "),
          one.state === "ready" && one.expires_at ? <Time at={one.expires_at} /> : "",
          <Time key="changed" at={one.updated_at} />,
          one.updated_by,
        ]}
        verbs={(one) => (
          <>
            {one.kind === "oauth2_code" && (
              <Button kind={one.state === "ready" ? "plain" : "primary"} needs="connect_credential" aria-current={wanted === one.name ? "true" : undefined} onClick={() => setOpen({ verb: "connect", credential: one })}>
                <Link2 className="icon" aria-hidden />
                {one.state === "new" ? "Connect…" : "Reconnect…"}
              </Button>
            )}
            <Button square needs="set_credential" aria-label={`Set ${one.name} again…`} title="Set it again" onClick={() => setOpen({ verb: "set", credential: one })}>
              <Pencil className="icon" aria-hidden />
            </Button>
            <Button square needs="delete_credential" aria-label={`Delete ${one.name}…`} title="Delete" onClick={() => setOpen({ verb: "delete", credential: one })}>
              <Trash2 className="icon" aria-hidden />
            </Button>
          </>
        )}
        empty={
          <Empty title="No credential yet">
            <Snippet label="Set one on the command line">detent credentials set crm --kind token --host crm.example.com</Snippet>
          </Empty>
        }
      />
      {open?.verb === "set" && <SetDialog of={open.credential} onClose={close} />}
      {open?.verb === "connect" && <ConnectDialog of={open.credential} onClose={close} />}
      {open?.verb === "delete" && <DeleteDialog of={open.credential} onClose={close} />}
    </>
  );
}

function SetDialog({ of, onClose }: { of: Credential | null; onClose: () => void }) {
  const acting = useActing();
  const changed = useChanged();
  const [name, setName] = useState(of?.name ?? "");
  const [kind, setKind] = useState(of?.kind ?? "token");
  const [values, setValues] = useState<Readonly<Record<string, string>>>(() => ({ ...kindOf(of?.kind ?? "token").shown(of?.config ?? {}), hosts: of?.hosts.join(" ") ?? "" }));
  const { parts } = kindOf(kind);
  const put = (part: string) => (event: React.ChangeEvent<HTMLInputElement>) => setValues({ ...values, [part]: event.currentTarget.value });
  const isReady = name.trim() !== "" && parts.every((one) => one.optional || (values[one.name] ?? "").trim() !== "");
  const save = async () => {
    let set: Credential | undefined;
    const done = await acting.run(async () => {
      set = await setCredential(name.trim(), documentOf(kind, values));
    });
    if (!done || !set) return;
    toast(set.state === "new" ? `${set.name} is set. Connect it now` : `${set.name} is ready`);
    onClose();
    await changed();
  };
  return (
    <ActDialog title={of ? `Set ${of.name} again` : "Set a credential"} word="Set it" leave="Cancel" acting={acting} disabled={!isReady} onClose={onClose} onDo={() => void save()}>
      <div className={styles["form"]}>
        {!of && <TextField label="Name" autoComplete="off" spellCheck={false} hint="The id of a connector, or what steps call it." value={name} onChange={(event) => setName(event.currentTarget.value)} />}
        <SelectField label="Kind" value={kind} hint={kindOf(kind).says} onChange={(event) => setKind(event.currentTarget.value)}>
          {KINDS.map((one) => (
            <option key={one.name} value={one.name}>
              {one.word}
            </option>
          ))}
        </SelectField>
        {parts.map((one) => (
          <TextField
            key={one.name}
            label={one.optional ? `${one.word} (if any)` : one.word}
            type={one.sealed ? "password" : "text"}
            autoComplete="off"
            spellCheck={false}
            placeholder={one.example}
            value={values[one.name] ?? ""}
            onChange={put(one.name)}
          />
        ))}
        <TextField label="Hosts that it may be sent to" autoComplete="off" spellCheck={false} placeholder="crm.example.com" hint="Names, with spaces between. Left empty, the host of the connector of that name." value={values["hosts"] ?? ""} onChange={put("hosts")} />
        {of && <Notice>What is sealed does not come back: write it again.</Notice>}
      </div>
    </ActDialog>
  );
}

function ConnectDialog({ of, onClose }: { of: Credential; onClose: () => void }) {
  const acting = useActing();
  const go = () =>
    void acting.run(async () => {
      const { url } = await connectCredential(of.name);
      location.assign(url);
    });
  return (
    <ActDialog title={`${of.state === "new" ? "Connect" : "Reconnect"} ${of.name}`} word="Go to the provider" leave="Cancel" acting={acting} onClose={onClose} onDo={go}>
      {of.reason && <Notice tone="fail">{of.reason}</Notice>}
      <p>
        The provider asks whether Detent may use the account, and sends you back. Runs that wait for <b>{of.name}</b> then go on by themselves.
      </p>
    </ActDialog>
  );
}

function DeleteDialog({ of, onClose }: { of: Credential; onClose: () => void }) {
  const acting = useActing();
  const changed = useChanged();
  const remove = async () => {
    if (!(await acting.run(() => deleteCredential(of.name)))) return;
    toast(`${of.name} is deleted`);
    onClose();
    await changed();
  };
  return (
    <ActDialog danger title={`Delete ${of.name}?`} word="Delete it" acting={acting} onClose={onClose} onDo={() => void remove()}>
      <p>Steps that name it fail from now on. A connector of that name uses the environment again.</p>
    </ActDialog>
  );
}
