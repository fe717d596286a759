import type { Clock } from "../../base/clock.ts";
import { requestCancelled } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import { silentLog } from "../../base/log.ts";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import type { Action, EffectInput } from "../../base/vocabulary/action.ts";
import type { RememberedRule } from "../../base/vocabulary/approval-rule.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import type { EntryMetadata, MetadataChange } from "../../base/vocabulary/metadata.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import { personAt } from "../../base/vocabulary/principal.ts";
import type { Database, openDatabase, Migration, Statement } from "../../platform/database/database.ts";
import { openObjectStore, type ObjectStore } from "../../platform/files/object-store.ts";
import { openRootedFs } from "../../platform/files/rooted-fs.ts";
import { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import { openNearDatabase } from "../../platform/testing/near-database.ts";
import type { Actions } from "../api.ts";
import { openActions } from "../service/actions.ts";
import { ContentTasks } from "../contents/content-tasks.ts";
import { ContentQueue } from "../contents/content-work.ts";
import { actionsMigrations } from "../ledger/migrations.ts";
import { slotOf } from "../metadata.ts";
import { valueOf } from "../operations.ts";
import type { ActionSettings, ContentWork, MetadataPort } from "../ports.ts";
import type { EndedAction } from "../unseen.ts";

export const program: Hash = `sha256:${"0".repeat(64)}`;
export const agent = "dev.test.agent";

/** Metadata as the workspace keeps it: rows in the actions' own database, and a copy in memory. */
export class TestMetadata implements MetadataPort {
  readonly #values = new Map<string, JsonValue>();

  static readonly migrations: readonly Migration[] = [
    {
      name: "test-metadata",
      sql: "CREATE TABLE test_metadata (slot TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    },
  ];

  async load(database: Database): Promise<void> {
    for (const { slot, value } of await database.query<{ slot: string; value: string }>(
      "SELECT * FROM test_metadata",
    )) {
      this.#values.set(slot, JSON.parse(value) as JsonValue);
    }
  }

  /** All metadata by slot, for comparison. */
  all(): Record<string, JsonValue> {
    return Object.fromEntries([...this.#values].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  }

  current(path: string): EntryMetadata | null {
    const tags: string[] = [];
    const fields: Record<string, Record<string, unknown>> = {};
    for (const [slot, value] of this.#values) {
      const [of, kind, first, second] = JSON.parse(slot) as [string, string, string, string];
      if (of !== path) continue;
      if (kind === "tag") tags.push(first);
      if (kind === "field") fields[first] = { ...fields[first], [second]: value };
    }
    return tags.length === 0 && Object.keys(fields).length === 0 ? null : { tags, fields };
  }

  async kept(path: string): Promise<MetadataChange[]> {
    return [...this.#values].flatMap(([slot, value]): MetadataChange[] => {
      const [of, kind, first, second] = JSON.parse(slot) as [string, string, string, string];
      if (of !== path) return [];
      if (kind === "tag") return [{ kind, path, tag: first, present: true }];
      if (kind === "field") return [{ kind, path, namespace: first, key: second, value }];
      return [{ kind: "sidecar", path, sidecar: first, data: value }];
    });
  }

  restore(changes: readonly MetadataChange[]): Statement[] {
    return changes.flatMap((change) => this.statements(change));
  }

  /** Drops the metadata of a path, as the index does for missing entries. */
  gone(path: string): void {
    for (const slot of this.#values.keys()) {
      if ((JSON.parse(slot) as string[])[0] === path) this.#values.delete(slot);
    }
  }

  async sidecar(path: string, sidecar: string): Promise<{ data: JsonValue } | null> {
    const data = this.#values.get(slotOf({ kind: "sidecar", path, sidecar }));
    return data === undefined ? null : { data };
  }

  statements(change: MetadataChange): Statement[] {
    const value = valueOf(change);
    return value === undefined
      ? [{ sql: "DELETE FROM test_metadata WHERE slot = ?", params: [slotOf(change)] }]
      : [
          {
            sql: "INSERT OR REPLACE INTO test_metadata (slot, value) VALUES (?, ?)",
            params: [slotOf(change), JSON.stringify(value)],
          },
        ];
  }

  applied(change: MetadataChange): void {
    const value = valueOf(change);
    if (value === undefined) this.#values.delete(slotOf(change));
    else this.#values.set(slotOf(change), value);
  }
}

export interface Bench extends AsyncDisposable {
  readonly actions: Actions;
  readonly clock: ManualClock;
  readonly metadata: TestMetadata;
  readonly objects: ObjectStore;
  readonly contents: ContentWork;
  readonly database: Database;
  readonly settings: { -readonly [Key in keyof ActionSettings]: ActionSettings[Key] };
  authority: Authority | null;
  readonly unsaved: Set<string>;
  readonly remembered: RememberedRule[];
  /** Simulates a full disk. */
  failsToRemember: boolean;
  /** A person has stopped what every proposal is for. */
  isStopped: boolean;
  readonly touched: string[];
  /** The ends of actions that were delivered to agents, in order. */
  readonly ends: EndedAction[];
  readonly copies: Map<Hash, string[]>;
  /** The names that the index excludes, with everything beneath them. */
  readonly leftOut: Set<string>;
  /** How long the index takes to say whether it excludes a path. Milliseconds. */
  hidesMs: number;
  /** The CPU time of each request to the content thread. Milliseconds. */
  workCostMs: number;
  propose(...effects: EffectInput[]): Promise<Action>;
  preview(...effects: EffectInput[]): Promise<Action>;
  /** Proposes, and approves if policy asks. */
  perform(...effects: EffectInput[]): Promise<Action>;
}

/** The principal that decides in these tests. */
export const person = personAt();

export const everything: Authority = {
  extension: agent,
  requested: {},
  effective: {
    read_entries: true,
    propose_actions: ["*"],
    write_tags: true,
    write_custom_fields: { namespace: "test" },
    write_sidecars: { kinds: ["notes", "more"] },
  },
  denied: [],
  locations: ["."],
  protectedPaths: [],
  forbiddenPaths: [],
  memory: true,
  namespaces: {},
};

/** Opens the actions room over real folders and a real database; the ports to other rooms are simple fakes. */
export async function openBench(options: {
  readonly roots: readonly { readonly name: string; readonly path: string }[];
  readonly state: string;
  readonly clock?: ManualClock;
  /**
   * For a process that will be killed: opens the database in a thread, as the kernel does. By default it is in this
   * thread.
   */
  readonly openDatabase?: typeof openDatabase;
}): Promise<Bench> {
  const clock = options.clock ?? new ManualClock();
  const roots = await Promise.all(
    options.roots.map(async ({ name, path }) => ({ name, files: await openRootedFs(path) })),
  );
  const database = await (options.openDatabase ?? openNearDatabase)({
    path: `${options.state}/ledger.sqlite`,
    migrations: [...actionsMigrations, ...TestMetadata.migrations],
    log: silentLog,
  });
  const objects = await openObjectStore(`${options.state}/objects`);
  const metadata = new TestMetadata();
  await metadata.load(database);
  const bench = {
    clock,
    metadata,
    objects,
    database,
    settings: { rules: [], autoApproveBelow: 0, expireAfterMs: 86_400_000 } as Bench["settings"],
    authority: everything as Authority | null,
    unsaved: new Set<string>(),
    remembered: [] as RememberedRule[],
    failsToRemember: false,
    isStopped: false,
    touched: [] as string[],
    ends: [] as EndedAction[],
    copies: new Map<Hash, string[]>(),
    leftOut: new Set<string>(),
    hidesMs: 0,
    workCostMs: 0,
  };
  const hides = (path: string): boolean => {
    clock.advance(bench.hidesMs);
    return path.split("/").some((name) => bench.leftOut.has(name));
  };
  const files = new WorkspaceFiles(roots);
  // In this thread, because starting a thread would take longer than the test.
  const tasks = new ContentTasks(files);
  const contents = new ContentQueue({
    run: (request, budget) => {
      budget.charge(bench.workCostMs);
      return tasks.run(request);
    },
    [Symbol.asyncDispose]: async () => undefined,
  });
  const actions = openActions({
    database,
    files,
    contents,
    objects,
    clock: clock satisfies Clock,
    log: silentLog,
    metadata,
    settings: () => bench.settings,
    authorityOf: () => bench.authority,
    openWithUnsavedChanges: async (paths) => paths.find((path) => bench.unsaved.has(path)) ?? null,
    copies: (content) => bench.copies.get(content) ?? [],
    index: {
      lists: (path) => !hides(path),
      hides,
      isRules: (path) => path.endsWith(".gitignore"),
      showsBeneath: async () => true,
    },
    checkGoesOn: () => {
      if (bench.isStopped) throw requestCancelled("What this was for was stopped.");
    },
    touched: async (paths) => {
      bench.touched.push(...paths);
      for (const path of paths) if ((await files.stat(path)) === null) metadata.gone(path);
    },
    tellEnd: (_agent, end) => ({ statements: [], committed: () => void bench.ends.push(end) }),
    remember: async (rules) => {
      if (bench.failsToRemember) throw new Error("no space is left");
      bench.remembered.push(...rules);
    },
    originOf: ({ rule }) =>
      rule === undefined ? {} : { place: { path: "/rules.yaml", line: 1 }, decision: "d" },
    used: () => [],
  });
  const proposalOf = (effects: EffectInput[]) => ({ title: "A test", reason: "To see", effects });
  const propose = async (...effects: EffectInput[]): Promise<Action> =>
    (await actions.propose(bench.authority ?? everything, program, proposalOf(effects))).action;
  return Object.assign(bench, {
    actions,
    contents,
    propose,
    preview: async (...effects: EffectInput[]) =>
      (await actions.preview(bench.authority ?? everything, program, proposalOf(effects))).action,
    perform: async (...effects: EffectInput[]) => {
      const { id, state, digest } = await propose(...effects);
      return state === "PendingApproval" ? actions.approve(person, id, { digest }) : actions.settled(id);
    },
    async [Symbol.asyncDispose]() {
      await actions[Symbol.asyncDispose]();
      await contents[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      for (const { files } of roots) files[Symbol.dispose]();
    },
  });
}
