/** Saves the filters of the list under a name, in this browser. */
import { X } from "lucide-react";
import { type FormEvent, type ReactElement, useState } from "react";
import { Button } from "../parts/button";
import { Popover } from "../parts/popover";
import type { Own } from "./views";
import styles from "./views.module.css";

interface Props {
  button: ReactElement;
  own: Own[];
  search: string;
  onKeep: (own: Own[]) => void;
}

/** It is open from the beginning: a click asked for it. */
export function SaveView({ button, own, search, onKeep }: Props) {
  const [open, setOpen] = useState(true);
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const word = String(new FormData(event.currentTarget).get("word") ?? "").trim();
    if (!word) return;
    onKeep([...own.filter((one) => one.word !== word), { word, search }]);
    setOpen(false);
  };
  return (
    <Popover label="Save this view" open={open} onOpen={setOpen} button={button}>
      <form className={styles["save"]} onSubmit={save}>
        <label>
          Save these filters as
          <input name="word" maxLength={40} placeholder={search ? "Refunds that failed" : "Set filters first"} autoComplete="off" />
        </label>
        <p>Kept in this browser. To share the view, share its address.</p>
        <Button kind="primary" type="submit" disabled={!search}>
          Save view
        </Button>
        {own.length > 0 && (
          <ul>
            {own.map((one) => (
              <li key={one.word}>
                <span>{one.word}</span>
                <Button kind="ghost" square aria-label={`Remove view ${one.word}`} onClick={() => onKeep(own.filter((other) => other !== one))}>
                  <X className="icon small" aria-hidden />
                </Button>
              </li>
            ))}
          </ul>
        )}
      </form>
    </Popover>
  );
}
