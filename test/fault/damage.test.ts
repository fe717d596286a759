import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approve, pick, propose, undo } from "../support/actions.ts";
import { call, host, probe } from "../support/agents.ts";
import { checkpointRecords } from "../../kernel/src/journal/background-proof.ts";
import { Bench, inState, leave } from "../support/bench.ts";
import { rememberer, Remembering } from "../support/memory.ts";
import type { Client } from "../support/client.ts";
import type { Action, Agent, Status, TraceEntry } from "../support/types.ts";
import { isAlive, until } from "../support/until.ts";

/*
 * Each file of a workspace's state is damaged in each way while no kernel runs. Damage is detected and named; the file
 * is rebuilt from its source, or refused and left unchanged; it is never used. Unaffected agents keep running, and once
 * the file is restored, everything is as before.
 */

const VICTIM = "test.victim";
const OTHER = "test.other";

let bench: Bench;
let state: string;
let whole: string;
let older: string;
let action: Action;
const remembered = { events: [], word: "remembered" };

beforeAll(async () => {
  bench = await Bench.create({
    files: { "a.txt": "before\n" },
    extensions: [probe({ id: VICTIM }), probe({ id: OTHER })],
  });
  whole = join(bench.base, "whole");
  older = join(bench.base, "older");
  await used(async (client) => {
    ({ stateFolder: state } = await bench.status(client));
    await call(client, VICTIM, "memory.plan.set", { events: [], word: "older" });
    await call(client, OTHER, "memory.plan.set", remembered);
  });
  cpSync(state, older, { recursive: true, filter: isCopied });
  await used(async (client) => {
    await call(client, VICTIM, "memory.plan.set", remembered);
    await host(client, VICTIM, "trace.info", "said before");
    action = await propose(client, VICTIM, { kind: "file.write", path: "a.txt", content: "after\n" });
    action = await approve(client, action);
  });
  cpSync(state, whole, { recursive: true, filter: isCopied });
});
afterAll(() => bench[Symbol.asyncDispose]());

const isCopied = (path: string): boolean => !path.endsWith(".sock");

/** Runs a kernel from its start to its clean end. */
async function used<Result>(run: (client: Client, status: Status) => Promise<Result>): Promise<Result> {
  const client = await bench.open();
  const status = await bench.status(client);
  try {
    return await run(client, status);
  } finally {
    await leave(client);
    process.kill(status.pid, "SIGTERM");
    await until("the kernel to end", () => !isAlive(status.pid));
  }
}

function restore(): void {
  rmSync(state, { recursive: true });
  cpSync(whole, state, { recursive: true });
}

type Damage = (file: string) => void;
const flipAt =
  (share: number): Damage =>
  (file) => {
    const bytes = readFileSync(file);
    const at = Math.min(bytes.length - 1, Math.floor(bytes.length * share));
    writeFileSync(file, bytes.with(at, (bytes[at] ?? 0) ^ 0x11));
  };
const instead =
  (make: (file: string) => unknown): Damage =>
  (file) => {
    rmSync(file, { recursive: true });
    make(file);
  };
const damages = {
  "a byte flipped at its head": flipAt(0.02),
  "a byte flipped in its middle": flipAt(0.5),
  "a byte flipped at its tail": flipAt(1),
  "cut in half": (file) => truncateSync(file, Math.floor(readFileSync(file).length / 2)),
  emptied: (file) => truncateSync(file, 0),
  "an older copy of it": (file) => writeFileSync(file, readFileSync(join(older, file.slice(state.length)))),
  "a folder in its place": instead((file) => mkdirSync(file)),
  "a link in its place": (file) => {
    writeFileSync(`${file}.elsewhere`, readFileSync(file));
    rmSync(file);
    symlinkSync(`${file}.elsewhere`, file);
  },
  "a named pipe in its place": instead((file) => execFileSync("mkfifo", [file])),
} satisfies Record<string, Damage>;
type DamageName = keyof typeof damages;
const all = Object.keys(damages) as DamageName[];
/** Half of them, a different half for each kind; LARES_ROUNDS=2 runs all. */
let kinds = 0;
function some(names: DamageName[]): DamageName[] {
  const first = kinds++ % 2;
  const isLong = Number(process.env["LARES_ROUNDS"] ?? 1) > 1;
  return names.filter((_name, index) => isLong || index % 2 === first);
}
const without = (...names: DamageName[]): DamageName[] => all.filter((name) => !names.includes(name));

const log = (): string => readFileSync(join(state, "kernel.log"), "utf8");
const journal = () => {
  const folder = join(state, "extensions", VICTIM, "memory", "journal");
  return join(folder, readdirSync(folder).toSorted()[0] ?? "");
};

async function checkOthers(client: Client): Promise<void> {
  expect(await call(client, OTHER, "memory.plan.read")).toEqual(remembered);
}
async function checkEverything(client: Client): Promise<void> {
  await checkOthers(client);
  expect(await call(client, VICTIM, "memory.plan.read")).toEqual(remembered);
  expect(await client.request("lares/memory/verify", { agent: VICTIM })).toMatchObject({ ok: true });
  expect(await pick(client, action)).toEqual(action);
}

describe("the memory journal", () => {
  test.each(some(all))(
    "%s: that agent is Error and says so, the others continue, and once restored it is intact",
    async (name) => {
      restore();
      const file = journal();
      damages[name](file);
      await used(async (client) => {
        await checkOthers(client);
        expect(
          await client.raw("lares/tools/call", { agent: VICTIM, name: "seen", arguments: {} }),
        ).toHaveProperty("error");
        expect((await inState(client, VICTIM, "Error")).error).toMatch(
          /journal.*(damaged|seq)|not a regular file/,
        );
        expect(await pick(client, action)).toEqual(action);
      });
      rmSync(file, { recursive: true });
      writeFileSync(file, readFileSync(join(whole, file.slice(state.length))));
      await used(checkEverything);
    },
  );
});

/** Damage that is detected, logged if relevant, and repaired completely. */
const mended: { kind: string; file: () => string; names: DamageName[]; says: RegExp | null }[] = [
  {
    kind: "the checkpoint of working memory",
    file: () => join(state, "extensions", VICTIM, "memory", "working.json"),
    names: all,
    says: null,
  },
  {
    kind: "a prepared module in the cache",
    file: () => cached(),
    names: without("an older copy of it"),
    says: /cache.*made again|not a regular file.*made again/,
  },
  {
    kind: "a bundled program in the cache",
    file: () => bundled(),
    names: without("an older copy of it"),
    says: /cache.*made again|not a regular file.*made again/,
  },
  {
    kind: "the cache's key",
    file: () => join(state, "cache.key"),
    names: without("an older copy of it"),
    says: /made again/,
  },
  { kind: "traces/current.log", file: () => join(state, "traces", "current.log"), names: all, says: null },
  { kind: "kernel.token", file: () => join(state, "kernel.token"), names: all, says: null },
  { kind: "kernel.log", file: () => join(state, "kernel.log"), names: all, says: null },
];
const cached = () => join(state, "cache", readdirSync(join(state, "cache"))[0] ?? "");
const bundled = () => join(state, "bundles", readdirSync(join(state, "bundles"))[0] ?? "");

describe.each(mended)("$kind", ({ file, names, says }) => {
  test.each(some(names))(
    "%s: is discarded and rebuilt, nothing is lost, and the next start is normal",
    async (name) => {
      restore();
      if (!file().endsWith("kernel.log")) rmSync(join(state, "kernel.log"));
      damages[name](file());
      await used(async (client) => {
        await checkEverything(client);
        await host(client, VICTIM, "trace.info", "said after");
        const found = await client.request<TraceEntry[]>("lares/traces/query", { text: "said after" });
        expect(found).toHaveLength(1);
        if (says !== null) expect(log()).toMatch(says);
      });
      rmSync(join(state, "kernel.log"));
      await used(checkEverything);
      expect(log()).not.toMatch(/warn|error/);
    },
  );
});

/**
 * Damage that is refused with a sentence that names the file, which is left unchanged; once it is restored, everything
 * is as before.
 */
const refused: { kind: string; file: () => string; names: DamageName[]; says: RegExp }[] = [
  {
    kind: "ledger.sqlite",
    file: () => join(state, "ledger.sqlite"),
    names: all,
    says: /ledger\.sqlite" is damaged.*backup/,
  },
  {
    kind: "kernel.sock",
    file: () => join(state, "kernel.sock"),
    names: ["a folder in its place", "a named pipe in its place"],
    says: /kernel\.sock" is not a socket of yours.*Remove it/,
  },
];

describe.each(refused)("$kind", ({ file, names, says }) => {
  test.each(some(names))(
    "%s: no kernel starts, and the error says why; once restored, everything is intact",
    async (name) => {
      restore();
      if (!existsSync(file())) writeFileSync(file(), "");
      damages[name](file());
      const client = await bench.connect({ trusted: true });
      const { error } = await client.raw("lares/status");
      expect((error as { message: string } | undefined)?.message).toMatch(says);
      await leave(client);
      restore();
      await used(checkEverything);
    },
  );
});

describe("decisions.yaml", () => {
  test.each(
    without(
      // A person may edit this file: what can still be read is their decision.
      "an older copy of it",
      "a byte flipped at its head",
      "a byte flipped in its middle",
      "a byte flipped at its tail",
    ),
  )(
    "%s: it is kept under another name, everything is asked again, and nothing else is lost",
    async (name) => {
      restore();
      damages[name](join(state, "decisions.yaml"));
      const client = await bench.connect();
      const status = await bench.status(client);
      expect(status.trusted).toBe(false);
      if (name !== "a byte flipped in its middle")
        expect(log()).toMatch(/decisions\.yaml cannot be read.*asked again/);
      await client.request("lares/trust", { trusted: true, digest: status.trust.digest });
      await bench.ready(client);
      await checkEverything(client);
      await leave(client);
      process.kill(status.pid, "SIGTERM");
      await until("the kernel to end", () => !isAlive(status.pid));
    },
  );
});

describe("a stored content", () => {
  test.each(some(without("an older copy of it")))(
    "%s: the undo that needs it is refused, and nothing is changed",
    async (name) => {
      restore();
      const hash = action.effects[0]?.before?.slice("sha256:".length) ?? "";
      damages[name](join(state, "objects", hash.slice(0, 2), hash.slice(2)));
      await used(async (client) => {
        await expect(undo(client, action)).rejects.toMatchObject({
          code: -33011,
          message: expect.stringContaining("stored content"),
        });
        expect(readFileSync(bench.path("a.txt"), "utf8")).toBe("after\n");
        await checkEverything(client);
      });
    },
  );
});

describe("kernel.lock", () => {
  test.each(some(without("an older copy of it")))(
    "%s: nothing hangs; a kernel starts, or says why not",
    async (name) => {
      restore();
      const file = join(state, "kernel.lock");
      writeFileSync(file, "x".repeat(5000));
      damages[name](file);
      const client = await bench.connect({ trusted: true });
      const { error, result } = await client.raw("lares/status");
      if (error === undefined) {
        const { pid } = result as Status;
        await bench.status(client);
        await leave(client);
        process.kill(pid, "SIGTERM");
        await until("the kernel to end", () => !isAlive(pid));
      } else {
        expect((error as { message: string }).message).toMatch(/kernel\.lock/);
        await leave(client);
      }
    },
  );
});

test("a byte flipped before a journal's checkpoint: opening does not detect it, the background proof does, and the agent is Error", async () => {
  const ID = "test.long";
  await using long = await Bench.create({ extensions: [rememberer(ID)] });
  const open = async (): Promise<Client> => long.open();
  let client = await open();
  const { stateFolder, pid } = await long.status(client);
  // The background proof writes a checkpoint after this many records.
  await new Remembering(client, ID).run(
    `for (let n = 0; n < args.count; n += 100)
       await Promise.all(Array.from({ length: 100 }, (_, i) => ctx.memory.history.append("seen", { n: n + i })));`,
    { count: checkpointRecords + 100 },
  );
  const checkpointed = (): boolean => {
    using ledger = new DatabaseSync(join(stateFolder, "ledger.sqlite"), { readOnly: true });
    return ledger.prepare("SELECT 1 FROM memory_checkpoints").get() !== undefined;
  };
  await until("a checkpoint", checkpointed, 60_000);
  await leave(client);
  process.kill(pid, "SIGTERM");
  await until("the kernel to end", () => !isAlive(pid));

  const folder = join(stateFolder, "extensions", ID, "memory", "journal");
  const [first = ""] = readdirSync(folder).toSorted();
  flipAt(0.1)(join(folder, first));
  client = await open();
  const memory = new Remembering(client, ID);
  await memory.run(`await ctx.memory.history.append("seen", { n: -1 });`);
  expect(await inState(client, ID, "Active")).not.toHaveProperty("error");
  const { error } = await until(
    "the agent in Error",
    async () => {
      const [agent] = await client.request<Agent[]>("lares/agents/list");
      return agent?.state === "Error" && agent;
    },
    60_000,
  );
  expect(error).toMatch(/journal in ".*" is damaged at seq \d+.*backup/);
  const refused = await client.raw("lares/tools/call", { agent: ID, name: "run", arguments: { body: "" } });
  expect(refused).toHaveProperty("error");
  await leave(client);
}, 180_000);
