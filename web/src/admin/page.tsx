/** Administration: who may ask, what runs may use, and who did what. */
import { lazy, type ComponentType, Suspense } from "react";
import { useMe, useTitle } from "../api/session";
import { Empty, Waiting } from "../parts/states";
import { TabLinks } from "../parts/tabs";
import frame from "../workflows/section.module.css";
import styles from "./admin.module.css";
import { TABS, tabsFor } from "./tabs";

const VIEWS: Readonly<Record<string, ComponentType>> = {
  keys: lazy(() => import("./keys")),
  people: lazy(() => import("./people")),
  sessions: lazy(() => import("./sessions")),
  secrets: lazy(() => import("./secrets")),
  credentials: lazy(() => import("./credentials")),
  audit: lazy(() => import("./audit")),
  tenants: lazy(() => import("./tenants")),
};

export default function Administration({ params }: { params: Record<string, string | undefined> }) {
  const me = useMe();
  const tabs = me ? tabsFor(me.scopes) : [];
  const name = params["tab"] ?? tabs[0]?.name ?? "";
  const known = TABS.find((one) => one.name === name);
  useTitle(known?.word ?? "Administration");
  const View = VIEWS[name];
  return (
    <div className={frame["page"]}>
      <div className={frame["head"]}>
        <h1>Administration</h1>
        <TabLinks label="Views of the administration" current={name} tabs={tabs.map((one) => ({ ...one, to: `/admin/${one.name}` }))} />
      </div>
      {!me ? (
        <Waiting what="The administration is loading" />
      ) : !View || !known ? (
        <Empty title="There is no such view" />
      ) : !tabs.includes(known) ? (
        <Empty title="You may not see this">
          <p>
            {known.word} need another scope than {me.role ? `the role ${me.role}` : me.caller.name} has.
          </p>
        </Empty>
      ) : (
        <div className={name === "audit" ? styles["whole"] : styles["body"]}>
          <Suspense fallback={<Waiting what="The view is loading" />}>
            <View />
          </Suspense>
        </div>
      )}
    </div>
  );
}
