/** The menu of the person who is signed in: who that is, its sessions, and the way out. */
import { LogOut, MonitorSmartphone, UserRoundCog } from "lucide-react";
import type { ReactElement } from "react";
import { useLocation } from "wouter";
import { saying } from "../api/client";
import type { Me } from "../api/documents";
import { signOut } from "../api/login";
import { MenuContent, MenuItem, MenuLine } from "../parts/menu_content";
import { Time } from "../parts/time";
import { toast } from "../parts/toast";
import { tabsFor } from "../admin/tabs";
import styles from "./who.module.css";

const VIA: Readonly<Record<string, string>> = { session: "a session", key: "an API key", token: "a token", local: "this machine" };

export default function WhoMenu({ me, button }: { me: Me; button: ReactElement<Record<string, unknown>> }) {
  const [, go] = useLocation();
  const leave = () => signOut().catch((error: unknown) => toast(saying(error), { tone: "fail" }));
  return (
    <MenuContent align="end" button={button}>
      <div className={styles["head"]}>
        <b>{me.caller.display_name ?? me.caller.name}</b>
        {me.caller.email && <span>{me.caller.email}</span>}
        <span>
          {me.role ? `Role ${me.role}` : `${me.scopes.length} scopes`}, tenant {me.caller.tenant}
        </span>
        <span>
          By {VIA[me.via] ?? me.via}
          {me.expires_at && (
            <>
              , ends <Time at={me.expires_at} />
            </>
          )}
        </span>
      </div>
      <MenuLine />
      <MenuItem icon={MonitorSmartphone} onSelect={() => go("/admin/sessions")}>
        My sessions
      </MenuItem>
      {tabsFor(me.scopes).length > 1 && (
        <MenuItem icon={UserRoundCog} onSelect={() => go("/admin")}>
          Administration
        </MenuItem>
      )}
      {me.via === "session" && (
        <>
          <MenuLine />
          <MenuItem icon={LogOut} onSelect={() => void leave()}>
            Sign out
          </MenuItem>
        </>
      )}
    </MenuContent>
  );
}
