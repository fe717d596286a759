import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, host, probe } from "../support/agents.ts";
import { agent, Bench, inState } from "../support/bench.ts";
import { CODES, type Agent, type Status } from "../support/types.ts";
import { until } from "../support/until.ts";

const PROBE = "test.probe";
const OTHER_DIGEST = `sha256:${"0".repeat(64)}`;
const spec = () => ({
  files: { "in/a.txt": "a\n", "out/b.txt": "b\n" },
  extensions: [probe({ id: PROBE, agent: { activation: "eager" }, grants: { locations: ["in/"] } })],
});

/** Every request that must be refused on an untrusted connection. */
const CLOSED: [string, object][] = [
  ["lares/agents/control", { id: PROBE, command: "enable" }],
  ["lares/traces/query", {}],
  ["lares/traces/follow", {}],
  ["lares/traces/unfollow", { subscription: "1" }],
  ["lares/actions/list", {}],
  ["lares/actions/get", { id: "x" }],
  ["lares/actions/content", { id: "x", effect: 0, side: "before" }],
  ["lares/actions/diff", { id: "x", effect: 0 }],
  ["lares/actions/approve", { id: "x", digest: OTHER_DIGEST }],
  ["lares/actions/reject", { id: "x" }],
  ["lares/actions/undo", { id: "x" }],
  ["lares/decisions/list", {}],
  ["lares/decisions/revoke", { id: "x" }],
  ["lares/tools/list", {}],
  ["lares/tools/call", { agent: PROBE, name: "seen", arguments: {} }],
  ["lares/jobs/list", {}],
  ["lares/jobs/cancel", { id: "x" }],
  ["lares/entries/query", {}],
  ["lares/memory/query", { agent: PROBE, kind: "working" }],
  ["lares/memory/verify", { agent: PROBE }],
  ["lares/memory/stats", { agent: PROBE }],
  ["lares/memory/count", { agent: PROBE }],
  ["lares/memory/namespaces", {}],
  ["lares/memory/export", { agent: PROBE, path: "/nowhere/at/all" }],
  ["lares/memory/import", { agent: PROBE, path: "/nowhere/at/all" }],
  ["lares/memory/forget", { agent: PROBE, id: "x" }],
  ["lares/models/list", {}],
  ["lares/models/test", { model: "a/b" }],
  ["lares/usage", {}],
  ["lares/secrets/list", {}],
  ["lares/secrets/set", { name: "x", value: "x", hosts: ["a.example"] }],
  ["lares/secrets/remove", { name: "x" }],
];

describe("an untrusted connection", () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.create(spec());
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  test("answers status and agents/list, refuses the rest with Untrusted, and starts no agent", async () => {
    await using client = await bench.connect(); // nothing was accepted before
    const status = await until("the digest", async () => {
      const now = await bench.status(client);
      return /^sha256:[0-9a-f]{64}$/.test(now.trust.digest) && now.trust.asks.length > 0 && now;
    });
    expect(status.trusted).toBe(false);
    expect(status.trust.asks.join("\n")).toContain(PROBE);
    for (const [method, params] of CLOSED) {
      const { error } = await client.raw(method, params);
      expect({ method, error }).toMatchObject({
        error: { code: CODES.Untrusted, data: { code: "Untrusted" } },
      });
    }
    client.notify("textDocument/didOpen", {
      textDocument: { uri: bench.uri("lares.yaml"), languageId: "yaml", version: 1, text: "version: 2\n" },
    });
    const { diagnostics } = await client.notification<{ diagnostics: unknown[] }>(
      "textDocument/publishDiagnostics",
    );
    expect(diagnostics).not.toEqual([]);
    const agents = await client.request<Agent[]>("lares/agents/list");
    expect(agents.map(({ state }) => state).filter((state) => state !== "Unloaded")).toEqual([]);
  });

  test("accepting the shown digest trusts it; another digest is DigestMismatch and changes nothing", async () => {
    await using client = await bench.connect();
    await expect(
      client.request("lares/trust", { trusted: true, digest: OTHER_DIGEST }),
    ).rejects.toMatchObject({ code: CODES.DigestMismatch, data: { code: "DigestMismatch" } });
    const { trust, trusted } = await bench.status(client);
    expect(trusted).toBe(false);
    expect(
      await client.request<Status>("lares/trust", { trusted: true, digest: trust.digest }),
    ).toMatchObject({
      trusted: true,
      trust: { digest: trust.digest },
    });
    await bench.ready(client);
    await inState(client, PROBE, "Active");
    for (const method of ["lares/tools/list", "lares/actions/list", "lares/traces/query"]) {
      await client.request(method);
    }
  });

  test("an earlier acceptance counts if trusted is omitted, and not if it is false", async () => {
    await using omitted = await bench.connect();
    await until("trusted by the earlier acceptance", async () => (await bench.status(omitted)).trusted);
    await using refused = await bench.connect({ trusted: false });
    expect((await bench.status(refused)).trusted).toBe(false);
    expect(await refused.raw("lares/tools/list", {})).toMatchObject({ error: { code: CODES.Untrusted } });
    await omitted.request("lares/tools/list"); // the other connection is not affected
  });

  test("a person may revoke the trust", async () => {
    await using client = await bench.connect();
    await until("trusted", async () => (await bench.status(client)).trusted);
    expect(await client.request<Status>("lares/trust", { trusted: false })).toMatchObject({ trusted: false });
    expect(await client.raw("lares/tools/list", {})).toMatchObject({ error: { code: CODES.Untrusted } });
  });

  test("no acceptance is written into the workspace, and decisions.yaml is private", async () => {
    const { readdir, stat } = await import("node:fs/promises");
    expect((await readdir(bench.root)).toSorted()).toEqual(["in", "lares.yaml", "out"]);
    await using client = await bench.connect();
    const { stateFolder } = await bench.status(client);
    expect(stateFolder.startsWith(bench.home)).toBe(true);
    expect((await stat(stateFolder)).mode & 0o077).toBe(0);
    await stat(`${stateFolder}/decisions.yaml`);
  });
});

describe("a document that changes under a running kernel", () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.create(spec());
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  test("a widening waits until it is accepted; a tightening counts at once; neither restarts the kernel", async () => {
    await using client = await bench.open();
    await inState(client, PROBE, "Active");
    const before = await bench.status(client);
    expect(await call(client, PROBE, "vdfs.count", { kind: "file" })).toBe(1);

    await bench.writeLares({ grants: { [PROBE]: { locations: ["in/", "out/"] } } });
    const asked = await until("another digest", async () => {
      const now = await bench.status(client);
      return now.trust.digest !== before.trust.digest && now;
    });
    expect((await agent(client, PROBE)).locations).toHaveLength(1);
    expect(await call(client, PROBE, "vdfs.count", { kind: "file" })).toBe(1);
    expect((await host(client, PROBE, "vdfs.readText", "out/b.txt")).error?.code).toBe("ScopeViolation");

    await client.request("lares/trust", { trusted: true, digest: asked.trust.digest });
    await until("the wider grant", async () => (await agent(client, PROBE)).locations.length === 2);
    expect(await call(client, PROBE, "vdfs.readText", "out/b.txt")).toBe("b\n");

    await bench.writeLares({ grants: { [PROBE]: { locations: ["in/", "out/"], deny: ["write_tags"] } } });
    const tightened = await until("write_tags to be gone", async () => {
      const now = await agent(client, PROBE);
      return !now.permissions.includes("write_tags") && now;
    });
    expect(tightened.permissions).toContain("read_entries");
    const refused = await host(client, PROBE, "vdfs.tags.add", "in/a.txt", "#x");
    expect(refused.error?.code).toBe("PermissionDenied");

    await bench.writeLares({ grants: { [PROBE]: { locations: ["in/"], deny: ["write_tags"] } } });
    await until("the narrower location", async () => (await agent(client, PROBE)).locations.length === 1);
    expect((await host(client, PROBE, "vdfs.readText", "out/b.txt")).error?.code).toBe("ScopeViolation");
    expect((await bench.status(client)).pid).toBe(before.pid);
  });

  test("a new extension waits for acceptance and says so; then it runs", async () => {
    await using client = await bench.open();
    await inState(client, PROBE, "Active");
    const newcomer = "test.newcomer";
    await bench.writeExtension(
      probe({ id: newcomer, agent: { activation: "eager" }, grants: { locations: ["in/"] } }),
    );
    const grants = { locations: ["in/"], deny: ["write_tags"] };
    const extensions = [PROBE, newcomer].map((id) => ({ path: `../extensions/${id}`, grants }));
    await bench.writeLares({ keys: { extensions } });
    const isThere = async (): Promise<boolean> =>
      (await client.request<Agent[]>("lares/agents/list")).some(({ id }) => id === newcomer);
    await until("the newcomer to be shown", isThere);
    expect(await agent(client, newcomer)).toMatchObject({
      state: "Error",
      awaiting: "acceptance",
      permissions: [],
      locations: [],
    });
    expect((await agent(client, PROBE)).awaiting).toBeUndefined();
    const { digest } = (await bench.status(client)).trust;
    await client.request("lares/trust", { trusted: true, digest });
    expect((await inState(client, newcomer, "Active")).awaiting).toBeUndefined();
  });

  test("a more lenient policy waits too; a stricter one counts at once", async () => {
    await using client = await bench.open();
    const write = (content: string) => [
      [{ kind: "file.write", path: "in/a.txt", content }],
      { title: "t", reason: "r" },
    ];
    const state = async (content: string): Promise<string> =>
      (await call<{ state: string }>(client, PROBE, "actions.preview", ...write(content))).state;
    const { trust } = await bench.status(client);
    const rules = [{ decide: "allow", kind: "file.write" }];
    await bench.writeLares({ keys: { approvals: { rules, auto_approve_below: 1 } } });
    const wider = await until("another digest", async () => {
      const now = await bench.status(client);
      return now.trust.digest !== trust.digest && now.trust;
    });
    const proposed = await call<{ state: string }>(
      client,
      PROBE,
      "actions.propose",
      ...write("still asked\n"),
    );
    expect(proposed.state).toBe("PendingApproval");
    await client.request("lares/trust", { trusted: true, digest: wider.digest });
    const allowed = await call<{ id: string }>(client, PROBE, "actions.propose", ...write("allowed\n"));
    expect(await call(client, PROBE, "actions.settled", allowed.id)).toMatchObject({
      state: "Committed",
      decided_by: "policy",
    });
    expect(await state("a preview\n")).not.toBe("Committed");
    await bench.writeLares({ keys: { approvals: { rules: [{ decide: "deny", kind: "file.write" }] } } });
    let attempt = 0;
    await until("the stricter rule", async () => {
      const outcome = await host(client, PROBE, "actions.propose", ...write(`denied ${attempt++}\n`));
      return outcome.error !== undefined || (outcome.value as { state: string }).state === "Rejected";
    });
  });
});

test("a config and a hook that are added after an acceptance wait for another one", async () => {
  await using bench = await Bench.create(spec());
  await using client = await bench.open();
  await inState(client, PROBE, "Active");
  const [extension] = spec().extensions;
  const manifest = { ...extension?.manifest, hooks: [{ on: "EntryCreated", handler: "record" }] };
  await bench.writeExtension({ ...extension, id: PROBE, manifest });
  const asked = await until("the new hook to be asked", async () => {
    const { trust } = await bench.status(client);
    return (trust.pending ?? []).length > 0 && trust;
  });
  expect(asked.pending).toEqual([`${PROBE} changed: new hook: record on EntryCreated`]);
  expect((await agent(client, PROBE)).hooks).toEqual([]);
  await client.request("lares/trust", { trusted: true, digest: asked.digest });
  await until("the hook", async () => (await agent(client, PROBE)).hooks.length === 1);
});
