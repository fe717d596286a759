import { appendFile, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Action } from "../../kernel/src/base/vocabulary/action.ts";
import type { Decision, ScopeId } from "../../kernel/src/base/vocabulary/approval-rule.ts";
import type { Agent } from "../../kernel/src/base/vocabulary/agent.ts";
import { restMs } from "../../kernel/src/configuration/decisions-file.ts";
import { approve, pick, propose } from "../support/actions.ts";
import { host, probe } from "../support/agents.ts";
import { actionIn, Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { CODES } from "../support/types.ts";
import { until } from "../support/until.ts";

const PROBE = "test.probe";
const OTHER = "test.other";

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    extensions: [probe({ id: PROBE }), probe({ id: OTHER })],
    lares: { approvals: { auto_approve_below: 0.035 } },
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

/** Larger than the automatic impact limit. */
const content = "x\n".repeat(150_000);
const write = (path: string) => ({ kind: "file.write", path, content });
const asked = async (path: string): Promise<Action> =>
  (await pick(client, await propose(client, PROBE, write(path)))) as Action;
const stateOf = async (path: string, agent = PROBE): Promise<string> =>
  (await propose(client, agent, write(path))).state;
const decisions = async (): Promise<Decision[]> =>
  (await client.request<{ items: Decision[] }>("lares/decisions/list", {})).items;
const rulesOf = (action: Action, id: ScopeId) => action.scopes?.find((scope) => scope.id === id)?.rules;
const revoke = (id: string) => client.request<Decision>("lares/decisions/revoke", { id });

describe("a decision", () => {
  test("made by a scope allows its folder for this agent, counts its uses over kill -9, and ends when it is revoked", async () => {
    const action = await asked("notes/a.md");
    expect(action.asked_because?.sentence).toContain("auto_approve_below: 0.035");
    expect(action.asked_because?.place?.path).toBe(bench.path("lares.yaml"));
    const told = client.notifications("lares/decisions/changed").length;
    await approve(client, action, { rules: rulesOf(action, "folder") });
    await until("the change to be told", () => client.notifications("lares/decisions/changed").length > told);
    expect([
      await stateOf("notes/b.md"),
      await stateOf("notes/c.md"),
      await stateOf("notes/d.md", OTHER),
    ]).toEqual(["Committed", "Committed", "PendingApproval"]);
    const [decision] = await decisions();
    expect(decision).toMatchObject({ agent: PROBE, used: 2, title: expect.stringContaining('"notes/"') });
    const { stateFolder, pid } = await bench.status(client);
    const line = (await readFile(join(stateFolder, "decisions.yaml"), "utf8")).split("\n")[
      (decision?.place?.line ?? 0) - 1
    ];
    expect(line).toContain("decide: allow");

    const [committed] = await client.request<Action[]>("lares/actions/list", {
      state: "Committed",
      limit: 1,
    });
    expect(committed).toMatchObject({
      decided_by: "policy",
      rule: {
        sentence: expect.stringMatching(/^By your rule: writes in "notes\/"/),
        decision: decision?.id,
        place: decision?.place,
      },
    });

    await bench.kill(pid);
    await bench.ready(client);
    expect((await decisions())[0]).toEqual(decision);
    expect(await revoke(decision?.id ?? "")).toEqual(decision);
    expect(await stateOf("notes/e.md")).toBe("PendingApproval");
    expect(await decisions()).toEqual([]);
    await expect(revoke(decision?.id ?? "")).rejects.toMatchObject({ code: CODES.NotFound });
    // The rule is gone: its earlier decision is still described, without a place.
    expect((await pick(client, committed!)) as Action).toMatchObject({
      rule: { sentence: expect.stringMatching(/^By your rule/) },
    });
    expect(((await pick(client, committed!)) as Action).rule?.place).toBeUndefined();
  });

  test("of a session is in no file, and ends with the last client", async () => {
    const action = await asked("session/a.md");
    await approve(client, action, { rules: rulesOf(action, "session") });
    expect(await stateOf("session/b.md")).toBe("Committed");
    expect(await decisions()).toMatchObject([{ used: 1, rules: [{ until: "close" }] }]);
    const { stateFolder } = await bench.status(client);
    expect(await readFile(join(stateFolder, "decisions.yaml"), "utf8")).not.toContain("session/");
    const second = await bench.open();
    await client[Symbol.asyncDispose]();
    client = second;
    expect(await stateOf("session/c.md")).toBe("Committed");
    await client[Symbol.asyncDispose]();
    client = await bench.open();
    expect(await stateOf("session/d.md")).toBe("PendingApproval");
    expect(await decisions()).toEqual([]);
  });

  test("written by hand is listed, counts at once, and is revoked like any other", async () => {
    const { stateFolder } = await bench.status(client);
    const file = join(stateFolder, "decisions.yaml");
    const text = await readFile(file, "utf8");
    const rule = "  - { decide: allow, agent: test.probe, path: by-hand/** } # mine\n";
    if (/^rules: \[\]$/m.test(text)) await writeFile(file, text.replace(/^rules: \[\]$/m, `rules:\n${rule}`));
    else await appendFile(file, rule);
    await until("the rule to be listed", async () => (await decisions()).length === 1);
    const [decision] = await decisions();
    expect(decision).toMatchObject({
      agent: PROBE,
      used: 0,
      title: 'Allow all changes in "by-hand/" and its folders by test.probe',
    });
    expect(decision?.created).toBeUndefined();
    expect(await stateOf("by-hand/a")).toBe("Committed");
    await revoke(decision?.id ?? "");
    expect(await stateOf("by-hand/b")).toBe("PendingApproval");
    expect(await readFile(file, "utf8")).not.toContain("by-hand");
  });

  test("an editor that empties the file before writing it loses nothing", async () => {
    const { stateFolder } = await bench.status(client);
    const file = join(stateFolder, "decisions.yaml");
    const text = await readFile(file, "utf8");
    await writeFile(file, "");
    // Real time: long enough for the kernel to read the empty file, and shorter than its wait for an empty one to
    // settle.
    await new Promise((resolve) => setTimeout(resolve, 2 * restMs));
    await writeFile(file, `${text}# saved\n`);
    await until("the file to be read", async () => (await bench.status(client)).trusted);
    expect(await readFile(file, "utf8")).toBe(`${text}# saved\n`);
    const names = await readdir(stateFolder);
    expect(names.filter((name) => name.startsWith("decisions.unreadable"))).toEqual([]);
    expect(await stateOf("emptied/a")).toBe("PendingApproval");
  });

  test("covers only what was offered: other rules and protected files are refused, and agents see neither", async () => {
    const action = await asked("bound/a.md");
    const rules = [{ decide: "allow", agent: PROBE, kind: "file.write", path: "**" }];
    expect(
      await client.raw("lares/actions/approve", { id: action.id, digest: action.digest, rules }),
    ).toMatchObject({
      error: { code: -32602 },
    });
    expect((await pick(client, action)).state).toBe("PendingApproval");
    const guarded = await asked(".vscode/settings.json");
    expect(guarded.scopes).toBeUndefined();
    expect(guarded.asked_because?.sentence).toContain("is asked each time");
    const { id, digest } = guarded;
    expect(await client.raw("lares/actions/approve", { id, digest, remember: "always" })).toMatchObject({
      error: { code: -32602, message: expect.stringContaining("asked each time") },
    });
    const seen = await host(client, PROBE, "actions.get", id);
    expect(JSON.stringify(seen)).toContain(id);
    expect(JSON.stringify(seen)).not.toMatch(/asked_because|scopes|"rule"/);
    const small = await propose(client, PROBE, { kind: "file.write", path: "small", content: "x" });
    expect(await actionIn(client, small.id, "Committed")).toMatchObject({
      rule: {
        sentence: expect.stringContaining("is below 0.035"),
        place: { path: bench.path("lares.yaml") },
      },
    });
  });
});

test("an agent whose manifest is broken stays in the list with its problems, and runs again when it is fixed", async () => {
  const file = join(bench.extensionFolder(OTHER), "extension.yaml");
  const whole = await readFile(file, "utf8");
  const other = async (): Promise<Agent | undefined> =>
    (await client.request<Agent[]>("lares/agents/list", {})).find(({ id }) => id === OTHER);
  await writeFile(file, `extension:\n  id: ${OTHER}\n  name: [\n`);
  const broken = await until("the agent to be in Error", async () => {
    const found = await other();
    return found?.state === "Error" ? found : null;
  });
  expect(broken).toMatchObject({ problems: expect.any(Number), first_problem: { place: { path: file } } });
  expect(broken?.permissions).toEqual([]);
  await writeFile(file, whole);
  await until("it to be well", async () => {
    const found = await other();
    return found !== undefined && found.problems === undefined && found.state !== "Error";
  });
});
