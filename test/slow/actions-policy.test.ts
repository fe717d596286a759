import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import {
  approve,
  pick,
  preview,
  propose,
  snapshot,
  tryToPropose,
  type EffectInput,
} from "../support/actions.ts";
import { ALL_PERMISSIONS, call, host, probe } from "../support/agents.ts";
import { actionIn, Bench, type BenchSpec } from "../support/bench.ts";
import { frame as frameOf } from "../support/frames.ts";
import type { Client } from "../support/client.ts";
import { Editor } from "../support/editor.ts";
import type { Action } from "../support/types.ts";
import { until } from "../support/until.ts";

const PROBE = "test.probe";
const OTHER = "test.other";
const write = (path: string, content = "x\n"): EffectInput => ({ kind: "file.write", path, content });
const bench = (approvals: object, spec: BenchSpec = {}): Promise<Bench> =>
  Bench.create({
    files: { "a.txt": "a\n", "in/a.txt": "a\n", "in/b.txt": "b\n", "kept/c.txt": "c\n" },
    extensions: [probe({ id: PROBE })],
    ...spec,
    lares: { approvals, ...spec.lares },
  });

/** Returns the policy's decision on a proposal: refused and denied are the same to the agent. */
async function decision(
  client: Client,
  agent: string,
  ...effects: EffectInput[]
): Promise<"deny" | "ask" | "allow"> {
  const { value, error } = await tryToPropose(client, agent, ...effects);
  if (error !== undefined) return "deny";
  const { id } = value as Action;
  const action = await actionIn(client, id, "PendingApproval", "Committed", "Rejected");
  if (action.state === "PendingApproval") return "ask";
  expect(action.decided_by).toBe("policy");
  return action.state === "Committed" ? "allow" : "deny";
}

test("rules: deny beats ask beats allow, in any order; an action gets its strictest effect's decision", async () => {
  await using setting = await bench(
    {
      rules: [
        { decide: "allow", kind: "file.write" },
        { decide: "allow", agent: OTHER, kind: "file.move", path: "in/**" },
        { decide: "ask", path: "in/**", kind: "file.write" },
        { decide: "deny", path: "kept/**" },
        { decide: "deny", kind: "file.delete" },
      ],
    },
    { extensions: [probe({ id: PROBE }), probe({ id: OTHER })] },
  );
  await using client = await setting.open();
  const before = await snapshot(setting.root);
  const table: [string, EffectInput[], "deny" | "ask" | "allow"][] = [
    [PROBE, [write("in/a.txt")], "ask"],
    [PROBE, [write("kept/c.txt")], "deny"],
    [PROBE, [{ kind: "file.delete", path: "a.txt" }], "deny"],
    [PROBE, [{ kind: "file.move", from: "in/a.txt", to: "in/moved.txt" }], "ask"], // the rule is another agent's
    [PROBE, [{ kind: "file.move", from: "kept/c.txt", to: "c.txt" }], "deny"],
    [PROBE, [write("new.txt"), write("in/a.txt")], "ask"],
    [PROBE, [write("new.txt"), write("in/a.txt"), write("kept/c.txt")], "deny"],
  ];
  for (const [agent, effects, expected] of table) {
    expect({ effects, decision: await decision(client, agent, ...effects) }).toEqual({
      effects,
      decision: expected,
    });
  }
  expect(await snapshot(setting.root)).toEqual(before);
  expect(await decision(client, PROBE, write("a.txt"), write("new.txt"))).toBe("allow");
  expect(await decision(client, OTHER, { kind: "file.move", from: "in/b.txt", to: "in/moved.txt" })).toBe(
    "allow",
  );
  expect(await readFile(setting.path("in/moved.txt"), "utf8")).toBe("b\n");
});

test("by default every change of files needs approval", async () => {
  await using setting = await bench({});
  await using client = await setting.open();
  expect(await decision(client, PROBE, write("a.txt", "a\nb\n"))).toBe("ask");
  expect(await decision(client, PROBE, { kind: "folder.create", path: "empty" })).toBe("ask");
});

test("auto_approve_below allows smaller changes, asks about larger ones, and many small changes do not bypass it", async () => {
  await using setting = await bench({}, { files: { "big.txt": "line\n".repeat(5000) } });
  await using client = await setting.open();
  const small = write("s-0.txt");
  const low = (await preview(client, PROBE, small)).impact_score;
  const high = (await preview(client, PROBE, { kind: "file.delete", path: "big.txt" })).impact_score;
  expect(low).toBeLessThan(high);
  const digest = (await setting.status(client)).trust.digest;
  await setting.writeLares({ keys: { approvals: { auto_approve_below: (low + high) / 2 } } });
  await setting.accept(client, digest);
  expect(await decision(client, PROBE, { kind: "file.delete", path: "big.txt" })).toBe("ask");
  expect(await decision(client, PROBE, small)).toBe("allow");
  let allowed = 1;
  while (allowed < 200 && (await decision(client, PROBE, write(`s-${allowed}.txt`))) === "allow") allowed++;
  expect(allowed).toBeLessThan(200); // their sum within the hour passed the threshold
});

test("protected paths are never automatic and never offer 'always'", async () => {
  await using setting = await bench(
    { auto_approve_below: 1, rules: [{ decide: "allow" }] },
    { lares: { extensions: [{ id: PROBE, grants: { locations: ["."] } }] } },
  );
  // The extension lies in the workspace, so that its own program is within its reach.
  const { program = "", manifest } = probe({ id: PROBE });
  const folder = `.lares/extensions/${PROBE}`;
  const document = { extension: { id: PROBE, name: PROBE, version: "1.0.0", ...manifest } };
  await setting.write(`${folder}/extension.yaml`, JSON.stringify(document));
  await setting.write(`${folder}/agent.ts`, program);
  await using client = await setting.open();
  await setting.ready(client);
  expect(await decision(client, PROBE, write("ordinary.txt"))).toBe("allow");
  const paths = [
    "lares.yaml",
    "lares.toml",
    "sub/lares.yaml",
    "sub/extension.yaml",
    "extension.toml",
    `${folder}/agent.ts`,
    ".vscode/settings.json",
    ".github/workflows/ci.yml",
    ".ci/run",
    ".bashrc",
    ".zshrc",
    ".profile",
    ".bash_profile",
  ];
  for (const path of paths) {
    const effect = write(path, "version: 1\n");
    expect([path, await decision(client, PROBE, effect)]).toEqual([path, "ask"]);
    expect([path, await decision(client, PROBE, write("ordinary.txt", "y\n"), effect)]).toEqual([
      path,
      "ask",
    ]);
  }
  const move: EffectInput = { kind: "file.move", from: "ordinary.txt", to: ".vscode/tasks.json" };
  expect(await decision(client, PROBE, move)).toBe("ask");

  const action = await propose(client, PROBE, write(".vscode/settings.json", "{}\n"));
  await client.raw("lares/actions/approve", { id: action.id, digest: action.digest, remember: "always" });
  expect(await decision(client, PROBE, write(".vscode/settings.json", '{ "again": 1 }\n'))).toBe("ask");
});

test(".git and the state folder are out of reach, for reading too", async () => {
  const files = { ".git/config": "[core]\n", "sub/.git/HEAD": "ref\n", "a.txt": "a\n" };
  await using setting = await bench(
    { auto_approve_below: 1, rules: [{ decide: "allow" }] },
    { files, home: "state" },
  );
  await using client = await setting.open();
  const { stateFolder } = await setting.status(client);
  const state = relative(setting.root, stateFolder);
  expect(state).toMatch(/^state\//);
  const before = await readFile(setting.path(".git/config"), "utf8");
  for (const path of [".git/config", "sub/.git/HEAD", ".git", join(state, "decisions.yaml"), state]) {
    const calls: [string, ...unknown[]][] = [
      ["vdfs.get", path],
      ["vdfs.readText", path],
      ["vdfs.read", path, { offset: 0, length: 10 }],
      ["vdfs.tags.add", path, "#t"],
      ["actions.propose", [write(`${path}x`.replace(/x$/, ""))], { title: "t", reason: "r" }],
      ["actions.propose", [{ kind: "file.delete", path }], { title: "t", reason: "r" }],
      ["actions.propose", [{ kind: "file.move", from: path, to: "stolen" }], { title: "t", reason: "r" }],
      ["actions.propose", [{ kind: "file.move", from: "a.txt", to: path }], { title: "t", reason: "r" }],
    ];
    for (const [method, ...parameters] of calls) {
      const { error } = await host(client, PROBE, method, ...parameters);
      expect({ path, method, code: error?.code }).toEqual({
        path,
        method,
        code: expect.stringMatching(/ScopeViolation|PermissionDenied|NotFound/),
      });
    }
  }
  const seen = await call<{ items: { path: string }[] }>(client, PROBE, "vdfs.query", { limit: 1000 });
  const items = Array.isArray(seen) ? (seen as { path: string }[]) : seen.items;
  expect(
    items.map(({ path }) => path).filter((path) => /(^|\/)\.git(\/|$)|^state\/workspaces\//.test(path)),
  ).toEqual([]);
  expect(await readFile(setting.path(".git/config"), "utf8")).toBe(before);
});

test("an action nobody decided on expires", async () => {
  await using setting = await bench({ expire_after: "1s" });
  await using client = await setting.open();
  const action = await propose(client, PROBE, write("a.txt"));
  await actionIn(client, action.id, "Expired");
  await expect(approve(client, action)).rejects.toMatchObject({ data: { state: "Expired" } });
  expect(await readFile(setting.path("a.txt"), "utf8")).toBe("a\n");
});

test("propose_actions names the kinds that may be proposed", async () => {
  const permissions = { ...ALL_PERMISSIONS, propose_actions: ["file.write"] };
  await using setting = await bench({}, { extensions: [probe({ id: PROBE, permissions })] });
  await using client = await setting.open();
  expect((await propose(client, PROBE, write("a.txt"))).state).toBe("PendingApproval");
  for (const effect of [
    { kind: "file.delete", path: "a.txt" },
    { kind: "folder.create", path: "f" },
  ]) {
    expect(await tryToPropose(client, PROBE, effect)).toMatchObject({ error: { code: "PermissionDenied" } });
  }
});

describe("approvals by window/showMessageRequest", () => {
  type Shown = { message: string; actions: { title: string }[] };
  const requests = (client: Client): Shown[] => client.notifications<Shown>("window/showMessageRequest");

  test("offers Approve, Reject and Show changes, one at a time; null leaves it pending", async () => {
    await using setting = await bench({});
    await using client = await setting.connect({ trusted: true, approvals: "showMessageRequest" });
    client.answer = () => undefined; // answered by hand
    await setting.ready(client);
    const reply = (button: string | null): void => {
      const request = client.received.filter(({ method }) => method === "window/showMessageRequest").at(-1);
      const result = button === null ? null : { title: button };
      client.write(frameOf({ jsonrpc: "2.0", id: request?.id, result }));
    };
    const first = await propose(client, PROBE, write("a.txt", "first\n"));
    const second = await propose(client, PROBE, write("in/a.txt", "second\n"));
    const third = await propose(client, PROBE, write("in/b.txt", "third\n"));
    await until("a request", () => requests(client).length === 1);
    expect(requests(client)[0]?.actions.map(({ title }) => title)).toEqual([
      "Approve",
      "Reject",
      "Show changes",
    ]);
    expect(requests(client)[0]?.message).toContain("A title");
    await setting.status(client);
    expect(requests(client)).toHaveLength(1); // one outstanding per client

    reply("Approve");
    expect(await actionIn(client, first.id, "Committed")).toMatchObject({ decided_by: "user" });
    await until("the next request", () => requests(client).length === 2);
    reply("Reject");
    await actionIn(client, second.id, "Rejected");
    await until("the last request", () => requests(client).length === 3);
    reply(null);
    await setting.status(client);
    expect((await pick(client, third)).state).toBe("PendingApproval");
    expect(await readFile(setting.path("a.txt"), "utf8")).toBe("first\n");
  });

  test("a client that does not know the request, as some editors, leaves it pending", async () => {
    await using setting = await bench({});
    await using client = await setting.connect({ trusted: true, approvals: "showMessageRequest" });
    client.answer = () => undefined;
    await setting.ready(client);
    const action = await propose(client, PROBE, write("a.txt", "first\n"));
    const request = await until("a request", () =>
      client.received.find(({ method }) => method === "window/showMessageRequest"),
    );
    client.write(
      frameOf({ jsonrpc: "2.0", id: request.id, error: { code: -32601, message: "no such method" } }),
    );
    await setting.status(client);
    expect((await pick(client, action)).state).toBe("PendingApproval");
    expect(await approve(client, action)).toMatchObject({ state: "Committed" });
  });

  test("a client that revokes its trust decides nothing by a question still on its screen; trusting again, it is asked", async () => {
    await using setting = await bench({});
    await using client = await setting.connect({ trusted: true, approvals: "showMessageRequest" });
    client.answer = () => undefined;
    await setting.ready(client);
    const approveIt = (nth: number): void => {
      const asked = client.received.filter(({ method }) => method === "window/showMessageRequest")[nth];
      client.write(frameOf({ jsonrpc: "2.0", id: asked?.id, result: { title: "Approve" } }));
    };
    const action = await propose(client, PROBE, write("a.txt", "first\n"));
    await until("a request", () => requests(client).length === 1);
    await client.request("lares/trust", { trusted: false });
    approveIt(0);
    await client.notification<Shown>("window/showMessage", ({ message }) =>
      /no longer trusted/.test(message),
    );

    await client.request("lares/trust", { trusted: true });
    expect((await pick(client, action)).state).toBe("PendingApproval");
    await until("the question again", () => requests(client).length === 2);
    approveIt(1);
    await actionIn(client, action.id, "Committed");
  });

  test("other clients are not asked", async () => {
    await using setting = await bench({});
    await using client = await setting.open({ approvals: "none" });
    const action = await propose(client, PROBE, write("a.txt", "first\n"));
    await setting.status(client);
    expect(requests(client)).toEqual([]);
    expect((await pick(client, action)).state).toBe("PendingApproval");
  });
});

test("a change that a rule allows is not written under unsaved changes; an editor that took in the written text has none", async () => {
  await using setting = await bench({ rules: [{ decide: "allow", kind: "file.write" }] });
  await using client = await setting.open();
  const editor = new Editor(setting, client);
  await editor.open("a.txt");
  expect(await decision(client, PROBE, write("a.txt", "first\n"))).toBe("allow");
  // Like an editor: a change is reported, but no save.
  editor.type("a.txt", "first\n");
  expect(await decision(client, PROBE, write("a.txt", "second\n"))).toBe("allow");
  editor.type("a.txt", "a person's\n");
  const { value } = await tryToPropose(client, PROBE, write("a.txt", "third\n"));
  await actionIn(client, (value as Action).id, "Stale");
  expect(await readFile(join(setting.root, "a.txt"), "utf8")).toBe("second\n");
});
