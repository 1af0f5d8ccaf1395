/** What steps can call, and what workflows can begin with: actions, connectors, templates. */
import { useQuery } from "@tanstack/react-query";
import { Import } from "lucide-react";
import { lazy, Suspense } from "react";
import { facetsQuery } from "../api/catalog";
import { useFeatures, useTitle } from "../api/session";
import { LinkButton } from "../parts/button";
import { Waiting } from "../parts/states";
import { TabLinks } from "../parts/tabs";
import frame from "../workflows/section.module.css";
import { Actions } from "./actions";
import { Connectors } from "./connectors";
import styles from "./catalog.module.css";

const Gallery = lazy(() => import("../templates/gallery").then((all) => ({ default: all.Gallery })));

export default function Catalog({ params }: { params: Record<string, string | undefined> }) {
  const tab = params["tab"] ?? "actions";
  const has = useFeatures();
  useTitle("Catalog");
  const { data } = useQuery(facetsQuery());
  const total = data?.connectors.reduce((sum, one) => sum + one.count, 0) ?? 0;
  const counted = (n: number | undefined) => (n ? { count: n } : {});
  return (
    <div className={frame["page"]}>
      <div className={frame["head"]}>
        <h1>Catalog</h1>
        <TabLinks
          label="Views of the catalog"
          current={tab}
          tabs={[
            { name: "actions", word: "Actions", to: "/catalog", ...counted(total) },
            { name: "connectors", word: "Connectors", to: "/catalog/connectors", ...counted(data?.connectors.length) },
            ...(has("templates") ? [{ name: "templates", word: "Templates", to: "/catalog/templates" }] : []),
          ]}
        />
        {tab !== "templates" && (
          <div className={styles["headVerbs"]}>
            <LinkButton needs="import_openapi" to="/catalog/import/openapi">
              <Import className="icon" aria-hidden />
              Import a service…
            </LinkButton>
          </div>
        )}
      </div>
      {tab === "templates" ? (
        <Suspense fallback={<Waiting what="The templates are loading" />}>
          <Gallery />
        </Suspense>
      ) : tab === "connectors" ? (
        <Connectors />
      ) : (
        <Actions />
      )}
    </div>
  );
}
