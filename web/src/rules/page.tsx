/** One rule: head with its sentence and its switch, tabs with URLs, and the dialogs of its verbs. */
import { useQuery } from "@tanstack/react-query";
import { Ellipsis, FlaskConical, Pencil, Play, Trash2 } from "lucide-react";
import { lazy, Suspense } from "react";
import { Link } from "wouter";
import { isMissing } from "../api/client";
import { useRefresh } from "../api/refresh";
import { openAlertsQuery, recentMatchesQuery, ruleQuery, type TaggedRule } from "../api/rules";
import { useDenied, useTitle } from "../api/session";
import { statsQuery } from "../api/workflows";
import { count, percent } from "../look/numbers";
import { Button } from "../parts/button";
import { Crumbs } from "../parts/crumbs";
import { Fact, Facts } from "../parts/facts";
import { Menu, MenuItem } from "../parts/menu";
import { Empty, Failure, isLost, Waiting } from "../parts/states";
import { TabLinks } from "../parts/tabs";
import { Time } from "../parts/time";
import { usePlace } from "../shell/place";
import { RunBars } from "../workflows/bars";
import page from "../workflows/page.module.css";
import { inFlight } from "../workflows/state";
import { entityPlace, isByEvents, rulePlace, sentenceOf } from "./words";
import styles from "./page.module.css";

const GraphTab = lazy(() => import("./graph_tab"));
const EventsTab = lazy(() => import("./events_tab"));
const FiringsTab = lazy(() => import("./firings_tab"));
const VersionsTab = lazy(() => import("./versions_tab"));
const RunsTab = lazy(() => import("../workflows/runs_tab"));
const VerbDialog = lazy(() => import("./dialogs"));

export default function RulePage({ params }: { params: Record<string, string | undefined> }) {
  const key = params["rule"] ?? "";
  const { data, error, refetch } = useQuery(ruleQuery(key));
  useTitle(data?.rule.name ?? key);
  if (error && isMissing(error)) {
    return (
      <Empty title="There is no such rule">
        <p>
          No rule has the key <code>{key}</code>.{" "}
          <Link href="/rules" className={styles["link"] ?? ""}>
            Show all rules
          </Link>
        </p>
      </Empty>
    );
  }
  if (isLost(error, data)) return <Failure error={error} what="The rule could not be shown" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The rule is loading" />;
  return <Found key={data.rule.id} tagged={data} tab={params["tab"] ?? "graph"} what={params["what"] ?? ""} />;
}

export interface TabProps {
  tagged: TaggedRule;
  /** What follows the tab in the path: a version. */
  what: string;
}

function Found({ tagged, tab, what }: TabProps & { tab: string }) {
  const { rule } = tagged;
  const place = usePlace();
  useRefresh(`runs:workflow=${encodeURIComponent(rule.key)}`, [
    ["workflows", "one", rule.key, "stats"],
    ["rules", "one", rule.key, "firings"],
    ["rules", "one", rule.key, "events"],
    ["runs", "list", { workflow: rule.key }],
    ["alerts", "open"],
  ]);
  const hasEvents = isByEvents(rule);
  const recent = useQuery({ ...recentMatchesQuery(rule.key), enabled: hasEvents });
  const matching = recent.data?.filter((one) => one.matches).length;
  const tabOf = (id: string, word: string, n?: number) => ({ name: id, word, to: rulePlace(rule.key, id === "graph" ? "" : id), ...(n ? { count: n } : {}) });
  const tabs = [
    tabOf("graph", "Graph"),
    ...(hasEvents ? [tabOf("events", "Events", matching)] : []),
    tabOf("runs", "Runs"),
    ...(hasEvents ? [tabOf("firings", "Firings")] : []),
    tabOf("versions", "Versions"),
  ];
  return (
    <div className={page["page"]}>
      <header className={page["header"]}>
        <Crumbs way={[["Rules", "/rules"]]}>
          <code>{rule.key}</code>
        </Crumbs>
        <div className={page["line"]}>
          <h1 title={rule.name}>{rule.name}</h1>
          <Switch isActive={rule.is_active} onAsk={() => place.set({ do: rule.is_active ? "deactivate" : "activate" })} />
          <p title={rule.description ?? ""}>{rule.description}</p>
          <div className={styles["verbs"]} role="group" aria-label="What can be done">
            <Button needs="save_rule" onClick={() => place.set({ do: "edit" })}>
              <Pencil className="icon" aria-hidden />
              Edit…
            </Button>
            <Menu
              align="end"
              button={
                <Button square aria-label="More that can be done">
                  <Ellipsis className="icon" aria-hidden />
                </Button>
              }
            >
              {hasEvents && (
                <MenuItem icon={FlaskConical} onSelect={() => place.set({ do: "try" })} hint="Which rules match, and why not">
                  Try an event…
                </MenuItem>
              )}
              {rule.is_active && (
                <MenuItem icon={Play} needs="trigger_workflow" onSelect={() => place.set({ do: "start" })} hint="With a record or an event that you write">
                  Start a run…
                </MenuItem>
              )}
              <MenuItem icon={Trash2} danger needs="delete_rule" onSelect={() => place.set({ do: "delete" })} hint="Its runs stay readable">
                Delete…
              </MenuItem>
            </Menu>
          </div>
        </div>
        <p className={styles["sentence"]}>{sentenceOf(rule)}</p>
        <div className={page["below"]}>
          <RuleFacts tagged={tagged} />
          <TabLinks tabs={tabs} current={tab} label="Views of this rule" />
        </div>
      </header>
      <Suspense fallback={<Waiting what="The view is loading" />}>
        <Tab tab={tab} tagged={tagged} what={what} />
      </Suspense>
      <Suspense fallback={null}>{place.get("do") !== "" && <VerbDialog tagged={tagged} />}</Suspense>
    </div>
  );
}

function Tab({ tab, ...props }: TabProps & { tab: string }) {
  if (tab === "events") return <EventsTab {...props} />;
  if (tab === "runs") return <RunsTab workflow={{ name: props.tagged.rule.key }} />;
  if (tab === "firings") return <FiringsTab {...props} />;
  if (tab === "versions") return <VersionsTab {...props} />;
  return <GraphTab {...props} />;
}

/** Says whether the rule is active. What a change means is asked before it happens. */
function Switch({ isActive, onAsk }: { isActive: boolean; onAsk: () => void }) {
  const why = useDenied(isActive ? "deactivate_rule" : "activate_rule");
  return (
    <button type="button" role="switch" aria-checked={isActive} aria-disabled={why !== undefined} title={why} className={styles["switch"]} onClick={() => why === undefined && onAsk()}>
      <span className={styles["knob"]} aria-hidden />
      {isActive ? "Active" : "Inactive"}
    </button>
  );
}

function RuleFacts({ tagged: { rule } }: { tagged: TaggedRule }) {
  const stats = useQuery(statsQuery(rule.key)).data;
  const alerts = useQuery(openAlertsQuery()).data?.filter((one) => one.rule_id === rule.id).length ?? 0;
  return (
    <div className={page["facts"]}>
      {stats && <RunBars runs={stats.recent} />}
      <Facts>
        {rule.entity && (
          <Fact word="Entity">
            <Link href={entityPlace(rule.entity)}>{rule.entity}</Link>
          </Fact>
        )}
        <Fact word="Actions">{count(rule.actions.length)}</Fact>
        <Fact word="Version">
          <Link href={rulePlace(rule.key, "versions")}>{rule.version}</Link>
        </Fact>
        {stats?.success_rate != null && (
          <Fact word="Success" title={`Of the last ${Math.min(stats.runs, 200)} runs that ended`}>
            <Link href={`/runs?workflow=${encodeURIComponent(rule.key)}&status=failed`}>{percent(stats.success_rate)}</Link>
          </Fact>
        )}
        {stats && inFlight(stats.in_flight) > 0 && (
          <Fact word="In flight">
            <Link href={`/runs?workflow=${encodeURIComponent(rule.key)}&status=active`}>{count(inFlight(stats.in_flight))}</Link>
          </Fact>
        )}
        {alerts > 0 && (
          <Fact word="Open alerts">
            <Link href={`/alerts?rule=${encodeURIComponent(rule.key)}`} className={styles["loud"] ?? ""}>
              {count(alerts)}
            </Link>
          </Fact>
        )}
        {stats?.last_at && (
          <Fact word="Last run">
            <Time at={stats.last_at} />
          </Fact>
        )}
        <Fact word="Changed" title={rule.updated_by ? `By ${rule.updated_by}` : ""}>
          <Time at={rule.updated_date} />
        </Fact>
      </Facts>
    </div>
  );
}
