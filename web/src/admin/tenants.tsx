/** Tenants: teams that share this installation and see nothing of each other. Only an instance admin has this view. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Building, Download, Key, Pause, Play, SlidersHorizontal, Trash2 } from "lucide-react";
import { useState } from "react";
import { changeTenant, createKey, createTenant, deleteTenant, limitTenant, type MadeKey, type Tenant, type TenantLimits, tenantExport, tenantsQuery } from "../api/admin";
import { useMe } from "../api/session";
import { several } from "../look/numbers";
import { ActDialog, useActing } from "../parts/act";
import { Button } from "../parts/button";
import { download } from "../parts/download";
import { TextField } from "../parts/field";
import { Notice } from "../parts/notice";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { toast } from "../parts/toast";
import styles from "./admin.module.css";
import { MadeDialog } from "./keys";
import { Listed, Named, useChanged, wordsOf } from "./listed";

/** The first tenant, which every installation has. */
const FIRST = "default";
const NAME = /^[a-z][a-z0-9-]{0,62}$/;

type Verb = "key" | "limits" | "suspend" | "resume" | "delete";
type Open = { verb: "create" } | { verb: Verb; tenant: Tenant };

export default function Tenants() {
  const me = useMe();
  const [open, setOpen] = useState<Open | null>(null);
  const [made, setMade] = useState<MadeKey | null>(null);
  const pages = useInfiniteQuery(tenantsQuery());
  const close = () => setOpen(null);
  const own = me?.caller.tenant;
  return (
    <>
      <div className={styles["lead"]}>
        <p>Each tenant has workflows, runs, keys, people and secrets of its own, and sees nothing of the others. You need a second one only if several teams share this installation.</p>
        <Button kind="primary" needs="create_tenant" onClick={() => setOpen({ verb: "create" })}>
          <Building className="icon" aria-hidden />
          Create a tenant…
        </Button>
      </div>
      <Listed
        pages={pages}
        what="tenants"
        heads={["Tenant", "State", "May also use", "May reach", "Keeps runs for", "Created"]}
        idOf={(one) => one.name}
        isPale={(one) => one.status === "suspended"}
        cells={(one) => [
          <Named key="name" name={one.name}>
            {one.name === own ? "yours" : one.name === FIRST ? "every installation has it" : null}
          </Named>,
          <Status key="state" of={one.status} quiet />,
          one.actions ? <Words key="actions" words={one.actions} unit="action" /> : one.name === FIRST ? "everything" : "nothing more",
          one.egress ? <Words key="egress" words={one.egress} unit="host" /> : "as the installation",
          one.retention_days === null ? "as the installation" : several(one.retention_days, "day"),
          one.created_at ? <Time at={one.created_at} /> : "with the installation",
        ]}
        verbs={(one) => <Verbs tenant={one} isFixed={one.name === FIRST || one.name === own} onOpen={(verb) => setOpen({ verb, tenant: one })} />}
        empty={null}
      />
      {open?.verb === "create" && <CreateDialog onClose={close} onCreated={(tenant) => setOpen({ verb: "key", tenant })} />}
      {open?.verb === "key" && <KeyDialog of={open.tenant} onClose={close} onMade={setMade} />}
      {open?.verb === "limits" && <LimitsDialog of={open.tenant} onClose={close} />}
      {open?.verb === "suspend" && <SuspendDialog of={open.tenant} onClose={close} />}
      {open?.verb === "resume" && <ResumeDialog of={open.tenant} onClose={close} />}
      {open?.verb === "delete" && <DeleteDialog of={open.tenant} onClose={close} />}
      {made && <MadeDialog made={made} onClose={() => setMade(null)} />}
    </>
  );
}

/** What can be done to a tenant. The first one and that of the caller are fixed: nothing suspends or deletes them. */
function Verbs({ tenant, isFixed, onOpen }: { tenant: Tenant; isFixed: boolean; onOpen: (verb: Verb) => void }) {
  const { name } = tenant;
  const isSuspended = tenant.status === "suspended";
  return (
    <>
      {!isSuspended && (
        <Button square needs="create_key" aria-label={`Create a key of ${name}…`} title="Create a key of it" onClick={() => onOpen("key")}>
          <Key className="icon" aria-hidden />
        </Button>
      )}
      <Button square needs="change_tenant" aria-label={`Limits of ${name}…`} title="What it may do" onClick={() => onOpen("limits")}>
        <SlidersHorizontal className="icon" aria-hidden />
      </Button>
      <Button square needs="export_tenant" aria-label={`Export ${name}`} title="Export everything it has" onClick={() => download(tenantExport(name), `${name}.jsonl`)}>
        <Download className="icon" aria-hidden />
      </Button>
      {!isFixed && !isSuspended && (
        <Button square needs="suspend_tenant" aria-label={`Suspend ${name}…`} title="Suspend" onClick={() => onOpen("suspend")}>
          <Pause className="icon" aria-hidden />
        </Button>
      )}
      {!isFixed && isSuspended && (
        <>
          <Button square needs="resume_tenant" aria-label={`Resume ${name}…`} title="Resume" onClick={() => onOpen("resume")}>
            <Play className="icon" aria-hidden />
          </Button>
          <Button square needs="delete_tenant" aria-label={`Delete ${name}…`} title="Delete" onClick={() => onOpen("delete")}>
            <Trash2 className="icon" aria-hidden />
          </Button>
        </>
      )}
    </>
  );
}

function CreateDialog({ onClose, onCreated }: { onClose: () => void; onCreated: (tenant: Tenant) => void }) {
  const acting = useActing();
  const changed = useChanged();
  const [name, setName] = useState("");
  const isOdd = name !== "" && !NAME.test(name);
  const create = async () => {
    let tenant: Tenant | undefined;
    const done = await acting.run(async () => {
      tenant = await createTenant(name);
    });
    if (!done || !tenant) return;
    toast(`The tenant ${tenant.name} is created`);
    onCreated(tenant);
    await changed();
  };
  return (
    <ActDialog title="Create a tenant" word="Create it" leave="Cancel" acting={acting} disabled={name === "" || isOdd} onClose={onClose} onDo={() => void create()}>
      <TextField
        label="Name"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        maxLength={63}
        placeholder="acme"
        hint="It stays: a tenant cannot be renamed."
        problem={isOdd ? "Small letters, digits and -, and a letter first" : null}
        value={name}
        onChange={(event) => setName(event.currentTarget.value.trim())}
      />
    </ActDialog>
  );
}

/** The first key of a tenant: with it the people of the tenant make all others. */
function KeyDialog({ of, onClose, onMade }: { of: Tenant; onClose: () => void; onMade: (made: MadeKey) => void }) {
  const acting = useActing();
  const [name, setName] = useState(`${of.name}-admin`);
  const create = async () => {
    let made: MadeKey | undefined;
    const done = await acting.run(async () => {
      made = await createKey({ name: name.trim(), role: "admin", tenant: of.name });
    });
    if (!done || !made) return;
    onClose();
    onMade(made);
  };
  return (
    <ActDialog title={`Create a key of ${of.name}`} word="Create it" leave="Not now" acting={acting} disabled={name.trim() === ""} onClose={onClose} onDo={() => void create()}>
      <div className={styles["form"]}>
        <p>
          Nothing of <b>{of.name}</b> can be seen from here. Give its people a key of the role admin: with it they sign in, and make keys and people of their own.
        </p>
        <TextField label="Name of the key" autoComplete="off" spellCheck={false} value={name} onChange={(event) => setName(event.currentTarget.value)} />
      </div>
    </ActDialog>
  );
}

/** A short list as it is, a long one as its length. */
function Words({ words, unit }: { words: readonly string[]; unit: string }) {
  if (words.length === 0) return "nothing";
  return words.length > 2 ? <span title={words.join("\n")}>{several(words.length, unit)}</span> : words.join(", ");
}

function LimitsDialog({ of, onClose }: { of: Tenant; onClose: () => void }) {
  const acting = useActing();
  const changed = useChanged();
  const first = { actions: of.actions?.join(" ") ?? "", egress: of.egress?.join(" ") ?? "", days: of.retention_days?.toString() ?? "" };
  const [text, setText] = useState(first);
  const put = (name: keyof typeof first) => (event: React.ChangeEvent<HTMLInputElement>) => setText({ ...text, [name]: event.currentTarget.value });
  const isOdd = text.days.trim() !== "" && !/^[1-9]\d{0,3}$/.test(text.days.trim());
  const save = async () => {
    // Only what was changed is sent: an empty list and no list look the same here.
    const limits: Partial<TenantLimits> = {};
    if (text.actions !== first.actions) limits.actions = wordsOf(text.actions).length > 0 ? wordsOf(text.actions) : null;
    if (text.egress !== first.egress) limits.egress = wordsOf(text.egress).length > 0 ? wordsOf(text.egress) : null;
    if (text.days !== first.days) limits.retention_days = text.days.trim() ? Number(text.days) : null;
    if (!(await acting.run(() => limitTenant(of.name, limits)))) return;
    toast(`The limits of ${of.name} are changed`);
    onClose();
    await changed();
  };
  return (
    <ActDialog title={`What ${of.name} may do`} word="Save" leave="Cancel" acting={acting} disabled={isOdd} onClose={onClose} onDo={() => void save()}>
      <div className={styles["form"]}>
        <TextField
          label="Actions that it may also use"
          autoComplete="off"
          spellCheck={false}
          placeholder={of.name === FIRST ? "everything" : "nothing more"}
          hint="Names and patterns, with spaces between: billing.charge slack.* workflow:Invoice connection:reports. Core actions, http steps and its own connectors need no line."
          value={text.actions}
          onChange={put("actions")}
        />
        <TextField label="Hosts that its steps may reach" autoComplete="off" spellCheck={false} placeholder="as the installation" hint="Names and networks. What the installation forbids stays forbidden." value={text.egress} onChange={put("egress")} />
        <TextField label="Days for which its ended runs are kept" autoComplete="off" inputMode="numeric" placeholder="as the installation" problem={isOdd ? "A whole number of days, or nothing" : null} value={text.days} onChange={put("days")} />
      </div>
    </ActDialog>
  );
}

function SuspendDialog({ of, onClose }: { of: Tenant; onClose: () => void }) {
  const acting = useActing();
  const changed = useChanged();
  const suspend = async () => {
    if (!(await acting.run(() => changeTenant(of.name, "suspend")))) return;
    toast(`${of.name} is suspended`);
    onClose();
    await changed();
  };
  return (
    <ActDialog danger title={`Suspend ${of.name}?`} word="Suspend it" acting={acting} onClose={onClose} onDo={() => void suspend()}>
      <p>Its people and programs are refused within two seconds, and its triggers do not fire. Runs that have begun go on to their end. It can be resumed at any time.</p>
    </ActDialog>
  );
}

function ResumeDialog({ of, onClose }: { of: Tenant; onClose: () => void }) {
  const acting = useActing();
  const changed = useChanged();
  const resume = async () => {
    if (!(await acting.run(() => changeTenant(of.name, "resume")))) return;
    toast(`${of.name} goes on`);
    onClose();
    await changed();
  };
  return (
    <ActDialog title={`Resume ${of.name}?`} word="Resume it" acting={acting} onClose={onClose} onDo={() => void resume()}>
      <p>Its people and programs can ask again, and its triggers fire. Schedules that missed slots do what their rule for missed slots says.</p>
    </ActDialog>
  );
}

function DeleteDialog({ of, onClose }: { of: Tenant; onClose: () => void }) {
  const acting = useActing();
  const changed = useChanged();
  const [again, setAgain] = useState("");
  const remove = async () => {
    let count = 0;
    const done = await acting.run(async () => {
      count = (await deleteTenant(of.name, again)).deleted;
    });
    if (!done) return;
    toast(`${of.name} is deleted: ${several(count, "row")}`);
    onClose();
    await changed();
  };
  return (
    <ActDialog danger title={`Delete ${of.name}?`} word="Delete it for good" acting={acting} disabled={again !== of.name} onClose={onClose} onDo={() => void remove()}>
      <div className={styles["form"]}>
        <Notice tone="hold">Everything it has is deleted: workflows, runs, keys, people, secrets. Open runs are cancelled first. Nothing brings them back, so export them before if you may need them.</Notice>
        <TextField label={`Type ${of.name} to delete it`} autoComplete="off" autoCapitalize="off" spellCheck={false} value={again} onChange={(event) => setAgain(event.currentTarget.value)} />
      </div>
    </ActDialog>
  );
}
