/** What runs here: nodes, queues and storage; and who may ask. */
import { lazy, Suspense } from "react";
import { useQuery } from "@tanstack/react-query";
import { matchedQuery } from "../api/letters";
import { useFeatures, useTitle } from "../api/session";
import { Waiting } from "../parts/states";
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
  const tab = params["tab"] ?? "nodes";
  const has = useFeatures();
  useTitle("System");
  const letters = useQuery({ ...matchedQuery("requeue", { state: "open" }), enabled: has("dead_letters") }).data?.matched ?? 0;
  return (
    <div className={frame["page"]}>
      <div className={frame["head"]}>
        <h1>System</h1>
        <TabLinks
          label="Views of the system"
          current={tab}
          tabs={[
            { name: "nodes", word: "Nodes and queues", to: "/system" },
            { name: "storage", word: "Storage", to: "/system/storage" },
            ...(has("dead_letters") ? [{ name: "dead-letters", word: "Dead letters", to: "/system/dead-letters", ...(letters > 0 ? { count: letters } : {}) }] : []),
            ...(has("resources") ? [{ name: "resources", word: "Resources", to: "/system/resources" }] : []),
          ]}
        />
      </div>
      {tab === "dead-letters" || tab === "resources" ? (
        <Suspense fallback={<Waiting what="The view is loading" />}>{tab === "resources" ? <LookUp /> : <DeadLetters />}</Suspense>
      ) : (
        <div className={styles["body"]}>
          <OpenNotice />
          {tab === "storage" ? (
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
