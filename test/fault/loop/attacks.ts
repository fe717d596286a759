import type { Client } from "../../support/client.ts";
import type { Action } from "../../support/types.ts";

export const ATTACKER = "test.attacker";
/** Number of files in the folder that is moved. */
export const members = 8000;

/** Work that an agent causes, as much at once as it may. */
interface LoopAttack {
  readonly name: string;
  /** What it does, as the predicate of a sentence about an agent. */
  readonly does: string;
  /** Body of an async function of `call(method, params)` and `all(count, make)`, in the guest. */
  readonly body: string;
  /** True if it certainly takes longer than a few answers to another client. */
  readonly isLong?: true;
  /**
   * True if it is one uninterrupted piece of work: an event loop that does it answers nobody from beginning to end.
   * With many pieces, others would get answers in between, wherever the work is done.
   */
  readonly isOnePiece?: true;
  /** The request that another client repeats once the agent has prepared the data for it. */
  asks?(client: Client): Promise<unknown>;
}

const preview = (effects: string): string =>
  `call("actions/preview", { title: "t", reason: "r", effects: ${effects} })`;

export const loopAttacks: readonly LoopAttack[] = [
  {
    name: "doublings",
    isLong: true,
    does: "previews a thousand edits that double a file",
    body: `
      const edits = Array.from({ length: 1000 }, () => ({ find: "a", replace: "aa", all: true }));
      await all(8, () => ${preview(`[{ kind: "file.edit", path: "one.txt", edits }]`)});`,
  },
  {
    name: "edits",
    isLong: true,
    does: "previews a thousand edits of a text that nearly holds what they look for",
    body: `
      const edits = Array.from({ length: 400 }, () => ({ find: "b" + "a".repeat(1000), replace: "" }));
      await all(64, () => ${preview(`[{ kind: "file.edit", path: "many.txt", edits }]`)});`,
  },
  {
    name: "piece",
    isLong: true,
    isOnePiece: true,
    does: "previews one change whose edits search a hundred megabytes",
    body: `
      const edits = Array.from({ length: 60 }, () => ({ find: "c", replace: "c" }));
      await all(1, () => ${preview(`[{ kind: "file.edit", path: "marked.txt", edits }]`)});`,
  },
  {
    name: "diffs",
    does: "previews texts that differ in every other line",
    body: `
      const content = "b\\na\\n".repeat(120_000);
      await all(64, () => ${preview(`[{ kind: "file.write", path: "lines.txt", content }]`)});`,
  },
  {
    name: "moves",
    isLong: true,
    does: `previews the move of a folder of ${members} files`,
    body: `await all(60, () => ${preview(`[{ kind: "file.move", from: "big", to: "moved" }]`)});`,
  },
  {
    name: "contents",
    does: "previews a megabyte of base64",
    body: `
      const content_base64 = "AAAA".repeat(240_000);
      await all(64, () => ${preview(`[{ kind: "file.write", path: "new.bin", content_base64 }]`)});`,
  },
  {
    name: "sidecars",
    isLong: true,
    does: "previews a thousand changes beside one file, whose sidecar is large",
    body: `
      const data = Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => ["key" + at, at]));
      await call("actions/propose", { title: "t", reason: "r", effects: [{ kind: "sidecar.write", path: "one.txt", sidecar: "faces", data }] });
      const effects = Array.from({ length: 1000 }, (_, at) => ({ kind: "sidecar.write", path: "one.txt", sidecar: "faces", data: at }));
      await all(32, () => ${preview("effects")});`,
  },
  {
    name: "fields",
    isLong: true,
    does: "previews fields with large values",
    body: `
      const value = Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => ["key" + (40_000 - at), [at]]));
      await all(64, () => ${preview(`[{ kind: "field.set", path: "one.txt", namespace: "probe", key: "k", value }]`)});`,
  },
  {
    name: "shapes",
    does: "previews a thousand effects of no known shape",
    body: `
      const effects = Array.from({ length: 1000 }, (_, at) => ({ kind: "file.edit", path: "one.txt", edits: Array.from({ length: 20 }, () => ({ find: 1 })) }));
      await all(64, () => ${preview("effects")});`,
  },
  {
    name: "proposals",
    does: "proposes a thousand effects at once, until no more may wait",
    body: `
      const effects = Array.from({ length: 1000 }, (_, at) => ({ kind: "folder.create", path: "made/" + at }));
      await all(64, () => call("actions/propose", { title: "t", reason: "r", effects }));`,
  },
  {
    name: "schemas",
    does: "calls tools whose arguments can hardly be checked",
    body: `await all(16, () => call("tools/call", { agent: "${ATTACKER}", name: "fanned", arguments: {} }));`,
  },
  {
    name: "arguments",
    isLong: true,
    does: "calls tools with a megabyte of arguments",
    body: `
      const items = Array.from({ length: 60_000 }, (_, at) => ({ at }));
      await all(30, () => call("tools/call", { agent: "${ATTACKER}", name: "unique", arguments: { items } }));`,
  },
  {
    name: "globs",
    does: "asks for entries by the worst globs and texts it knows",
    body: `
      await all(64, (at) => call("vdfs/query", at % 2 === 0
        ? { path: "**/" + "*a".repeat(60) + "b", limit: 1000 }
        : { text: "a".repeat(200), limit: 1000 }));`,
  },
  {
    name: "pages",
    does: "asks for the largest pages of entries",
    body: `await all(64, () => call("vdfs/query", { limit: 1000 }));`,
  },
  {
    name: "traces",
    does: "traces large, deep fields as often as it may",
    body: `
      let deep = { secret: "x" };
      for (let level = 0; level < 50; level++) deep = { deep, token: "y" };
      const fields = { deep, wide: Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => ["password" + at, "z" + at])) };
      for (let round = 0; round < 300; round++) { notify("trace", { level: "error", message: "m".repeat(1000), fields }); if (round % 20 === 0) await call("shared/read", { key: "none" }).catch(() => {}); }`,
  },
  {
    name: "events",
    does: "emits large events that many hooks filter",
    body: `
      const text = "a".repeat(60_000);
      await all(200, () => call("events/emit", { name: "Ping", data: { text, list: [] } }));`,
  },
  {
    name: "swaps",
    isLong: true,
    does: "replaces a megabyte of working memory without end",
    body: `
      const state = { list: Array.from({ length: 90_000 }, (_, at) => at) };
      for (let round = 0; round < 8; round++) await all(16, async () => {
        const { revision } = await call("memory/working/read", {});
        return call("memory/working/swap", { revision, state });
      });`,
  },
  {
    name: "memories",
    does: "appends and asks for memories with long lists of conditions",
    body: `
      await all(64, (at) => call("memory/temporal/append", { variant: "v", data: { at, text: "x".repeat(10_000) } }));
      const where = Array.from({ length: 2000 }, (_, at) => ({ field: "a.b.c" + at, op: "in", value: Array.from({ length: 20 }, (_, v) => v) }));
      await all(32, () => call("memory/temporal/query", { where, text: { match: "x ".repeat(2000) } }));`,
  },
  {
    name: "knowledge",
    does: "adds and searches knowledge with large vectors and texts",
    body: `
      const embedding = Array.from({ length: 4096 }, (_, at) => at / 4096);
      await all(32, (at) => call("memory/associative/add", { variant: "v", data: { at }, text: "word ".repeat(10_000), embedding }));
      await all(32, () => call("memory/search", { text: "word ".repeat(10_000), limit: 10 }));`,
  },
  {
    name: "shared",
    does: "writes large shared values",
    body: `
      const value = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => ["key" + at, "v".repeat(10)]));
      await all(64, (at) => call("shared/write", { key: "k" + at, value }));`,
  },
  {
    name: "jobs",
    does: "dispatches jobs with large inputs",
    body: `
      const input = { list: Array.from({ length: 10_000 }, (_, at) => at) };
      await all(64, (at) => call("jobs/dispatch", { name: "none", input, key: "k" + at }));`,
  },
  {
    name: "listed",
    does: "has proposed as much as may wait, and a client lists it",
    body: `
      const effects = Array.from({ length: 270 }, (_, at) => ({ kind: "field.set", path: "one.txt", namespace: "probe", key: "k" + at, value: "v".repeat(3500) }));
      effects.push({ kind: "file.write", path: "one.txt", content: "asked" });
      for (let round = 0; round < 16; round++) await all(8, () => call("actions/propose", { title: "t", reason: "r", effects }));`,
    asks: (client) => client.request("lares/actions/list", { state: "PendingApproval", limit: 1000 }),
  },
  {
    name: "shown",
    does: "has proposed diffs of megabytes, and a client gets and compares them",
    body: `
      const edits = [{ find: "b", replace: "c", all: true }];
      const effects = Array.from({ length: 8 }, (_, at) => ({ kind: "file.edit", path: "texts/" + at + ".txt", edits }));
      await all(8, () => call("actions/propose", { title: "t", reason: "r", effects }));`,
    async asks(client) {
      const [first] = await client.request<Action[]>("lares/actions/list", {
        state: "PendingApproval",
        limit: 5,
      });
      if (first === undefined) return;
      await client.request("lares/actions/get", { id: first.id });
      for (let effect = 0; effect < 8; effect++) {
        await client.request("lares/actions/diff", { id: first.id, effect });
        await client.request("lares/actions/content", { id: first.id, effect, side: "after" });
      }
    },
  },
  {
    name: "rules",
    isLong: true,
    does: `proposes moves of a folder of ${members} files, for which there are hundreds of rules`,
    body: `await all(40, (at) => call("actions/propose", { title: "t", reason: "r", effects: [{ kind: "file.move", from: "big", to: "moved" + at }] }));`,
    async asks(client) {
      const [first] = await client.request<Action[]>("lares/actions/list", {
        state: "PendingApproval",
        limit: 1,
      });
      if (first === undefined) return;
      await client.raw("lares/actions/approve", { id: first.id, digest: first.digest });
    },
  },
  {
    name: "packages",
    isLong: true,
    does: "previews the move of a folder beneath a package of a megabyte",
    body: `await all(60, () => ${preview(`[{ kind: "file.move", from: "pack/big", to: "pack/moved" }]`)});`,
  },
  {
    name: "scripts",
    isLong: true,
    does: "previews a thousand files beneath many packages of a megabyte",
    body: `
      const effects = Array.from({ length: 1000 }, (_, at) => ({ kind: "file.write", path: "packs/" + at % 8 + "/new-" + at + ".txt", content: "a" }));
      await all(32, () => ${preview("effects")});`,
  },
  {
    name: "storm",
    does: "emits events as fast as it can, some of which it hears",
    body: `
      for (let round = 0; round < 20; round++) await all(500, (at) => call("events/emit", { name: "Ping", data: { text: "", list: [at] } }));`,
  },
  {
    name: "nested",
    does: "emits events of a hundred thousand small values",
    body: `
      const list = Array.from({ length: 20_000 }, (_, at) => ["a" + at]);
      await all(64, () => call("events/emit", { name: "Ping", data: { text: "", list } }));`,
  },
  {
    name: "tags",
    isLong: true,
    does: "sets tags and fields by the thousand",
    body: `
      for (let round = 0; round < 20; round++) await all(8, (turn) => call("actions/propose", { title: "t", reason: "r", effects: Array.from({ length: 1000 }, (_, at) => {
        const file = (turn * 1000 + at) % ${members};
        const path = "big/" + file % 40 + "/file-" + file + ".txt";
        return at % 2 === 0 ? { kind: "tag.add", path, tag: "t" + round + "-" + at % 7 } : { kind: "field.set", path, namespace: "probe", key: "k" + round, value: round };
      }) }));`,
  },
  {
    name: "results",
    does: "answers tool calls with megabytes of small values",
    body: `await all(32, () => call("tools/call", { agent: "${ATTACKER}", name: "large", arguments: {} }));`,
  },
  {
    name: "told",
    does: "traces, while many clients follow",
    body: `
      const fields = { wide: Array.from({ length: 2000 }, (_, at) => "z" + at) };
      for (let round = 0; round < 500; round++) { notify("trace", { level: "info", message: "m".repeat(1000), fields }); if (round % 20 === 0) await call("shared/read", { key: "none" }).catch(() => {}); }`,
    asks: (client) => client.request("lares/traces/query", { limit: 1000 }),
  },
  {
    name: "remembered",
    does: "has remembered events, and a client asks for them by the thousand",
    body: `
      const list = Array.from({ length: 2000 }, (_, at) => at);
      await all(1000, (at) => call("memory/temporal/append", { variant: "v", data: { at, list } }));
      await all(16, () => call("memory/temporal/query", { limit: 1000 }));`,
    asks: (client) => client.raw("lares/memory/temporal", { agent: ATTACKER, limit: 1000 }),
  },
  {
    name: "lines",
    isLong: true,
    does: "calls what does not exist with a megabyte of small values",
    body: `
      const params = { list: Array.from({ length: 150_000 }, () => ({})) };
      for (let round = 0; round < 4; round++) await all(64, () => call("no/such", params));`,
  },
];
