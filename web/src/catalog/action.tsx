/** One action: what it does, what it takes and returns, what it needs, and a step to copy. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CirclePause, CirclePlay, ShieldAlert, ShieldCheck } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { type Action, actionQuery, connectorQuery, enableAction } from "../api/catalog";
import { isMissing } from "../api/client";
import { useTitle } from "../api/session";
import { ActDialog, useActing } from "../parts/act";
import { Button } from "../parts/button";
import { CopyButton } from "../parts/copy";
import { Crumbs } from "../parts/crumbs";
import { Fact, Facts } from "../parts/facts";
import { Notice } from "../parts/notice";
import { SchemaTable } from "../parts/schema/table";
import { Empty, Failure, isLost, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { toast } from "../parts/toast";
import { usePlace } from "../shell/place";
import { exampleStep } from "./example";
import { Needs } from "./needs";
import styles from "./catalog.module.css";
import { actionPlace, connectorPlace, effectOf, sourceOf, stateOfAction } from "./words";

export default function ActionPage({ params }: { params: Record<string, string | undefined> }) {
  const id = params["action"] ?? "";
  const version = usePlace().get("version");
  useTitle(id);
  const { data, error, refetch } = useQuery(actionQuery(id, version));
  if (error && isMissing(error)) {
    return (
      <Empty title="There is no such action">
        <p>
          No action has the id {id}
          {version && ` with version ${version}`}.{" "}
          <Link href={version ? actionPlace(id) : "/catalog"} className={styles["link"] ?? ""}>
            {version ? "Show its newest version" : "Show all actions"}
          </Link>
        </p>
      </Empty>
    );
  }
  if (isLost(error, data)) return <Failure error={error} what={`The action ${id} could not be shown`} onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The action is loading" />;
  return <Found action={data} />;
}

function Found({ action }: { action: Action }) {
  const { id } = action;
  const connector = useQuery(connectorQuery(action.connector_id));
  const effect = effectOf(action);
  const Effect = effect.isSafe ? ShieldCheck : ShieldAlert;
  const example = exampleStep(id, action.parameter_schema);
  return (
    <div className={styles["scroll"]}>
      <header className={styles["header"]}>
        <Crumbs way={[["Catalog", "/catalog"], [action.connector_id, connectorPlace(action.connector_id)]]}>
          <span>{id}</span>
        </Crumbs>
        <div className={styles["line"]}>
          <h1>
            {id}
            <CopyButton text={id} what="the id of the action" />
          </h1>
          <Status of={stateOfAction(action)} pill />
          <Verbs action={action} />
        </div>
        <p className={styles["says"]}>{[action.display_name, action.description].filter(Boolean).join(". ").replace(/\.\. /, ". ")}</p>
        <Facts>
          <Fact word="Version">{action.version}</Fact>
          <Fact word="Connector">
            <Link href={connectorPlace(action.connector_id)} className={styles["link"] ?? ""}>
              {action.connector_id}
            </Link>
          </Fact>
          {action.category && (
            <Fact word="Category">
              <Link href={`/catalog?category=${encodeURIComponent(action.category)}`} className={styles["link"] ?? ""}>
                {action.category}
              </Link>
            </Fact>
          )}
          {action.tags.length > 0 && (
            <Fact word="Tags">
              {action.tags.map((tag) => (
                <Link key={tag} href={`/catalog?tag=${encodeURIComponent(tag)}`} className={styles["link"] ?? ""}>
                  {tag}
                </Link>
              ))}
            </Fact>
          )}
          <Fact word="From">{sourceOf(action.source)}</Fact>
          <Fact word="Added">
            <Time at={action.inserted_at} />
          </Fact>
        </Facts>
        {action.deprecation_notice && <Notice tone="hold">It is deprecated: {action.deprecation_notice}</Notice>}
        {!action.enabled && <Notice tone="hold">It is disabled: no workflow can be published with it. Published ones go on.</Notice>}
        <p className={styles["set"]}>
          <Effect className={`icon small ${effect.isSafe ? "" : styles["unsafe"]}`} aria-hidden />
          <span>{effect.says}</span>
        </p>
        {connector.data && <Needs connector={connector.data} />}
      </header>
      <div className={styles["columns"]}>
        <div className={styles["column"]}>
          <SchemaTable title="Parameters" schema={action.parameter_schema} empty="It takes no parameters, or any." />
          <SchemaTable title="Output" schema={action.output_schema} empty="It does not say what it returns. A run shows it." />
        </div>
        <section className={styles["example"]} aria-label="An example step">
          <h2>
            A step that calls it
            <CopyButton text={example} what="the step" />
          </h2>
          <pre tabIndex={0}>
            <code>{example}</code>
          </pre>
          <p>It has the required parameters. A publish checks each against its schema.</p>
        </section>
      </div>
    </div>
  );
}

function Verbs({ action }: { action: Action }) {
  const [isAsked, setAsked] = useState(false);
  const queries = useQueryClient();
  const acting = useActing();
  const { id, enabled } = action;
  const change = async () => {
    if (!(await acting.run(() => enableAction(id, !enabled)))) return;
    setAsked(false);
    toast(enabled ? `${id} is disabled` : `${id} is enabled`);
    await queries.invalidateQueries({ queryKey: ["catalog"] });
  };
  return (
    <div className={styles["verbs"]} role="group" aria-label="What can be done">
      <Button needs="disable_action" onClick={() => setAsked(true)}>
        {enabled ? <CirclePause className="icon" aria-hidden /> : <CirclePlay className="icon" aria-hidden />}
        {enabled ? "Disable…" : "Enable…"}
      </Button>
      {isAsked && (
        <ActDialog
          title={enabled ? `Disable ${id}?` : `Enable ${id}?`}
          word={enabled ? "Disable it" : "Enable it"}
          acting={acting}
          onClose={() => setAsked(false)}
          onDo={() => void change()}
        >
          <p>{enabled ? "No workflow can be published with it any more. Workflows that are published go on." : "Workflows can be published with it again."}</p>
        </ActDialog>
      )}
    </div>
  );
}
