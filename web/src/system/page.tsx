/** What runs here: nodes, queues and storage; and who may ask. */
import { UserRoundCog } from "lucide-react";
import { lazy, Suspense } from "react";
import { useQuery } from "@tanstack/react-query";
import { matchedQuery } from "../api/letters";
import { useFeatures, useMay, useMe, useTitle } from "../api/session";
import { tabsFor } from "../admin/tabs";
import { LinkButton } from "../parts/button";
import { Empty, Waiting } from "../parts/states";
import { TabLinks } from "../parts/tabs";
import frame from "../workflows/section.module.css";
import { Nodes } from "./nodes";
import { OpenNotice } from "./open_notice";
import { Queues } from "./queues";
import { StorageView } from "./storage";
import styles from "./system.module.css";

const DeadLetters = lazy(() => import("../letters/letters"));
const LookUp = lazy(() => import("../resources/look_up"));

export default function System({ params }: { params: Record<string, string | undefined> }) {
  const has = useFeatures();
  const may = useMay();
  const me = useMe();
  useTitle("System");
  const letters = useQuery({ ...matchedQuery("requeue", { state: "open" }), enabled: has("dead_letters") && may("change_many_dead_letters") }).data?.matched ?? 0;
  const tabs = [
    ...(me === undefined || may("list_nodes")
      ? [
          { name: "nodes", word: "Nodes and queues", to: "/system" },
          { name: "storage", word: "Storage", to: "/system/storage" },
        ]
      : []),
    ...(has("dead_letters") ? [{ name: "dead-letters", word: "Dead letters", to: "/system/dead-letters", ...(letters > 0 ? { count: letters } : {}) }] : []),
    ...(has("resources") ? [{ name: "resources", word: "Resources", to: "/system/resources" }] : []),
  ];
  const tab = params["tab"] ?? tabs[0]?.name;
  return (
    <div className={frame["page"]}>
      <div className={frame["head"]}>
        <h1>System</h1>
        <TabLinks label="Views of the system" current={tab ?? ""} tabs={tabs} />
        {me && tabsFor(me.scopes).length > 1 && (
          <div className={styles["admin"]}>
            <LinkButton to="/admin">
              <UserRoundCog className="icon" aria-hidden />
              Administration
            </LinkButton>
          </div>
        )}
      </div>
      {tab === "dead-letters" || tab === "resources" ? (
        <Suspense fallback={<Waiting what="The view is loading" />}>{tab === "resources" ? <LookUp /> : <DeadLetters />}</Suspense>
      ) : (
        <div className={styles["body"]}>
          <OpenNotice />
          {me === undefined ? (
            <Waiting what="The system is loading" />
          ) : !may("list_nodes") ? (
            <Empty title="You may not see this">
              <p>Nodes, queues and storage are those of all tenants. They need the scope metrics:read.</p>
            </Empty>
          ) : tab === "storage" ? (
            <StorageView />
          ) : (
            <>
              <Nodes />
              <Queues />
            </>
          )}
        </div>
      )}
    </div>
  );
}
