/** The SDK as authors meet it: bundled, in the real guest, against the kernel's end of the pipe. */
import { expect, it } from "vitest";
import {
  runTool,
  startFiles,
  startTool,
  type TestGuest,
} from "../../../kernel/src/sandbox/guest/testing/run-guest.ts";

const refusal = (code: string, message = code): Error => Object.assign(new Error(message), { code });

/** Working memory as the kernel keeps it. */
function workingMemory(guest: TestGuest): { revision: number; state: unknown; swaps: number } {
  const memory = { revision: 0, state: null as unknown, swaps: 0 };
  guest.onCall = (method, params) => {
    if (method === "memory/working/read") return { revision: memory.revision, state: memory.state };
    memory.swaps++;
    if (params["revision"] !== memory.revision) throw refusal("Conflict");
    memory.state = params["state"];
    return { revision: ++memory.revision };
  };
  return memory;
}

it("initialize names the handlers; hooks, jobs and lifecycle get their context", async () => {
  await using guest = await startFiles({
    "agent.ts": `import { defineAgent } from "@lares/sdk";
      export default defineAgent({
        onStartup: (ctx) => ctx.trace.info("started", { id: ctx.extension.id, batch: ctx.config.batch }),
        onPermissionChange: (ctx) => ctx.trace.info("changed", { inside: ctx.inGrantedScope("archive/a.txt"), models: ctx.ai.models }),
        hooks: { seen: (event, ctx) => ctx.trace.info("seen " + event.entry.path, { inside: ["photos/a.jpg", "photos", "photosets/a", "../photos/a", "photos/../x", "/photos/a"].map(ctx.inGrantedScope) }), notAFunction: 3 as any },
        tools: { run: () => 1 },
        jobs: { async work({ n }, ctx) { const from = ctx.checkpoint?.next ?? 0; await ctx.save({ next: from + n }); await ctx.progress(0.5, "half"); return from; } },
      });`,
  });
  expect(await guest.initialize({ batch: 50 })).toEqual({
    handlers: ["seen"],
    tools: ["run"],
    jobs: ["work"],
    max_open_hooks: 64,
    cancels_tools: true,
  });
  await guest.request("startup");
  await guest.request("hook", { handler: "seen", event: { entry: { path: "photos/a.jpg" } } });
  await guest.request("permissionChange", {
    permissions: {},
    locations: ["archive"],
    models: [{ name: "faces", sha256: "a" }],
  });
  expect(
    await guest.request("job", { id: "7", name: "work", input: { n: 2 }, checkpoint: { next: 5 } }),
  ).toBe(5);
  expect(guest.calls.map(({ method, params }) => [method, params])).toEqual([
    ["trace", { level: "info", message: "started", fields: { id: "dev.test", batch: 50 }, on_behalf: null }],
    [
      "trace",
      {
        level: "info",
        message: "seen photos/a.jpg",
        fields: { inside: [true, true, false, false, false, false] },
        on_behalf: null,
      },
    ],
    [
      "trace",
      {
        level: "info",
        message: "changed",
        fields: { inside: true, models: [{ name: "faces", sha256: "a" }] },
        on_behalf: null,
      },
    ],
    ["jobs/checkpoint", { data: { next: 7 } }],
    ["jobs/progress", { fraction: 0.5, message: "half" }],
  ]);
});

it("hooks that come together are handled one after the other, in order, and one that throws holds up none", async () => {
  await using guest = await startFiles({
    "agent.ts": `import { defineAgent } from "@lares/sdk";
      let inside = 0;
      export default defineAgent({ hooks: { async seen({ n }: any, ctx) {
        if (++inside > 1) throw new Error("two at once");
        ctx.trace.info("begin " + n);
        await ctx.vdfs.count({});
        await new Promise((resolve) => setTimeout(resolve, 5 - n));
        ctx.trace.info("end " + n);
        inside--;
        if (n === 2) throw new Error("no");
      } } });`,
  });
  guest.onCall = () => ({ count: 0 });
  await guest.initialize({});
  const answers = await Promise.allSettled(
    [0, 1, 2, 3].map((n) => guest.request("hook", { handler: "seen", event: { n } })),
  );
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  expect(
    guest.calls
      .filter(({ method }) => method === "trace")
      .map(({ params }) => (params as { message: string }).message),
  ).toEqual([0, 1, 2, 3].flatMap((n) => [`begin ${n}`, `end ${n}`]));
});

it("told to shut down, a hook that has begun is answered before that; one that has not is neither begun nor answered", async () => {
  await using guest = await startFiles({
    "agent.ts": `import { defineAgent } from "@lares/sdk";
      export default defineAgent({ hooks: { async seen({ n }: any, ctx) { ctx.trace.info("begin " + n); await ctx.vdfs.count({}); } } });`,
  });
  guest.onCall = () => ({ count: 0 });
  await guest.initialize({});
  const lost = guest.exited.then(() => "lost");
  const answers = [
    ...[0, 1].map((n) => guest.request("hook", { handler: "seen", event: { n } })),
    guest.request("shutdown"),
  ].map((one) => Promise.race([one.then(() => "answered"), lost]));
  const [first, second, shutdown] = await Promise.all(answers);
  expect({ first, second, shutdown }).toEqual({ first: "answered", second: "lost", shutdown: "answered" });
  expect(guest.calls.filter(({ method }) => method === "trace")).toHaveLength(1);
});

it.each([
  [
    "fails because of the shutdown",
    `await new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));`,
  ],
  ["never ends", `await new Promise(() => {});`],
])("a hook that %s is not answered, and does not keep the agent from ending", async (_how, waiting) => {
  await using guest = await startFiles({
    "agent.ts": `import { defineAgent } from "@lares/sdk";
      export default defineAgent({
        hooks: { async seen(_, ctx) { ctx.trace.info("begun"); ${waiting} } },
        async onShutdown(ctx) { ctx.trace.info("ended"); },
      });`,
  });
  await guest.initialize({});
  const lost = guest.exited.then(() => "lost");
  const answers = [guest.request("hook", { handler: "seen", event: {} }), guest.request("shutdown")].map(
    (one) => Promise.race([one.then(() => "answered"), lost]),
  );
  expect(await Promise.all(answers)).toEqual(["lost", "answered"]);
  const traced = guest.calls.filter(({ method }) => method === "trace");
  expect(traced.map(({ params }) => (params as { message: string }).message)).toEqual(["begun", "ended"]);
});

it("plan.update retries on conflict, writes nothing when it throws, and gives the new state", async () => {
  await using guest = await startFiles({
    "agent.ts": `import { defineAgent } from "@lares/sdk";
      export default defineAgent<{ plan: { items: number[] } }>({ memory: { plan: { items: [] } }, tools: { async run({ kind }: any, ctx) {
        const { plan } = ctx.memory;
        if (kind === "many") { await Promise.all(Array.from({ length: 20 }, (_, i) => plan.update((state) => { state.items.push(i); }))); return plan.read(); }
        if (kind === "throw") return plan.update(() => { throw new Error("not today"); });
        if (kind === "returned") return plan.update(async (state) => ({ items: [...state.items, 99] }));
        if (kind === "reset") { await plan.reset(); return plan.read(); }
        return plan.read();
      } } });`,
  });
  const memory = workingMemory(guest);
  await guest.initialize();
  expect(await runTool(guest, { kind: "read" })).toEqual({ items: [] });
  const { items } = (await runTool(guest, { kind: "many" })) as { items: number[] };
  expect(items.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i));
  // Each of the twenty was written once; the others were conflicts and came again.
  expect(memory.revision).toBe(20);
  expect(memory.swaps).toBeGreaterThan(20);
  const { revision } = memory;
  await expect(runTool(guest, { kind: "throw" })).rejects.toThrow("not today");
  expect(memory.revision).toBe(revision);
  expect(await runTool(guest, { kind: "returned" })).toMatchObject({
    items: expect.arrayContaining([99]) as number[],
  });
  expect(await runTool(guest, { kind: "reset" })).toEqual({ items: [] });
});

it("reads files in pieces, as bytes, text and JSON, whatever the pieces cut", async () => {
  await using guest = await startTool(`
    if (args.kind === "json") return (await ctx.vdfs.readJson("a.json") as any).at(-1);
    if (args.kind === "bytes") return [...await ctx.vdfs.read("a.json", { offset: 1, length: 5 })];
    return (await ctx.vdfs.readText("a.json")).length;
  `);
  // Three bytes a character: every border between pieces falls into one.
  const text = JSON.stringify(Array.from({ length: 300 }, () => "€".repeat(1000)));
  const file = Buffer.from(text);
  const asked: [unknown, unknown][] = [];
  guest.onCall = (_method, { offset, length }) => {
    asked.push([offset, length]);
    const piece = file.subarray(Number(offset), Number(offset) + Number(length));
    return { base64: piece.toString("base64"), eof: Number(offset) + piece.length >= file.length };
  };
  await guest.initialize();
  expect(await runTool(guest)).toBe(text.length);
  expect(asked.slice(0, 2)).toEqual([
    [0, 262_144],
    [262_144, 262_144],
  ]);
  expect(await runTool(guest, { kind: "json" })).toBe("€".repeat(1000));
  expect(await runTool(guest, { kind: "bytes" })).toEqual([...file.subarray(1, 6)]);
});

it("says a tool's value, its error, or what must be approved first", async () => {
  await using guest = await startTool(`
    switch (args.kind) {
      case "nothing": return;
      case "lookalike": return { status: "needs_approval", action: "x", reason: "y" };
      case "approval": return ctx.needsApproval(await ctx.actions.propose([{ kind: "file.delete", path: "a" }], { title: "Delete a", reason: "why" }), "it deletes");
      case "busy": return ctx.memory.plan.read();
      case "caller": return [ctx.callId, ctx.caller];
      default: throw new TypeError("bad");
    }
  `);
  guest.onCall = (method) => {
    if (method === "actions/propose") return { id: "action-1", state: "PendingApproval" };
    throw refusal("Busy", "not now");
  };
  await guest.initialize();
  const call = (kind: string): Promise<unknown> =>
    guest.request("tool", { name: "run", arguments: { kind }, call_id: "7", caller: "model" });
  expect(await call("nothing")).toEqual({ status: "success", value: null });
  expect(await call("lookalike")).toEqual({
    status: "success",
    value: { status: "needs_approval", action: "x", reason: "y" },
  });
  expect(await call("approval")).toEqual({
    status: "needs_approval",
    action: "action-1",
    reason: "it deletes",
  });
  expect(await call("caller")).toEqual({ status: "success", value: ["7", "model"] });
  expect(await call("busy")).toEqual({ status: "error", message: "not now", recoverable: true });
  expect(await call("throw")).toEqual({ status: "error", message: "bad", recoverable: false });
  await guest.until(() => guest.stderr.includes("TypeError: bad"));
  expect(guest.stderr).toContain("The tool run failed: TypeError: bad\n    at run (agent.ts:10:16)");
});

it("sends each call of the context as one message of the ABI", async () => {
  await using guest = await startTool(`
    const { vdfs, memory, actions, jobs, tools, events, shared } = ctx;
    await vdfs.query({ tag: "x", limit: 5 }); await vdfs.count(); await vdfs.get("a.txt"); await vdfs.get({ id: "1" });
    await vdfs.thumbnail("a.jpg", { maxPx: 64, format: "rgba8" });
    await vdfs.copies("sha256:00"); await vdfs.sidecar.read("a.txt", "faces");
    await vdfs.tags.add("a.txt", "red"); await vdfs.fields.set("a.txt", "rating", 5); await vdfs.sidecar.write("a.txt", "faces", [1]);
    await memory.history.append("Seen", { a: 1 }, { timestamp: new Date(0) });
    await memory.history.query().variant("Seen").since("7d").whereText("name", "cat").where("size", "gt", 3).whereField("a.b", 1).orderByTime("asc").limit(3).collect();
    await memory.history.query().between(0, new Date(1000)).count();
    await memory.history.query().until("2026-11-20").whereText("the beach").near("at", [48.2, 16.4], 2).limit(5).offset(10).page();
    await memory.history.query().variant("Seen").countBy("day");
    await memory.knowledge.add("Place", { name: "x" }, { importance: 0.5, relations: [{ to: "1", relation: "PartOf" }] });
    await memory.knowledge.record("Place", { name: "y" }, { embedding: new Float32Array([0.5, 1]) });
    await memory.knowledge.update("1", { importance: 1 }); await memory.knowledge.remove("1"); await memory.knowledge.relate("1", "2", "PartOf");
    await memory.knowledge.query().similarTo("sea").near("at", [1, 2], 5).relatedTo("1", 2).minSimilarity(0.5).topK(3).collect();
    await memory.knowledge.query().similarToEmbedding(new Float32Array([1, 0])).variant("Place").whereField("a", 1).relatedTo("1", 1, "PartOf").collect();
    await memory.in("team").search("x", { mode: "text", limit: 2 }); await memory.sync(); await memory.cleanup({ retentionDays: 7 });
    await actions.preview([{ kind: "folder.create", path: "a" }], { title: "t", reason: "r" }); await actions.get("1"); await actions.settled("1"); await actions.withdraw("1");
    await jobs.dispatch("work", { a: 1 }, { priority: "low", whenIdle: true });
    await tools.call("dev.other/find", { a: 1 }); await events.emit("Found", { a: 1 });
    await shared.read("key"); await shared.write("key", 1, { version: 3 });
    await ctx.notify("title", "message", { severity: "warning" });
    return "done";
  `);
  const results: Record<string, unknown> = {
    "vdfs/count": { count: 1 },
    "actions/propose": { id: "1", state: "Committed" },
    "memory/temporal/append": { id: "1" },
    "memory/temporal/count": { count: 2, groups: {} },
    "memory/associative/add": { id: "1" },
    "jobs/dispatch": { id: "1" },
    "tools/call": { status: "success", value: 1 },
  };
  guest.onCall = (method) => results[method] ?? { items: [] };
  await guest.initialize();
  expect(await runTool(guest)).toBe("done");
  const propose = (title: string, effect: unknown): unknown => [
    "actions/propose",
    { effects: [effect], title, reason: "" },
  ];
  // Each says which call it answers.
  const own = guest.calls.map(({ method, params }) => {
    const { on_behalf: answered, ...rest } = params as { on_behalf?: unknown };
    expect(answered, method).toBe("1");
    return [method, rest];
  });
  expect(own).toEqual([
    ["vdfs/query", { tag: "x", limit: 5 }],
    ["vdfs/count", {}],
    ["vdfs/get", { path: "a.txt" }],
    ["vdfs/get", { id: "1" }],
    ["vdfs/thumbnail", { path: "a.jpg", max_px: 64, format: "rgba8" }],
    ["vdfs/copies", { content_id: "sha256:00" }],
    ["vdfs/sidecar/read", { path: "a.txt", sidecar: "faces" }],
    propose("Tag a.txt with red", { kind: "tag.add", path: "a.txt", tag: "red" }),
    propose("Set rating of a.txt", {
      kind: "field.set",
      path: "a.txt",
      namespace: "test",
      key: "rating",
      value: 5,
    }),
    propose("Write the sidecar faces of a.txt", {
      kind: "sidecar.write",
      path: "a.txt",
      sidecar: "faces",
      data: [1],
    }),
    ["memory/temporal/append", { variant: "Seen", data: { a: 1 }, timestamp: "1970-01-01T00:00:00.000Z" }],
    [
      "memory/temporal/query",
      {
        variant: "Seen",
        since: "7d",
        text: { field: "name", match: "cat" },
        where: [
          { field: "size", op: "gt", value: 3 },
          { field: "a.b", op: "eq", value: 1 },
        ],
        order: "asc",
        limit: 3,
      },
    ],
    ["memory/temporal/count", { since: "1970-01-01T00:00:00.000Z", until: "1970-01-01T00:00:01.000Z" }],
    [
      "memory/temporal/query",
      {
        until: "2026-11-20",
        text: { match: "the beach" },
        where: [{ field: "at", op: "near", value: [48.2, 16.4], km: 2 }],
        limit: 5,
        offset: 10,
      },
    ],
    ["memory/temporal/count", { variant: "Seen", group_by: "day" }],
    [
      "memory/associative/add",
      {
        variant: "Place",
        data: { name: "x" },
        importance: 0.5,
        relations: [{ to: "1", relation: "PartOf" }],
      },
    ],
    ["memory/associative/add", { variant: "Place", data: { name: "y" }, embedding: [0.5, 1] }],
    ["memory/associative/update", { id: "1", importance: 1 }],
    ["memory/associative/remove", { id: "1" }],
    ["memory/associative/relate", { from: "1", to: "2", relation: "PartOf" }],
    [
      "memory/associative/query",
      {
        similar_to: "sea",
        where: [{ field: "at", op: "near", value: [1, 2], km: 5 }],
        related_to: { id: "1", depth: 2 },
        min_similarity: 0.5,
        top_k: 3,
      },
    ],
    [
      "memory/associative/query",
      {
        embedding: [1, 0],
        variant: "Place",
        where: [{ field: "a", op: "eq", value: 1 }],
        related_to: { id: "1", depth: 1, relation: "PartOf" },
      },
    ],
    ["memory/search", { namespace: "team", text: "x", mode: "text", limit: 2 }],
    ["memory/sync", {}],
    ["memory/cleanup", { retention_days: 7 }],
    ["actions/preview", { effects: [{ kind: "folder.create", path: "a" }], title: "t", reason: "r" }],
    ["actions/get", { id: "1" }],
    ["actions/settled", { id: "1" }],
    ["actions/withdraw", { id: "1" }],
    ["jobs/dispatch", { name: "work", input: { a: 1 }, priority: "low", when_idle: true }],
    ["tools/call", { agent: "dev.other", name: "find", arguments: { a: 1 } }],
    ["events/emit", { name: "Found", data: { a: 1 } }],
    ["shared/read", { key: "key" }],
    ["shared/write", { key: "key", value: 1, version: 3 }],
    ["notify", { title: "title", message: "message", severity: "warning" }],
  ]);
});

it("throws LaresError with the protocol's word, its facts, and for a refused tag too", async () => {
  await using guest = await startTool(`
    const caught = async (run: () => Promise<unknown>) => { try { return await run(); } catch (error: any) { return [error.name, error.code, error.message, error instanceof Error]; } };
    return [await caught(() => ctx.vdfs.get("x")), await caught(() => ctx.vdfs.tags.add("x", "y")), await caught(() => ctx.tools.call("nonsense")), await caught(() => ctx.tools.call("a.b/c")), await caught(() => ctx.shared.write("k", 1n)),
      await caught(async () => ctx.memory.history.query().since(new Date(NaN))), await caught(() => ctx.memory.knowledge.add("x", 1, { embedding: [1, NaN] }))];
  `);
  guest.onCall = (method) => {
    if (method === "vdfs/get") throw refusal("ScopeViolation", "outside");
    if (method === "tools/call") return { status: "error", message: "it broke", recoverable: false };
    return { id: "1", state: "Rejected", error: "a rule denies it" };
  };
  await guest.initialize();
  expect(await runTool(guest)).toEqual([
    ["LaresError", "ScopeViolation", "outside", true],
    ["LaresError", "PermissionDenied", "a rule denies it", true],
    ["LaresError", "InvalidParams", '"nonsense" is not the name of a tool. Write "agent.id/tool".', true],
    ["LaresError", "ToolError", "it broke", true],
    ["TypeError", null, expect.any(String) as string, true],
    ["LaresError", "InvalidParams", "Invalid Date is not a valid time.", true],
    ["LaresError", "InvalidParams", "Number 1 of the embedding is NaN; all of them must be finite.", true],
  ]);
});

it("values of shared types are asked for by full names, and old ones are migrated by the program", async () => {
  await using guest = await startFiles({
    "agent.ts": `import { defineAgent } from "@lares/sdk";
      export default defineAgent({
        types: {
          Person: { migrate: (value, from) => ({ id: value.id, first: value.name, from }) },
          Place: { migrate: async (value) => { if (value.bad) throw new Error("No such place."); return value; } },
          Plain: {},
        },
        tools: { async run(_args, ctx) {
          const people = ctx.types("Person");
          const found = await people.get("ada");
          await people.update("ada", found!.version, found!.value);
          await ctx.types("dev.other/Place").query({ where: [{ field: "n", op: "gt", value: 1 }], limit: 5 });
          return found;
        } },
      });`,
  });
  expect(await guest.initialize({})).toMatchObject({ migrations: ["Person", "Place"] });
  expect(
    await guest.request("migrate", { type: "Person", from: 1, values: [{ id: "ada", name: "Ada" }] }),
  ).toEqual({ values: [{ id: "ada", first: "Ada", from: 1 }] });
  await expect(guest.request("migrate", { type: "Place", from: 1, values: [{ bad: 1 }] })).rejects.toThrow(
    "No such place.",
  );
  await expect(guest.request("migrate", { type: "Plain", from: 1, values: [] })).rejects.toThrow(
    'migrates no type "Plain"',
  );
  guest.onCall = (method) =>
    method === "types/get"
      ? { version: 3, value: { id: "ada" } }
      : method === "types/query"
        ? { items: [] }
        : { version: 4 };
  await guest.request("startup");
  expect(await runTool(guest)).toEqual({ version: 3, value: { id: "ada" } });
  expect(guest.calls.map(({ method, params }) => [method, params?.["type"], params?.["version"]])).toEqual([
    ["types/get", "dev.test/Person", undefined],
    ["types/update", "dev.test/Person", 3],
    ["types/query", "dev.other/Place", undefined],
  ]);
});
