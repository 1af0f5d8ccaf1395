/** People who sign in with a name and a password. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Pencil, UserRoundPlus } from "lucide-react";
import { useState } from "react";
import { changePerson, createPerson, peopleQuery, type Person, type PersonFields, ROLES } from "../api/admin";
import { ActDialog, useActing } from "../parts/act";
import { Button } from "../parts/button";
import { SelectField, TextField, Tick } from "../parts/field";
import { Empty, Snippet } from "../parts/states";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { toast } from "../parts/toast";
import styles from "./admin.module.css";
import { Listed, Named, useChanged } from "./listed";

const SHORTEST = 12;

export default function People() {
  const [open, setOpen] = useState<Person | "new" | null>(null);
  const pages = useInfiniteQuery(peopleQuery());
  return (
    <>
      <div className={styles["lead"]}>
        <p>People who sign in with a name and a password. Those of an identity provider are not listed: their groups say what they may do.</p>
        <Button kind="primary" needs="create_user" onClick={() => setOpen("new")}>
          <UserRoundPlus className="icon" aria-hidden />
          Add a person…
        </Button>
      </div>
      <Listed
        pages={pages}
        what="people"
        heads={["Person", "Role", "State", "E-mail", "Added", "Changed"]}
        idOf={(one) => one.id}
        isPale={(one) => one.disabled}
        cells={(one) => [
          <Named key="name" name={one.display_name || one.name}>
            {one.display_name && one.display_name !== one.name ? one.name : null}
          </Named>,
          one.role,
          <Status key="state" of={one.disabled ? "disabled" : one.has_password ? "active" : "unset"} quiet />,
          one.email,
          <span key="added" title={`by ${one.created_by}`}>
            <Time at={one.inserted_at} />
          </span>,
          <Time key="changed" at={one.updated_at} />,
        ]}
        verbs={(one) => (
          <Button square needs="change_user" aria-label={`Change ${one.name}…`} onClick={() => setOpen(one)}>
            <Pencil className="icon" aria-hidden />
          </Button>
        )}
        empty={
          <Empty title="No person yet">
            <p>Until now only API keys, and people of an identity provider if there is one, can sign in.</p>
            <Snippet label="Add one on the command line">detent users create alice --role operator</Snippet>
          </Empty>
        }
      />
      {open && <PersonDialog person={open === "new" ? null : open} onClose={() => setOpen(null)} />}
    </>
  );
}

function PersonDialog({ person, onClose }: { person: Person | null; onClose: () => void }) {
  const acting = useActing();
  const changed = useChanged();
  const [name, setName] = useState(person?.name ?? "");
  const [display, setDisplay] = useState(person?.display_name ?? "");
  const [email, setEmail] = useState(person?.email ?? "");
  const [role, setRole] = useState(person?.role ?? "viewer");
  const [password, setPassword] = useState("");
  const [disabled, setDisabled] = useState(person?.disabled ?? false);
  const isShort = password !== "" && password.length < SHORTEST;
  const save = async () => {
    const fields: PersonFields = { role };
    if (display.trim()) fields.display_name = display.trim();
    if (email.trim()) fields.email = email.trim();
    if (password) fields.password = password;
    const done = await acting.run(() => (person ? changePerson(person.id, disabled === person.disabled ? fields : { ...fields, disabled }) : createPerson({ ...fields, name: name.trim() })));
    if (!done) return;
    await changed();
    toast(person ? `${person.name} is changed` : `${name.trim()} can sign in`);
    onClose();
  };
  return (
    <ActDialog
      title={person ? `Change ${person.name}` : "Add a person"}
      word={person ? "Save" : "Add"}
      leave="Cancel"
      acting={acting}
      disabled={isShort || (!person && (name.trim() === "" || password === ""))}
      onClose={onClose}
      onDo={() => void save()}
    >
      <div className={styles["form"]}>
        {!person && <TextField label="Name" autoComplete="off" autoCapitalize="off" spellCheck={false} hint="What the person types to sign in. It is unique in the whole installation." value={name} onChange={(event) => setName(event.currentTarget.value)} />}
        <div className={styles["two"]}>
          <TextField label="Full name" autoComplete="off" value={display} onChange={(event) => setDisplay(event.currentTarget.value)} />
          <TextField label="E-mail" type="email" autoComplete="off" value={email} onChange={(event) => setEmail(event.currentTarget.value)} />
        </div>
        <RoleField role={role} onRole={setRole} />
        <TextField
          label={person ? "New password" : "Password"}
          type="password"
          autoComplete="new-password"
          value={password}
          problem={isShort ? `At least ${SHORTEST} characters` : null}
          hint={person ? "Left empty, it stays as it is. A new one ends all sessions of the person." : `At least ${SHORTEST} characters. The person can change it.`}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {person && <Tick label="Disabled: cannot sign in, and all sessions end" checked={disabled} onTick={setDisabled} />}
      </div>
    </ActDialog>
  );
}

const SAYS: Readonly<Record<string, string>> = {
  viewer: "Reads workflows, runs, rules and templates.",
  operator: "Also starts, answers and controls runs.",
  editor: "Also changes workflows, rules, triggers, connectors and templates.",
  admin: "Also manages keys, people, secrets and limits, and reads the audit.",
  "instance-admin": "Also manages tenants, and sees the nodes of the installation.",
};

export function RoleField({ role, onRole }: { role: string; onRole: (role: string) => void }) {
  return (
    <SelectField label="Role" value={role} hint={SAYS[role]} onChange={(event) => onRole(event.currentTarget.value)}>
      {ROLES.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </SelectField>
  );
}
