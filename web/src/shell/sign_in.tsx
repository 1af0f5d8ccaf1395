/** Signing in: a key, a password, or the identity provider of this server. It covers the page and keeps its address, so
 * that a person goes on where they were. */
import { useQuery } from "@tanstack/react-query";
import { LogIn } from "lucide-react";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { address, basePath, saying } from "../api/client";
import { loginMethods, type Proof, signIn } from "../api/login";
import { Button } from "../parts/button";
import { TextField } from "../parts/field";
import { Notice } from "../parts/notice";
import { TabButtons } from "../parts/tabs";
import { useActing } from "../parts/act";
import { Mark } from "./mark";
import styles from "./sign_in.module.css";

export default function SignIn() {
  const cover = useRef<HTMLDialogElement>(null);
  const { data: methods, error, refetch } = useQuery({ queryKey: ["login-methods"], queryFn: loginMethods, staleTime: 60_000 });
  useEffect(() => {
    const dialog = cover.current;
    const title = document.title;
    document.title = "Sign in · Detent";
    // It lies over dialogs that are open already: what is in them waits below.
    if (dialog && !dialog.open) dialog.showModal();
    return () => {
      document.title = title;
      dialog?.close();
    };
  }, []);
  return (
    <dialog ref={cover} className={styles["cover"]} aria-labelledby="sign-in" onCancel={(event) => event.preventDefault()}>
      <div className={styles["sheet"]}>
        <p className={styles["brand"]}>
          <Mark />
          <b>Detent</b>
        </p>
        <h1 id="sign-in">Sign in</h1>
        {methods?.oidc && (
          <>
            <a className={styles["provider"]} href={address(methods.oidc.url, { next: location.pathname.slice(basePath.length) + location.search })}>
              <LogIn className="icon" aria-hidden />
              Sign in with {methods.oidc.name}
            </a>
            <p className={styles["or"]}>or</p>
          </>
        )}
        {methods && <Proofs hasPasswords={methods.password} />}
        {error && (
          <>
            <Notice tone="fail">The server could not be asked how to sign in: {saying(error)}</Notice>
            <Button onClick={() => void refetch()}>Try again</Button>
          </>
        )}
      </div>
    </dialog>
  );
}

const WAYS = [
  { name: "password", word: "Password" },
  { name: "key", word: "API key" },
];

function Proofs({ hasPasswords }: { hasPasswords: boolean }) {
  const [way, setWay] = useState(hasPasswords ? "password" : "key");
  return (
    <>
      {hasPasswords && <TabButtons label="How to sign in" tabs={WAYS} current={way} onChoose={setWay} />}
      {way === "password" ? <PasswordForm /> : <KeyForm />}
    </>
  );
}

function PasswordForm() {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const proof = name.trim() && password ? { name: name.trim(), password } : null;
  return (
    <Form proof={proof} word="Sign in" onRefused={() => setPassword("")}>
      <TextField label="Name" name="username" autoComplete="username" autoCapitalize="off" spellCheck={false} value={name} onChange={(event) => setName(event.currentTarget.value)} />
      <TextField label="Password" name="password" type="password" autoComplete="current-password" value={password} onChange={(event) => setPassword(event.currentTarget.value)} />
    </Form>
  );
}

function KeyForm() {
  const [key, setKey] = useState("");
  return (
    <Form proof={key.trim() ? { key: key.trim() } : null} word="Sign in with the key" onRefused={() => undefined}>
      <TextField
        label="API key"
        type="password"
        autoComplete="off"
        spellCheck={false}
        placeholder="dk_…"
        hint={
          <>
            <code>detent keys create</code> makes one, where Detent runs.
          </>
        }
        value={key}
        onChange={(event) => setKey(event.currentTarget.value)}
      />
    </Form>
  );
}

function Form({ proof, word, onRefused, children }: { proof: Proof | null; word: string; onRefused: () => void; children: React.ReactNode }) {
  const acting = useActing();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (!proof || (await acting.run(() => signIn(proof)))) return;
    onRefused();
    form.current?.querySelector<HTMLInputElement>("input[type=password]")?.focus();
  };
  return (
    <form ref={form} className={styles["form"]} onSubmit={(event) => void send(event)}>
      {children}
      {acting.error !== null && <Notice tone="fail">{acting.error.charAt(0).toUpperCase() + acting.error.slice(1)}</Notice>}
      <Button type="submit" kind="primary" disabled={acting.busy || proof === null}>
        {word}
      </Button>
    </form>
  );
}
