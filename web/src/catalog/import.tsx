/** Imports a connector from an OpenAPI document or an MCP server: first what would change and what breaks, then the import. */
import { useQueryClient } from "@tanstack/react-query";
import { FileText, Globe, Upload } from "lucide-react";
import { type FormEvent, useState } from "react";
import { Link, useLocation } from "wouter";
import { type Import, importConnector, type Source } from "../api/catalog";
import { useMay, useTitle } from "../api/session";
import { bytes, count, several } from "../look/numbers";
import { useActing } from "../parts/act";
import { Button } from "../parts/button";
import { Crumbs } from "../parts/crumbs";
import { TextField, Tick } from "../parts/field";
import { Notice } from "../parts/notice";
import { TabLinks } from "../parts/tabs";
import { toast } from "../parts/toast";
import { usePlace } from "../shell/place";
import { connectorPlace } from "./words";
import styles from "./import.module.css";

/** As the server has it. */
const LARGEST = 20 * 1024 * 1024;

export default function ImportPage({ params }: { params: Record<string, string | undefined> }) {
  const kind = params["kind"] === "mcp" ? "mcp" : "openapi";
  useTitle("Import a service");
  return (
    <div className={styles["page"]}>
      <header className={styles["header"]}>
        <Crumbs way={[["Catalog", "/catalog"], ["Connectors", "/catalog/connectors"]]}>
          <span>Import</span>
        </Crumbs>
        <h1>Import a service</h1>
        <TabLinks
          label="What is imported"
          current={kind}
          tabs={[
            { name: "openapi", word: "OpenAPI document", to: "/catalog/import/openapi" },
            { name: "mcp", word: "MCP server", to: "/catalog/import/mcp" },
          ]}
        />
      </header>
      <Form key={kind} kind={kind} />
    </div>
  );
}

/** What was previewed, and what it was made of: exactly that is imported. */
interface Preview {
  source: Source;
  found: Import;
}

function Form({ kind }: { kind: "openapi" | "mcp" }) {
  const place = usePlace();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const acting = useActing();
  const [name, setName] = useState(place.get("name"));
  const [url, setUrl] = useState(place.get("url"));
  const [file, setFile] = useState<File | null>(null);
  const [withToken, setWithToken] = useState(false);
  const [preview, setPreview] = useState<Preview | null>(null);
  const may = useMay()("import_openapi");
  const isTooLarge = file !== null && file.size > LARGEST;
  const isReady = name.trim() !== "" && (url.trim() !== "" || (kind === "openapi" && file !== null && !isTooLarge));
  const change = (run: () => void) => {
    run();
    setPreview(null);
    acting.forget();
  };
  const sourceOf = async (): Promise<Source> => {
    const id = name.trim();
    if (kind === "mcp") return { kind: "mcp", name: id, url: url.trim(), withToken };
    if (!file) return { kind: "url", name: id, url: url.trim() };
    return { kind: "file", name: id, text: await file.text(), isYaml: /\.ya?ml$/i.test(file.name) };
  };
  const look = async (event: FormEvent) => {
    event.preventDefault();
    if (!isReady || !may || acting.busy) return;
    setPreview(null);
    await acting.run(async () => {
      const source = await sourceOf();
      setPreview({ source, found: await importConnector(source, true) });
    });
  };
  const bring = async () => {
    if (!preview) return;
    let done: Import | undefined;
    const went = await acting.run(async () => {
      done = await importConnector(preview.source, false);
    });
    if (!went || !done) return;
    toast(`${preview.source.name} ${done.version} is imported: ${several(done.actions, "action")}`);
    await queries.invalidateQueries({ queryKey: ["catalog"] });
    go(connectorPlace(preview.source.name));
  };
  return (
    <div className={styles["body"]}>
      <form className={styles["form"]} onSubmit={(event) => void look(event)}>
        <TextField
          label="Name of the connector"
          hint="Small letters, digits and hyphens. Steps call NAME.ACTION. A known name is updated."
          value={name}
          required
          autoCapitalize="off"
          spellCheck={false}
          placeholder="crm"
          onChange={(event) => change(() => setName(event.currentTarget.value))}
        />
        {kind === "openapi" && (
          <label className={styles["file"]}>
            <span>
              <FileText className="icon" aria-hidden />
              {file ? (
                <>
                  <b>{file.name}</b> {bytes(file.size)}
                </>
              ) : (
                "Choose a file, OpenAPI 3 or Swagger 2, JSON or YAML"
              )}
            </span>
            <input
              type="file"
              accept=".json,.yaml,.yml,application/json,application/yaml"
              aria-label="File with the document"
              onChange={(event) => {
                const chosen = event.currentTarget.files?.[0] ?? null;
                change(() => {
                  setFile(chosen);
                  if (chosen && name === "") setName(nameOf(chosen.name));
                });
              }}
            />
          </label>
        )}
        {isTooLarge && <Notice tone="fail">The file has {bytes(file.size)}; at most 20 MB can be imported.</Notice>}
        {(kind === "mcp" || file === null) && (
          <TextField
            label={kind === "mcp" ? "Address of the MCP server" : "Or the address of the document"}
            hint="Detent reads it, as far as its egress guard allows it."
            type="url"
            inputMode="url"
            value={url}
            placeholder={kind === "mcp" ? "https://mcp.example.com/mcp" : "https://crm.example.com/openapi.json"}
            onChange={(event) => change(() => setUrl(event.currentTarget.value))}
          />
        )}
        {kind === "mcp" && (
          <Tick label={<>Send the token of the connector, <code>{tokenOf(name)}</code></>} checked={withToken} onTick={(on) => change(() => setWithToken(on))} />
        )}
        <div className={styles["verbs"]}>
          <Button type="submit" needs="import_openapi" kind={preview ? "plain" : "primary"} disabled={!isReady || acting.busy}>
            <Globe className="icon" aria-hidden />
            {preview ? "Preview it again" : "Preview the import"}
          </Button>
        </div>
        {acting.busy && !preview && <p role="status" className={styles["soft"]}>Reads the {kind === "mcp" ? "tools" : "document"}…</p>}
        {acting.error !== null && <Notice tone="fail">{acting.error}</Notice>}
      </form>
      <div className={styles["preview"]} aria-live="polite">
        {preview ? <Found preview={preview} busy={acting.busy} onImport={() => void bring()} /> : <Intro kind={kind} />}
      </div>
    </div>
  );
}

function Intro({ kind }: { kind: "openapi" | "mcp" }) {
  return (
    <div className={styles["intro"]}>
      <h2>Nothing changes before you have seen it</h2>
      <p>
        {kind === "mcp" ? "Each tool of the server becomes an action." : "Each operation of the document becomes an action, named after its operationId."} The
        preview lists them. If the connector exists, it says what changes, and which steps of which workflows break.
      </p>
      <p>Workflows that are published go on with the version of each action that they pin.</p>
    </div>
  );
}

function Found({ preview: { source, found }, busy, onImport }: { preview: Preview; busy: boolean; onImport: () => void }) {
  const isUpdate = found.connector !== null;
  const broken = found.broken_steps;
  return (
    <section className={styles["found"]} aria-label="What the import would do">
      <header>
        <div>
          <h2>
            {found.changed ? (isUpdate ? `${source.name} ${found.connector?.version} → ${found.version}` : `${source.name} ${found.version}, new`) : `${source.name} stays as it is`}
          </h2>
          <p className={styles["soft"]}>
            {found.changed
              ? `${count(found.actions)} of ${several(found.operations, source.kind === "mcp" ? "tool" : "operation")} ${found.actions === 1 ? "becomes an action" : "become actions"}`
              : `Version ${found.version} has exactly these actions`}
          </p>
        </div>
        {found.changed ? (
          <Button needs="import_openapi" kind={broken.length > 0 ? "danger" : "primary"} disabled={busy} onClick={onImport}>
            <Upload className="icon" aria-hidden />
            {broken.length > 0 ? `Import it; ${several(broken.length, "step")} will have to change` : `Import version ${found.version}`}
          </Button>
        ) : (
          <Link href={connectorPlace(source.name)} className={styles["link"] ?? ""}>
            Open the connector
          </Link>
        )}
      </header>
      {broken.length > 0 && (
        <div className={styles["broken"]} role="group" aria-label="Steps that break">
          <h3>
            {several(broken.length, "step")} of {several(new Set(broken.map((one) => one.workflow)).size, "workflow")} cannot be published again as they are
          </h3>
          <p className={styles["soft"]}>They go on with the actions that they pin until they are saved again.</p>
          <ul>
            {broken.map((one) => (
              <li key={`${one.workflow} ${one.step}`}>
                <Link href={`/workflows/${encodeURIComponent(one.workflow)}?step=${encodeURIComponent(one.step)}`} className={styles["link"] ?? ""}>
                  {one.workflow}
                  <b> {one.step}</b>
                </Link>
                <span>{one.problems.join("; ")}</span>
                <code>{one.action}</code>
              </li>
            ))}
          </ul>
        </div>
      )}
      {isUpdate && broken.length === 0 && found.changed && <Notice>No step of an active workflow breaks.</Notice>}
      <Names title="removed" names={found.removed} tone="bad" />
      {found.changes.length > 0 && (
        <Part title={`${several(found.changes.length, "action")} changed`} open>
          {found.changes.map((one) => (
            <li key={one.action}>
              <code>{one.action}</code>
              <span className={one.breaks.length > 0 ? styles["bad"] : styles["soft"]}>{one.breaks.length > 0 ? one.breaks.join("; ") : "steps need not change"}</span>
            </li>
          ))}
        </Part>
      )}
      <Names title="added" names={found.added} tone="soft" open={!isUpdate} />
      {found.skipped.length > 0 && (
        <Part title={`${several(found.skipped.length, "operation")} left out`}>
          {found.skipped.map((one) => (
            <li key={one.operation}>
              <code>{one.operation}</code>
              <span className={styles["soft"]}>{one.reason}</span>
            </li>
          ))}
        </Part>
      )}
    </section>
  );
}

const FEW = 200;

function Names({ title, names, tone, open = true }: { title: string; names: string[]; tone: "bad" | "soft"; open?: boolean }) {
  if (names.length === 0) return null;
  return (
    <Part title={`${several(names.length, "action")} ${title}`} open={open}>
      {names.slice(0, FEW).map((one) => (
        <li key={one}>
          <code className={tone === "bad" ? styles["bad"] : undefined}>{one}</code>
        </li>
      ))}
      {names.length > FEW && <li className={styles["soft"]}>and {count(names.length - FEW)} more</li>}
    </Part>
  );
}

function Part({ title, open = false, children }: { title: string; open?: boolean; children: React.ReactNode }) {
  return (
    <details className={styles["part"]} open={open}>
      <summary>{title}</summary>
      <ul>{children}</ul>
    </details>
  );
}

/** `crm-openapi.yaml` may be the connector `crm`. */
function nameOf(file: string): string {
  const stem = file.replace(/\.[^.]*$/, "").toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return stem.replace(/-?(openapi|swagger)-?/g, "-").replace(/^-+|-+$/g, "");
}

function tokenOf(name: string): string {
  return `CONNECTOR_${(name.trim() || "NAME").toUpperCase().replace(/[^A-Z0-9]/g, "_")}_TOKEN`;
}
