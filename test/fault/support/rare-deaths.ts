import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "vitest";
import type { FailpointName } from "../../../kernel/src/platform/failpoints.ts";
import { sha256Hex } from "../../../kernel/src/platform/files/hash.ts";
import type { Session } from "./session.ts";
import { spinnerExtension } from "./worker-agent.ts";

/** Failpoints that ordinary work does not pass, with the situation that they need. */
export interface RareDeath {
  readonly what: string;
  readonly points: readonly FailpointName[];
  /** Another kernel has to die here first. */
  readonly before?: FailpointName;
  /** In a workspace that no kernel has used. */
  readonly isFirstStart?: true;
  /** The kernel passes it after its last client has left. */
  readonly isEnding?: true;
  /** While no kernel runs. */
  prepare?(session: Session, stateFolder: string): Promise<void>;
  work?(session: Session): Promise<void>;
  /** While a later kernel runs. */
  check?(session: Session, stateFolder: string): Promise<void>;
  /** After its end. */
  checkEnded?(session: Session, stateFolder: string): Promise<void>;
}

const orphan = "nobody needs this";
const orphanHash = sha256Hex(orphan);
const unreadable = "trust: [this is {no YAML\n";
const cachedFilesAtMost = 256;
const yesterday = new Date(Date.now() - 86_400_000).toISOString();
let spun = 0;

export const rareDeaths: readonly RareDeath[] = [
  {
    what: "bringing a new database up to date",
    points: ["database.migration.executed", "database.migration.committed"],
    isFirstStart: true,
  },
  {
    what: "preparing a module",
    points: ["cache.write.begun", "cache.write.written", "cache.write.renamed"],
    prepare: (_session, stateFolder) => rm(join(stateFolder, "cache"), { recursive: true, force: true }),
  },
  {
    what: "dropping what the cache no longer holds",
    points: ["cache.drop.removed"],
    async prepare(_session, stateFolder) {
      await rm(join(stateFolder, "cache"), { recursive: true, force: true });
      await mkdir(join(stateFolder, "cache"));
      for (let n = 0; n < cachedFilesAtMost; n++)
        await writeFile(join(stateFolder, "cache", `${n}.wasm`), "");
    },
    async check(_session, stateFolder) {
      expect((await readdir(join(stateFolder, "cache"))).length).toBeLessThanOrEqual(cachedFilesAtMost);
    },
  },
  {
    what: "rotating the traces of a day that is over",
    points: ["traces.rotate.closed", "traces.rotate.renamed", "traces.rotate.opened"],
    async prepare(_session, stateFolder) {
      const ids = { trace_id: "t", span_id: "s" };
      const entry = { timestamp: yesterday, level: "info", agent: "test.old", message: "kept", ...ids };
      await rm(join(stateFolder, "traces"), { recursive: true });
      await mkdir(join(stateFolder, "traces"));
      await writeFile(join(stateFolder, "traces/current.log"), `${JSON.stringify(entry)}\n`);
    },
    async check({ load }, stateFolder) {
      const found = await load.read("the old trace", () =>
        load.ask<object[]>("lares/traces/query", { agent: "test.old" }),
      );
      expect(found).toMatchObject([{ message: "kept" }]);
      const names = (await readdir(join(stateFolder, "traces"))).toSorted();
      if (names.length === 1) {
        // Rotated with the next entry: if the death came after the last one, none has followed yet.
        const current = await readFile(join(stateFolder, "traces/current.log"), "utf8");
        expect(current.split("\n").filter((line) => !line.includes("test.old"))).toEqual([""]);
      } else expect(names).toEqual([`${yesterday.slice(0, 10)}.log`, "current.log"]);
    },
  },
  {
    what: "removing traces that are too old",
    points: ["traces.expire.removed"],
    prepare: (_session, stateFolder) => writeFile(join(stateFolder, "traces/2020-01-01.log"), "{}\n"),
    async check(_session, stateFolder) {
      expect(await readdir(join(stateFolder, "traces"))).not.toContain("2020-01-01.log");
    },
  },
  {
    what: "removing a content that nobody needs",
    points: ["objects.sweep.found", "objects.sweep.removed"],
    async prepare(_session, stateFolder) {
      const shelf = join(stateFolder, "objects", orphanHash.slice(0, 2));
      await mkdir(shelf, { recursive: true });
      await writeFile(join(shelf, orphanHash.slice(2)), orphan);
    },
    async check(_session, stateFolder) {
      const names = await readdir(join(stateFolder, "objects"), { recursive: true });
      expect(names).not.toContain(join(orphanHash.slice(0, 2), orphanHash.slice(2)));
    },
  },
  {
    what: "setting decisions aside that cannot be read",
    points: ["decisions.set-aside.begun", "decisions.set-aside.renamed"],
    async prepare({ load }, stateFolder) {
      for (const name of await readdir(stateFolder))
        if (name.includes(".unreadable-")) await rm(join(stateFolder, name));
      await writeFile(join(stateFolder, "decisions.yaml"), unreadable);
      load.witness.rules.clear();
    },
    async check(_session, stateFolder) {
      const names = (await readdir(stateFolder)).filter((name) => name.includes(".unreadable-"));
      expect(names).toHaveLength(1);
      expect(await readFile(join(stateFolder, names[0] ?? ""), "utf8")).toBe(unreadable);
    },
  },
  {
    what: "taking an interrupted action back",
    points: ["actions.before-revert", "actions.after-revert"],
    before: "actions.before-record",
  },
  {
    what: "beginning the journal's next segment",
    points: ["journal.segment.created"],
    async work({ load }) {
      await load.tool("grow", { times: 80 });
    },
  },
  {
    what: "trying a delivery again, and giving it up",
    points: [
      "inbox.retry.begun",
      "inbox.retry.committed",
      "inbox.deadLetter.begun",
      "inbox.deadLetter.committed",
    ],
    async work({ bench, load }) {
      await bench.write(`spin/${++spun}.txt`, "x");
      await load.round();
      await load.read("the spinner to be given up", () => load.settled());
    },
    async checkEnded(_session, stateFolder) {
      using database = new DatabaseSync(join(stateFolder, "ledger.sqlite"), { readOnly: true });
      const kept = database
        .prepare("SELECT payload FROM inbox UNION ALL SELECT payload FROM inbox_dead")
        .all()
        .map(({ payload }) => /spin\/\d+\.txt/.exec(String(payload))?.[0]);
      expect(kept).toHaveLength(spun);
      expect(new Set(kept)).toEqual(new Set(Array.from({ length: spun }, (_, n) => `spin/${n + 1}.txt`)));
    },
  },
  {
    what: "closing down",
    points: ["working.checkpoint.begun", "working.checkpoint.done", "lock.note-removed", "lock.released"],
    isEnding: true,
  },
];

export { spinnerExtension };
