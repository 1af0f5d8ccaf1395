/** What runs here: nodes, queues and storage; and who may ask. */
import { useTitle } from "../api/session";
import { TabLinks } from "../parts/tabs";
import frame from "../workflows/section.module.css";
import { Nodes } from "./nodes";
import { OpenNotice } from "./open_notice";
import { Queues } from "./queues";
import { StorageView } from "./storage";
import styles from "./system.module.css";

export default function System({ params }: { params: Record<string, string | undefined> }) {
  const tab = params["tab"] ?? "nodes";
  useTitle("System");
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
          ]}
        />
      </div>
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
    </div>
  );
}
