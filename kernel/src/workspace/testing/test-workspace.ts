import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Log } from "../../base/log.ts";
import type { EntryChange } from "../../base/vocabulary/event.ts";
import { systemClock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { openRootedFs } from "../../platform/files/rooted-fs.ts";
import { openNearDatabase } from "../../platform/testing/near-database.ts";
import { workspaceMigrations } from "../migrations.ts";
import type { FileReads, Workspace, WorkspaceOptions } from "../ports.ts";
import { openWorkspace } from "../workspace.ts";

/** A workspace for this room's tests: a real folder, a real database, and a record of the deliveries. */
export interface TestWorkspace extends AsyncDisposable {
  readonly root: string;
  readonly workspace: Workspace;
  readonly database: Database;
  /** One line for each change, oldest first: "created a.txt", "moved a.txt -> b.txt". */
  readonly lines: string[];
  readonly changes: EntryChange[];
  readonly runs: { entries: number; durationMs: number }[];
  readonly warnings: string[];
  /** Roots that were found again. */
  readonly returned: string[];
  path(name: string): string;
  /** Writes a file; creates the folders on the way. `old`: last written an hour ago. */
  write(name: string, content?: string, options?: { old?: boolean }): void;
  /** Clears the record of deliveries once nothing is going on. */
  settle(): Promise<void>;
  /** Stops and starts on the same folder and database, after `between`. */
  restart(between?: () => void | Promise<void>): Promise<void>;
  /** Resolves when the condition holds; the test's own timeout is the limit. */
  until(condition: () => boolean | Promise<boolean>): Promise<void>;
  /** Returns the deliveries in the database, as the same lines. */
  delivered(): Promise<string[]>;
}

interface TestOptions {
  readonly index?: Partial<WorkspaceOptions["index"]>;
  readonly prepare?: (write: TestWorkspace["write"], root: string) => void;
  readonly roots?: (root: string) => WorkspaceOptions["roots"];
  /** Wraps the workspace's database. */
  readonly database?: (real: Database) => Database;
  /** Wraps the workspace's files. */
  readonly reads?: (real: FileReads) => FileReads;
}

function lineOf(change: EntryChange): string {
  switch (change.kind) {
    case "deleted":
      return `deleted ${change.path}`;
    case "moved":
      return `moved ${change.from} -> ${change.entry.path}`;
    case "tag_added":
    case "tag_removed":
      return `${change.kind} ${change.entry.path} ${change.tag}`;
    case "created":
    case "modified":
      return `${change.kind} ${change.entry.path}`;
  }
}

export async function openTestWorkspace(options: TestOptions = {}): Promise<TestWorkspace> {
  const home = mkdtempSync(join(tmpdir(), "lares-workspace-"));
  const root = join(home, "root");
  mkdirSync(root);
  const write: TestWorkspace["write"] = (name, content = name, { old = false } = {}) => {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    if (old) utimesSync(path, new Date(Date.now() - 3_600_000), new Date(Date.now() - 3_600_000));
  };
  options.prepare?.(write, root);
  const lines: string[] = [];
  const changes: EntryChange[] = [];
  const runs: { entries: number; durationMs: number }[] = [];
  const warnings: string[] = [];
  const returned: string[] = [];
  const log: Log = { debug() {}, info() {}, warn: (message) => void warnings.push(message), error() {} };

  const open = async (): Promise<{ database: Database; workspace: Workspace }> => {
    const real = await openNearDatabase({
      path: join(home, "ledger.sqlite"),
      log,
      migrations: [
        ...workspaceMigrations,
        { name: "test", sql: "CREATE TABLE delivered (line TEXT NOT NULL) STRICT" },
      ],
    });
    const workspace = await openWorkspace(
      {
        roots: options.roots?.(root) ?? [{ name: "root", path: root }],
        stateFolder: join(root, "state"),
        index: { hidden: false, ignore: [], ...options.index },
      },
      {
        database: options.database?.(real) ?? real,
        clock: systemClock,
        log,
        open: async (path) => {
          const real = await openRootedFs(path);
          return options.reads?.(real) ?? real;
        },
        deliver: (found) => ({
          statements: found.map((change) => ({
            sql: "INSERT INTO delivered VALUES (?)",
            params: [lineOf(change)],
          })),
          committed: () => {
            changes.push(...found);
            lines.push(...found.map(lineOf));
          },
        }),
        indexed: (run) => void runs.push(run),
        rootReturned: (path) => void returned.push(path),
      },
    );
    await workspace.start();
    await workspace.indexed;
    return { database: real, workspace };
  };

  let opened = await open();
  const close = async (): Promise<void> => {
    await opened.workspace[Symbol.asyncDispose]();
    await opened.database[Symbol.asyncDispose]();
  };
  const forget = (): void => {
    lines.length = 0;
    changes.length = 0;
  };
  return {
    root,
    get workspace() {
      return opened.workspace;
    },
    get database() {
      return opened.database;
    },
    lines,
    changes,
    runs,
    warnings,
    returned,
    path: (name) => join(root, name),
    write,
    settle: async () => {
      await opened.workspace.idle();
      forget();
    },
    restart: async (between) => {
      await close();
      forget();
      await between?.();
      opened = await open();
    },
    until: async (condition) => {
      while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
    },
    delivered: async () => {
      const rows = await opened.database.query<{ line: string }>("SELECT line FROM delivered ORDER BY rowid");
      return rows.map(({ line }) => line);
    },
    [Symbol.asyncDispose]: async () => {
      await close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export const everything = (): boolean => true;

/** Returns all paths that a query finds, page by page. */
export async function pathsOf(workspace: Workspace): Promise<string[]> {
  const paths: string[] = [];
  for (let cursor: string | undefined; ;) {
    const query = { limit: 1000, ...(cursor === undefined ? {} : { cursor }) };
    const page = await workspace.query(query, everything);
    paths.push(...page.items.map(({ path }) => path));
    if (page.cursor === undefined) return paths;
    cursor = page.cursor;
  }
}
