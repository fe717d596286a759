import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { TemporaryFolder } from "../../support/temporary-folder.ts";
import { isAlive, until } from "../../support/until.ts";
import { codeServer, nodeExecutable } from "./home.ts";

const workspaceFile = "several.code-workspace";

const fixture = fileURLToPath(new URL("../workspace/", import.meta.url));

export interface VSCodeOptions {
  /** Installed into an empty profile; without it, the checkout's extension can be used (`smoke`). */
  readonly vsix?: string;
  /** Uses the driver of VS Code's own smoke tests, by which suites run inside the extension host; it hides toasts. */
  readonly smoke?: boolean;
  /** Files below the workspace's root instead of the fixture. */
  readonly files?: Readonly<Record<string, string>>;
  /** Files of the user's own, beside their `lares.yaml`. */
  readonly userFiles?: Readonly<Record<string, string>>;
  /** Other extensions of the profile: their files by path, which begins with the extension's folder. */
  readonly extensions?: Readonly<Record<string, string>>;
  /** Folders below the workspace's root that are opened together, instead of that root. */
  readonly roots?: readonly string[];
  /** With VS Code's own question whether the folder is trusted. */
  readonly asksForTrust?: boolean;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly environment?: NodeJS.ProcessEnv;
}

const quietSettings = {
  "workbench.startupEditor": "none",
  "telemetry.telemetryLevel": "off",
  "chat.disableAIFeatures": true,
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.reduceMotion": "on",
  "window.menuBarVisibility": "hidden",
  "editor.minimap.enabled": false,
  "git.enabled": false,
  // As on a desktop; in a browser VS Code saves a second after the last key.
  "files.autoSave": "off",
};

/** A VS Code that is served on a port of this machine, with all its files in one temporary folder. */
export class VSCode implements AsyncDisposable {
  /** Real path. */
  readonly base: string;
  readonly port: number;
  readonly #folder: TemporaryFolder;
  readonly #server: ChildProcess;
  /** True if it opens a `.code-workspace` file. */
  readonly #hasRoots: boolean;

  private constructor(folder: TemporaryFolder, port: number, server: ChildProcess, hasRoots: boolean) {
    this.#folder = folder;
    this.base = folder.path;
    this.port = port;
    this.#server = server;
    this.#hasRoots = hasRoots;
  }

  static async start(options: VSCodeOptions = {}): Promise<VSCode> {
    const folder = await TemporaryFolder.create("lares-e2e-");
    const base = folder.path;
    for (const name of ["data/User", "extensions", "tmp", "home", "lares", "workspace"])
      await mkdir(join(base, name), { recursive: true });
    await writeFile(join(base, "config.yaml"), "auth: none\n");
    await writeSettings(base, options.settings);
    if (options.files === undefined) cpSync(fixture, join(base, "workspace"), { recursive: true });
    else await writeFiles(join(base, "workspace"), options.files);
    await writeFiles(join(base, "config", "lares"), options.userFiles ?? {});
    await writeFiles(join(base, "extensions"), options.extensions ?? {});
    const { roots } = options;
    if (roots !== undefined)
      await writeFile(
        join(base, workspaceFile),
        JSON.stringify({ folders: roots.map((path) => ({ path: join("workspace", path) })) }),
      );

    const port = await freePort();
    const environment = {
      ...process.env,
      HOME: join(base, "home"),
      XDG_CONFIG_HOME: join(base, "config"),
      TMPDIR: join(base, "tmp"),
      EXTENSIONS_GALLERY: "{}",
      LARES_HOME: join(base, "lares"),
      LARES_E2E_RESULTS: join(base, "results.json"),
      LARES_E2E_AUTHORITY: `127.0.0.1:${port}`,
      LARES_KERNEL_LINGER: "1s",
      NODE_OPTIONS: "",
      ...options.environment,
    };
    const entry = join(codeServer, "out", "node", "entry.js");
    const folders = ["--user-data-dir", join(base, "data"), "--extensions-dir", join(base, "extensions")];
    const common = [entry, "--config", join(base, "config.yaml"), ...folders];
    if (options.vsix !== undefined)
      execFileSync(nodeExecutable, [...common, "--install-extension", options.vsix], {
        env: environment,
        stdio: "ignore",
      });
    const log = openSync(join(base, "server.log"), "a");
    const server = spawn(
      nodeExecutable,
      [
        ...common,
        "--auth=none",
        `--bind-addr=127.0.0.1:${port}`,
        "--ignore-last-opened",
        "--disable-telemetry",
        "--disable-update-check",
        "--disable-getting-started-override",
        ...(options.asksForTrust === true ? [] : ["--disable-workspace-trust"]),
        ...(options.smoke === true ? ["--vscode-option", "enable-smoke-test-driver"] : []),
      ],
      // In a process group of its own, so that its children can be ended with it.
      { detached: true, stdio: ["ignore", log, log], env: environment },
    );
    const vscode = new VSCode(folder, port, server, roots !== undefined);
    try {
      await until("VS Code to answer", async () => {
        if (server.exitCode !== null) throw new Error(vscode.log());
        return await fetch(`${vscode.url}/healthz`).then(
          ({ ok }) => ok,
          () => false,
        );
      });
    } catch (error) {
      await vscode[Symbol.asyncDispose]();
      throw error;
    }
    return vscode;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Returns the address of the workspace; `parameters` are VS Code's own. */
  page(parameters: Readonly<Record<string, string>> = {}): string {
    const opened: Record<string, string> = this.#hasRoots
      ? { workspace: join(this.base, workspaceFile) }
      : { folder: this.workspace() };
    const query = new URLSearchParams({ ...opened, ...parameters });
    return `${this.url}/?${query.toString()}`;
  }

  /** The folder in which kernels keep their state. */
  get home(): string {
    return join(this.base, "lares");
  }

  workspace(path = ""): string {
    return join(this.base, "workspace", path);
  }

  /** Where the user's own `lares.yaml` is: in its folder `lares`. */
  get configuration(): string {
    return join(this.base, "config");
  }

  /** Other settings than it was started with; windows that are open take them over. */
  configure(settings: Readonly<Record<string, unknown>>): Promise<void> {
    return writeSettings(this.base, settings);
  }

  /** Returns what a suite in the extension host wrote at its end. */
  results(): string {
    return readFileSync(join(this.base, "results.json"), "utf8");
  }

  hasResults(): boolean {
    return existsSync(join(this.base, "results.json"));
  }

  log(): string {
    return readFileSync(join(this.base, "server.log"), "utf8");
  }

  /** Returns the logs of the extension and the kernel. */
  logs(): string[] {
    return [...filesBelow(join(this.base, "data", "logs")), ...filesBelow(this.home)].filter((path) =>
      path.endsWith(".log"),
    );
  }

  /** Every file that it, the kernel or somebody who uses them has written. */
  files(): string[] {
    return filesBelow(this.base);
  }

  /** The processes that hold a workspace's state now. */
  kernels(): number[] {
    return filesBelow(this.home)
      .filter((path) => path.endsWith("kernel.lock.pid"))
      .map(pidIn)
      .filter((pid) => pid > 0 && isAlive(pid));
  }

  /** Resolves to the one kernel, once it runs. */
  kernel(): Promise<number> {
    return until("a kernel", () => this.kernels()[0]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid, exitCode, signalCode } = this.#server;
    if (pid !== undefined && exitCode === null && signalCode === null) {
      const gone = once(this.#server, "exit");
      process.kill(-pid, "SIGTERM");
      await gone;
    }
    await until("the kernels to end", () => this.kernels().length === 0).catch(() => {
      for (const kernel of this.kernels()) process.kill(kernel, "SIGKILL");
    });
    await this.#folder[Symbol.asyncDispose]();
  }
}

function writeSettings(base: string, settings: Readonly<Record<string, unknown>> = {}): Promise<void> {
  return writeFile(join(base, "data/User/settings.json"), JSON.stringify({ ...quietSettings, ...settings }));
}

async function writeFiles(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, path, ".."), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

/** Returns 0 if a kernel that starts or ends has just written or removed the file. */
function pidIn(path: string): number {
  try {
    return Number(readFileSync(path, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
    throw error;
  }
}

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    // Not created yet by VS Code or the kernel, or removed meanwhile.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("No port of its own.");
  return address.port;
}
