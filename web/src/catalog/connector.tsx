/** One connector: what it is, what it needs, what can be done to it, and its actions. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CirclePause, CirclePlay, RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { type Connector, connectorQuery, enableConnector, removeConnector } from "../api/catalog";
import { isMissing } from "../api/client";
import { useTitle } from "../api/session";
import { ActDialog, useActing } from "../parts/act";
import { Button, LinkButton } from "../parts/button";
import { Crumbs } from "../parts/crumbs";
import { Fact, Facts } from "../parts/facts";
import { Empty, Failure, isLost, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { toast } from "../parts/toast";
import { Actions } from "./actions";
import { Needs } from "./needs";
import styles from "./catalog.module.css";
import { authOf, sourceOf, stateOfConnector } from "./words";

export default function ConnectorPage({ params }: { params: Record<string, string | undefined> }) {
  const id = params["connector"] ?? "";
  useTitle(id);
  const { data, error, refetch } = useQuery(connectorQuery(id));
  if (error && isMissing(error)) {
    return (
      <Empty title="There is no such connector">
        <p>No connector has the id {id}. It may have been removed; workflows that were published with it go on.</p>
      </Empty>
    );
  }
  if (isLost(error, data)) return <Failure error={error} what={`The connector ${id} could not be shown`} onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The connector is loading" />;
  return (
    <div className={styles["page"]}>
      <header className={styles["header"]}>
        <Crumbs way={[["Catalog", "/catalog"], ["Connectors", "/catalog/connectors"]]}>
          <span>{id}</span>
        </Crumbs>
        <div className={styles["line"]}>
          <h1>{data.display_name || id}</h1>
          <Status of={stateOfConnector(data)} pill />
          <Verbs connector={data} />
        </div>
        {data.description && <p className={styles["says"]}>{data.description}</p>}
        <Facts>
          <Fact word="Id">
            <code>{id}</code>
          </Fact>
          <Fact word="Version">{data.version}</Fact>
          <Fact word="From">{sourceOf(data.source)}</Fact>
          {data.base_url && (
            <Fact word="Address" title={data.base_url}>
              <span className={styles["cut"]}>{data.base_url}</span>
            </Fact>
          )}
          {data.source !== "python" && <Fact word="Authenticates with">{authOf(data)}</Fact>}
          {data.documentation_url?.startsWith("http") && (
            <Fact word="Documentation">
              <a href={data.documentation_url} target="_blank" rel="noreferrer noopener" className={styles["link"]}>
                {new URL(data.documentation_url).host}
              </a>
            </Fact>
          )}
          <Fact word="Added">
            <Time at={data.inserted_at} />
          </Fact>
        </Facts>
        <Needs connector={data} />
      </header>
      <Actions only={id} />
    </div>
  );
}

function Verbs({ connector }: { connector: Connector }) {
  const [asked, setAsked] = useState<"state" | "remove" | null>(null);
  const [, go] = useLocation();
  const queries = useQueryClient();
  const acting = useActing();
  const { id, enabled, source } = connector;
  const attempt = async (job: () => Promise<void>, words: string, place?: string) => {
    if (!(await acting.run(job))) return;
    setAsked(null);
    toast(words);
    if (place) go(place);
    await queries.invalidateQueries({ queryKey: ["catalog"] });
  };
  const close = () => {
    acting.forget();
    setAsked(null);
  };
  return (
    <div className={styles["verbs"]} role="group" aria-label="What can be done">
      {(source === "openapi" || source === "mcp") && (
        <LinkButton needs="import_openapi" to={`/catalog/import/${source}?name=${encodeURIComponent(id)}`}>
          <RefreshCw className="icon" aria-hidden />
          Import again…
        </LinkButton>
      )}
      <Button needs="disable_connector" onClick={() => setAsked("state")}>
        {enabled ? <CirclePause className="icon" aria-hidden /> : <CirclePlay className="icon" aria-hidden />}
        {enabled ? "Disable…" : "Enable…"}
      </Button>
      {(source === "openapi" || source === "mcp") && (
        <Button needs="remove_connector" onClick={() => setAsked("remove")}>
          <Trash2 className="icon" aria-hidden />
          Remove…
        </Button>
      )}
      {asked === "state" && (
        <ActDialog
          title={enabled ? `Disable ${id}?` : `Enable ${id}?`}
          word={enabled ? "Disable it" : "Enable it"}
          acting={acting}
          onClose={close}
          onDo={() => void attempt(() => enableConnector(id, !enabled), enabled ? `${id} is disabled` : `${id} is enabled`)}
        >
          <p>
            {enabled
              ? "No workflow can be published with its actions any more. Workflows that are published go on."
              : "Workflows can be published with its actions again."}
          </p>
        </ActDialog>
      )}
      {asked === "remove" && (
        <ActDialog
          danger
          title={`Remove ${id}?`}
          word="Remove the connector"
          acting={acting}
          onClose={close}
          onDo={() => void attempt(() => removeConnector(id), `${id} is removed`, "/catalog/connectors")}
        >
          <p>Its actions leave the catalog. Workflows that were published with them go on, and no further one can be.</p>
        </ActDialog>
      )}
    </div>
  );
}
