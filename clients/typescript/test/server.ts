import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PATIENCE = 300_000;

/** A real Detent in a process of its own, on a temporary file. */
export class Server {
  readonly baseUrl: string;
  /** The first key of the server, which may do everything. */
  key = "";
  readonly #folder: string;
  readonly #port: number;
  #process: ChildProcess | undefined;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
    this.baseUrl = `http://127.0.0.1:${port}`;
  }

  static async start(): Promise<Server> {
    const folder = await mkdtemp(join(tmpdir(), "detent-client-"));
    const server = new Server(folder, await freePort());
    await server.up();
    server.key = (await readFile(join(folder, "admin.key"), "utf8")).trim();
    return server;
  }

  /** Start it, again too: the port and the database stay the same. */
  async up(): Promise<void> {
    const command = process.env.DETENT_COMMAND ?? join(ROOT, ".venv/bin/detent");
    const database = `sqlite:///${this.#folder}/detent.db`;
    this.#process = spawn(command, ["serve", "--port", String(this.#port), "--database", database], {
      cwd: this.#folder,
      env: { ...process.env, DETENT_ADMIN_KEY_FILE: join(this.#folder, "admin.key") },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    this.#process.stderr?.on("data", (piece) => {
      said += piece;
    });
    const until = Date.now() + PATIENCE;
    while (!(await this.#answers())) {
      if (this.#process.exitCode !== null || Date.now() > until) throw new Error(`Detent did not come up: ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** End it at once, as a crash would. */
  async kill(): Promise<void> {
    if (this.#process === undefined || this.#process.exitCode !== null) return;
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await ended;
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #answers(): Promise<boolean> {
    try {
      return (await fetch(`${this.baseUrl}/health/ready`)).ok;
    } catch {
      return false;
    }
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
