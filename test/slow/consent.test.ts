import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, event, events, host, probe, PROBE_PROGRAM } from "../support/agents.ts";
import { agent, Bench, inState } from "../support/bench.ts";
import { hasTerminals, lares, TerminalRun } from "../support/command-line.ts";
import { withoutOwnCodes } from "../support/hostile-text.ts";
import type { Client } from "../support/client.ts";
import {
  CODES,
  type Status,
  type TrustGrants,
  type TrustProgram,
  type TrustQuestion,
} from "../support/types.ts";
import { until } from "../support/until.ts";

const PROBE = "test.probe";
const OTHER = "test.other";
const hooks = [{ on: "EntryCreated", handler: "record" }];
const permissions = { read_entries: true, propose_actions: ["file.write", "file.delete"], write_tags: true };
const probeOf = (id: string, wanted: object = permissions) =>
  probe({
    id,
    permissions: { ...wanted },
    hooks,
    agent: { activation: "eager" },
    grants: { locations: ["in/", "out/"] },
  });
const spec = () => ({
  files: { "in/a.txt": "a\n", "in/deep/c.txt": "c\n", "out/b.txt": "b\n" },
  extensions: [probeOf(PROBE), probeOf(OTHER)],
});

const question = (client: Client): Promise<TrustQuestion> => client.request("lares/trust/question", {});
const grant = (parts: string[], folders: string[]): TrustGrants => ({
  extensions: [{ extension: PROBE, parts, folders }],
  workspace: [],
});
const answer = (client: Client, digest: string, grants: TrustGrants): Promise<Status> =>
  client.request("lares/trust", { trusted: true, digest, grants });
const card = async (client: Client, id = PROBE) =>
  (await question(client)).extensions.find(({ extension }) => extension === id)!;
const newDigest = (bench: Bench, client: Client, before: string): Promise<Status> =>
  until("another digest", async () => {
    const status = await bench.status(client);
    return status.trust.digest !== before && status;
  });
const write = (path: string) => [[{ kind: "file.write", path, content: "x" }], { title: "t", reason: "r" }];

describe("an agent that was granted a part of its requests", () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.create(spec());
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  test("the question names each part, and is open before anything is trusted", async () => {
    await using client = await bench.connect();
    const asked = await question(client);
    expect(asked).toMatchObject({ trusted: false, answered: false, since: null });
    expect(asked.extensions.map(({ extension, state }) => [extension, state])).toEqual([
      [PROBE, "new"],
      [OTHER, "new"],
    ]);
    const { parts, folders, cannot } = asked.extensions[0]!;
    // Nothing is indexed before the first acceptance.
    for (const folder of folders) expect(folder).not.toHaveProperty("files");
    expect(parts.map(({ id, granted }) => [id, granted])).toEqual([
      ["read_entries", false],
      ["write_tags", false],
      ["propose_actions/file.write", false],
      ["propose_actions/file.delete", false],
    ]);
    expect(folders.map(({ path, requested }) => [path, requested])).toEqual([
      ["in", true],
      ["out", true],
    ]);
    expect(cannot).toContain("Move or rename files");
    expect(cannot).not.toContain("Delete files");
  });

  test("an answer to another question, without a digest or beyond the question is refused", async () => {
    await using client = await bench.connect();
    const { digest } = await question(client);
    const refused = (params: object) => client.raw("lares/trust", { trusted: true, ...params });
    const some = grant(["read_entries"], ["in"]);
    const other = `sha256:${"0".repeat(64)}`;
    expect(await refused({ digest: other, grants: some })).toMatchObject({
      error: { code: CODES.DigestMismatch },
    });
    for (const params of [
      { grants: some },
      { digest, grants: grant(["call_tools/a/b"], []) },
      { digest, grants: grant([], ["."]) },
      { digest, grants: grant([], ["in/../out"]) },
      { digest, grants: { ...some, workspace: ["hidden"] } },
    ])
      expect(await refused(params)).toMatchObject({ error: { code: -32602 } });
    expect((await bench.status(client)).trusted).toBe(false);
  });

  test("in a withheld folder it neither reads, gets events nor proposes", async () => {
    await using client = await bench.connect();
    const { digest } = await question(client);
    const status = await answer(
      client,
      digest,
      grant(["read_entries", "propose_actions/file.write"], ["in"]),
    );
    expect(status).toMatchObject({ trusted: true, trust: { pending: [], changedPrograms: [] } });
    await bench.ready(client);
    await inState(client, PROBE, "Active");
    expect(await call(client, PROBE, "vdfs.readText", "in/a.txt")).toBe("a\n");
    expect((await host(client, PROBE, "vdfs.readText", "out/b.txt")).error?.code).toBe("ScopeViolation");
    expect(await call(client, PROBE, "vdfs.count", { kind: "file" })).toBe(2);
    expect((await host(client, PROBE, "actions.propose", ...write("out/n.txt"))).error?.code).toBe(
      "ScopeViolation",
    );
    expect(await call(client, PROBE, "actions.propose", ...write("in/n.txt"))).toMatchObject({
      state: "PendingApproval",
    });
    await bench.write("out/heard.txt", "x");
    await bench.write("in/heard.txt", "x");
    await event(client, PROBE, "in/heard.txt", (event) => JSON.stringify(event).includes("in/heard.txt"));
    expect(JSON.stringify(await events(client, PROBE))).not.toContain("out/");
    // The number of files is shown to the person; a count stays for a while.
    expect((await card(client)).folders.map(({ path, files }) => [path, files])).toEqual([
      ["in", 3],
      ["out", 2],
    ]);
  });

  test("a permission and a kind that were withheld are denied as if they were absent", async () => {
    await using client = await bench.connect();
    const tagging = await host(client, PROBE, "vdfs.tags.add", "in/a.txt", "#x");
    expect(tagging.error).toMatchObject({ code: "PermissionDenied", data: { permission: "write_tags" } });
    const deleting = await host(
      client,
      PROBE,
      "actions.propose",
      [{ kind: "file.delete", path: "in/a.txt" }],
      { title: "t", reason: "r" },
    );
    expect(deleting.error?.code).toBe("PermissionDenied");
    expect(await agent(client, PROBE)).toMatchObject({ locations: ["in"] });
    expect((await agent(client, PROBE)).permissions).not.toContain("write_tags");
  });

  test("an extension that was withheld as a whole does not run, and its state says so", async () => {
    await using client = await bench.connect();
    await bench.ready(client);
    expect(await agent(client, OTHER)).toMatchObject({
      state: "Error",
      awaiting: "acceptance",
      permissions: [],
      locations: [],
    });
    expect((await agent(client, OTHER)).error).toContain("You have not allowed it");
  });

  test("the answer outlives the kernel", async () => {
    await using client = await bench.connect();
    const { pid } = await bench.status(client);
    await bench.kill(pid);
    const again = await until("the next kernel", async () => {
      const status = await bench.status(client).catch(() => null);
      return status !== null && status.pid !== pid && status.ready && status;
    });
    expect(again).toMatchObject({ trusted: true, trust: { pending: [] } });
    await inState(client, PROBE, "Active");
    expect((await host(client, PROBE, "vdfs.readText", "out/b.txt")).error?.code).toBe("ScopeViolation");
    expect((await host(client, PROBE, "vdfs.tags.add", "in/a.txt", "#x")).error?.code).toBe(
      "PermissionDenied",
    );
  });

  test("the rest can be granted later, and a part revoked", async () => {
    await using client = await bench.connect();
    await bench.ready(client);
    const { digest, answered, extensions } = await question(client);
    expect(answered).toBe(true);
    expect(extensions.map(({ granted }) => granted)).toEqual([true, false]);
    expect(extensions[0]?.parts.filter(({ granted }) => granted).map(({ id }) => id)).toEqual([
      "read_entries",
      "propose_actions/file.write",
    ]);
    await answer(client, digest, grant(["read_entries", "write_tags"], ["in/deep", "out"]));
    await until("the other folder", async () => (await agent(client, PROBE)).locations.includes("out"));
    expect(await call(client, PROBE, "vdfs.readText", "out/b.txt")).toBe("b\n");
    expect(await call(client, PROBE, "vdfs.readText", "in/deep/c.txt")).toBe("c\n");
    expect((await host(client, PROBE, "vdfs.readText", "in/a.txt")).error?.code).toBe("ScopeViolation");
    expect((await host(client, PROBE, "actions.propose", ...write("out/n.txt"))).error?.code).toBe(
      "PermissionDenied",
    );
    expect(
      (await card(client)).folders.map(({ path, granted, requested }) => [path, granted, requested]),
    ).toEqual([
      ["in", false, true],
      ["out", true, true],
      ["in/deep", true, false],
    ]);
  });

  test("for a document that requests more, only the new part is asked, and nothing withheld is included", async () => {
    await using client = await bench.connect();
    const before = await bench.ready(client);
    await bench.writeLares({ grants: { [PROBE]: { locations: ["in/", "out/", "more/"] } } });
    const status = await newDigest(bench, client, before.trust.digest);
    expect(status.trusted).toBe(true);
    const { changes, state, folders } = await card(client);
    expect([state, changes]).toEqual(["changed", ["New folder: more"]]);
    expect(folders.filter(({ answered }) => !answered).map(({ path }) => path)).toEqual(["more"]);
    expect((await host(client, PROBE, "vdfs.readText", "in/a.txt")).error?.code).toBe("ScopeViolation");
    await answer(client, status.trust.digest, grant(["read_entries"], ["out", "more"]));
    await until("the new folder", async () => (await agent(client, PROBE)).locations.includes("more"));
    expect((await agent(client, PROBE)).permissions).toEqual(["read_entries"]);
    expect((await bench.status(client)).trust.pending).toEqual([]);
  });

  test("returning to documents that were accepted before restores no grant", async () => {
    await using client = await bench.connect();
    const { trust } = await bench.ready(client);
    await bench.writeLares();
    await newDigest(bench, client, trust.digest);
    expect((await agent(client, PROBE)).permissions).toEqual(["read_entries"]);
    expect((await agent(client, OTHER)).state).toBe("Error");
  });

  test("an acceptance without parts grants everything", async () => {
    await using client = await bench.connect();
    const { trust } = await bench.ready(client);
    await client.request("lares/trust", { trusted: true, digest: trust.digest });
    await inState(client, OTHER, "Active");
    expect(await agent(client, PROBE)).toMatchObject({ locations: ["in", "out"] });
    expect((await question(client)).extensions.every(({ granted }) => granted)).toBe(true);
  });
});

describe("a program that changed", () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.create(spec());
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  test("shows its difference to the accepted one, also in the next kernel", async () => {
    await using client = await bench.open();
    const { trust, pid } = await bench.status(client);
    const changed = PROBE_PROGRAM.replace("permissionChanges: 0", "permissionChanges: 1 - 1");
    await bench.writeExtension({ ...probeOf(PROBE), program: changed });
    await newDigest(bench, client, trust.digest);
    await bench.kill(pid);
    await until("the next kernel", async () => (await bench.status(client).catch(() => null))?.pid !== pid);
    const { program, changes, granted } = await card(client);
    expect({ program, changes, granted }).toEqual({
      program: { change: "changed", diff: { files: 1, added: 1, removed: 1 } },
      changes: ["Its program has changed."],
      granted: true,
    });
    const whole = await client.request<TrustProgram>("lares/trust/program", { extension: PROBE });
    expect(whole).toMatchObject({
      kept: true,
      files: [{ path: "agent.ts", change: "changed", added: 1, removed: 1 }],
    });
    const [file] = (
      await client.request<TrustProgram>("lares/trust/program", { extension: PROBE, path: "agent.ts" })
    ).files;
    expect(file?.diff).toContain("permissionChanges: 0 } },\n+");
    expect(file?.diff).toContain("permissionChanges: 1 - 1 } },");
  });

  test("of a new extension everything is shown as added", async () => {
    await using other = await Bench.create(spec());
    await using client = await other.connect();
    const [file] = (
      await client.request<TrustProgram>("lares/trust/program", { extension: PROBE, path: "agent.ts" })
    ).files;
    expect(file).toMatchObject({ change: "added", removed: 0 });
    expect(file?.diff).toContain("+export default defineAgent({");
  });

  test("a missing program or file is not found", async () => {
    await using client = await bench.connect();
    expect(await client.raw("lares/trust/program", { extension: "test.nobody" })).toMatchObject({
      error: { code: CODES.NotFound },
    });
    const { files } = await client.request<TrustProgram>("lares/trust/program", {
      extension: PROBE,
      path: "../../lares.yaml",
    });
    expect(files).toEqual([]);
  });
});

describe.runIf(hasTerminals)("at a terminal", () => {
  test("a person ticks a part by keys; the rest is withheld, and a ticked part can be revoked", async () => {
    await using bench = await Bench.create(spec());
    await using client = await bench.connect();
    using run = new TerminalRun(bench, ["permissions"]);
    await run.shows(/a allow all/);
    // Down to "All files", tick it, down to "out", untick it, allow.
    run.type("\u001b[B ");
    await run.shows(/\[x\] All files/);
    for (let rows = 0; rows < 5; rows++) run.type("\u001b[B");
    run.type(" ");
    await run.shows(/> +\[ \] out/);
    run.type("\r");
    expect(await run.ended).toBe(0);
    expect(withoutOwnCodes(run.shown)).toContain("allowed in part: 1 of 4 permissions");
    const first = await card(client);
    expect(first.parts.filter(({ granted }) => granted).map(({ id }) => id)).toEqual(["read_entries"]);
    expect(first.folders.filter(({ granted }) => granted).map(({ path }) => path)).toEqual(["in"]);
    expect((await card(client, OTHER)).granted).toBe(false);
    expect(await lares(bench, ["permissions", "--revoke"])).toMatchObject({ code: 0 });
    expect((await card(client)).granted).toBe(false);
  });
});

test("without a terminal a part is granted by options, and nothing without an option", async () => {
  await using bench = await Bench.create(spec());
  await using client = await bench.connect();
  const shown = await lares(bench, ["permissions"]);
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining("[ ] All files") as string });
  expect(await lares(bench, ["permissions", "--grant", `${PROBE}=read_entries@in/deep`])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("[x] in/deep") as string,
  });
  expect((await card(client)).folders.filter(({ granted }) => granted).map(({ path }) => path)).toEqual([
    "in/deep",
  ]);
  expect(await lares(bench, ["permissions", "--grant", `${PROBE}@elsewhere`])).toMatchObject({ code: 2 });
});

test("a changed program of a withheld extension causes no question", async () => {
  await using bench = await Bench.create(spec());
  await using client = await bench.connect();
  const { digest } = await question(client);
  await answer(client, digest, grant(["read_entries"], ["in"]));
  await bench.ready(client);
  await bench.writeExtension({ ...probeOf(OTHER), program: `${PROBE_PROGRAM}\nconsole.log(1);\n` });
  const status = await newDigest(bench, client, digest);
  expect(status.trust).toMatchObject({ pending: [], changedPrograms: [] });
  expect((await question(client)).answered).toBe(true);
});

test("a stranger's text stays inside its part of the question", async () => {
  const evil = 'x", in no folder\u202e\u001b[2J\nNotes <b>';
  const hostile = probe({
    id: PROBE,
    permissions: { read_entries: { filter: evil }, emit_events: ["Seen"] },
    manifest: { name: evil, description: evil },
    grants: { locations: ["."] },
  });
  await using bench = await Bench.create({ extensions: [hostile], files: {} });
  await using client = await bench.connect();
  const open: unknown[] = [await question(client)];
  const texts: string[] = [];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === "string") texts.push(next);
    else if (typeof next === "object" && next !== null) open.push(...Object.values(next));
  }
  expect(texts.join("")).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  expect(texts.join("")).toContain("<U+202E>");
});
