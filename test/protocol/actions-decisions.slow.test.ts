import { chmod, readFile, stat, utimes } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approve, pick, propose, snapshot, undo } from "../support/actions.ts";
import { call, probe } from "../support/agents.ts";
import { actionIn, Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { CODES, type Action } from "../support/types.ts";
import { until } from "../support/until.ts";

const PROBE = "test.probe";
const OTHER = "test.other";

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({ extensions: [probe({ id: PROBE }), probe({ id: OTHER })] });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

const write = (path: string, content: string) => ({ kind: "file.write", path, content });
const text = (path: string): Promise<string> => readFile(bench.path(path), "utf8");
let count = 0;
/** Creates a file for this test, and a proposal to overwrite it. */
async function proposal(before = "before\n", after = "after\n"): Promise<{ path: string; action: Action }> {
  const path = `file-${++count}.txt`;
  await bench.write(path, before);
  return { path, action: await propose(client, PROBE, write(path, after)) };
}

/**
 * Approves an action after a person changed one of its base files. The index may notice first: the approval is then
 * refused, and the error names the state.
 */
async function approveDrifted(action: Action): Promise<Action> {
  try {
    return await approve(client, action);
  } catch (error) {
    expect(error).toMatchObject({ code: CODES.IllegalTransition, data: { state: "Stale" } });
    return pick(client, action);
  }
}

describe("approve", () => {
  test("another digest is DigestMismatch, and the action stays pending", async () => {
    const { path, action } = await proposal();
    const wrong = { ...action, digest: `sha256:${"0".repeat(64)}` };
    await expect(approve(client, wrong)).rejects.toMatchObject({
      code: CODES.DigestMismatch,
      data: { code: "DigestMismatch" },
    });
    expect((await pick(client, action)).state).toBe("PendingApproval");
    expect(await text(path)).toBe("before\n");
  });

  test("of a subset applies it, drops the others, and the receipt lists what was applied", async () => {
    const paths = ["s0.txt", "s1.txt", "s2.txt"];
    for (const path of paths) await bench.write(path, "before\n");
    const action = await propose(client, PROBE, ...paths.map((path) => write(path, `after ${path}\n`)));
    const done = await approve(client, action, { effects: [0, 2] });
    expect(done).toMatchObject({ state: "Committed", receipt: { applied: [0, 2] } });
    expect(await Promise.all(paths.map(text))).toEqual(["after s0.txt\n", "before\n", "after s2.txt\n"]);
    await undo(client, action);
    expect(await Promise.all(paths.map(text))).toEqual(["before\n", "before\n", "before\n"]);
  });

  test.each([[[7]], [[-1]], [[0.5]]])(
    "of effects %j that do not exist is refused and changes nothing",
    async (effects) => {
      const { path, action } = await proposal();
      expect(
        await client.raw("lares/actions/approve", { id: action.id, digest: action.digest, effects }),
      ).toHaveProperty("error");
      expect(await text(path)).toBe("before\n");
      expect((await pick(client, action)).state).toBe("PendingApproval");
    },
  );

  test("of what is not pending is IllegalTransition, naming the state", async () => {
    const { action } = await proposal();
    await approve(client, action);
    await expect(approve(client, action)).rejects.toMatchObject({
      code: CODES.IllegalTransition,
      data: { code: "IllegalTransition", state: "Committed" },
    });
  });

  test("of what does not exist is NotFound", async () => {
    const { action } = await proposal();
    const id = action.id.replace(/.{12}$/, "000000000000");
    for (const method of ["get", "undo", "reject"]) {
      expect(await client.raw(`lares/actions/${method}`, { id })).toMatchObject({
        error: { code: CODES.NotFound },
      });
    }
    await expect(approve(client, { ...action, id })).rejects.toMatchObject({ code: CODES.NotFound });
  });

  test("of two clients at once commits once", async () => {
    await using second = await bench.open();
    const { path, action } = await proposal();
    const answers = await Promise.allSettled([approve(client, action), approve(second, action)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(answers.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: CODES.IllegalTransition },
    });
    expect(await text(path)).toBe("after\n");
  });

  test("drift is a result with state Stale; no effect is applied, also not those that had not drifted", async () => {
    await bench.write("d0.txt", "before\n");
    await bench.write("d1.txt", "before\n");
    const action = await propose(client, PROBE, write("d0.txt", "after\n"), write("d1.txt", "after\n"));
    await bench.write("d1.txt", "a person was here\n");
    expect(await approveDrifted(action)).toMatchObject({ state: "Stale" });
    expect(await text("d0.txt")).toBe("before\n");
    expect(await text("d1.txt")).toBe("a person was here\n");
  });

  test("a file that vanished, or one that appeared, is drift too", async () => {
    const { path, action } = await proposal();
    const { rm } = await import("node:fs/promises");
    await rm(bench.path(path));
    expect(await approveDrifted(action)).toMatchObject({ state: "Stale" });
    const fresh = await propose(client, PROBE, write("came.txt", "after\n"));
    await bench.write("came.txt", "a person was faster\n");
    expect(await approveDrifted(fresh)).toMatchObject({ state: "Stale" });
    expect(await text("came.txt")).toBe("a person was faster\n");
  });

  test("an open document whose URI cannot name a file blocks no action", async () => {
    const uri = "file:///impossible%2Fname.txt";
    client.notify("textDocument/didOpen", {
      textDocument: { uri, languageId: "plaintext", version: 1, text: "saved\n" },
    });
    const contentChanges = [{ text: "unsaved\n" }];
    client.notify("textDocument/didChange", { textDocument: { uri, version: 2 }, contentChanges });
    const { path, action } = await proposal();
    expect((await approve(client, action)).state).toBe("Committed");
    expect(await text(path)).toBe("after\n");
    client.notify("textDocument/didClose", { textDocument: { uri } });
  });

  test("a file that is open with unsaved changes counts as drifted; open and saved does not", async () => {
    const { path, action } = await proposal();
    const uri = bench.uri(path);
    client.notify("textDocument/didOpen", {
      textDocument: { uri, languageId: "plaintext", version: 1, text: "before\n" },
    });
    const contentChanges = [{ text: "unsaved\n" }];
    client.notify("textDocument/didChange", { textDocument: { uri, version: 2 }, contentChanges });
    expect(await approve(client, action)).toMatchObject({ state: "Stale" });
    expect(await text(path)).toBe("before\n");

    await bench.write(path, "unsaved\n");
    client.notify("textDocument/didSave", { textDocument: { uri } });
    const again = await propose(client, PROBE, write(path, "after\n"));
    expect(await approve(client, again)).toMatchObject({ state: "Committed" });
    client.notify("textDocument/didClose", { textDocument: { uri } });
  });
});

test("a file that is opened with a text other than the disk's, as an editor restores it, counts as drifted", async () => {
  const { path, action } = await proposal();
  const uri = bench.uri(path);
  client.notify("textDocument/didOpen", {
    textDocument: { uri, languageId: "plaintext", version: 1, text: "unsaved\n" },
  });
  expect(await approve(client, action)).toMatchObject({ state: "Stale" });
  client.notify("textDocument/didClose", { textDocument: { uri } });
});

test("an editor that took in the committed text without a save does not block the undo", async () => {
  const { path, action } = await proposal();
  const uri = bench.uri(path);
  client.notify("textDocument/didOpen", {
    textDocument: { uri, languageId: "plaintext", version: 1, text: "before\n" },
  });
  expect(await approve(client, action)).toMatchObject({ state: "Committed" });
  const contentChanges = [{ text: await text(path) }];
  client.notify("textDocument/didChange", { textDocument: { uri, version: 2 }, contentChanges });
  expect(await undo(client, action)).toMatchObject({ state: "Undone" });
  expect(await text(path)).toBe("before\n");
  client.notify("textDocument/didClose", { textDocument: { uri } });
});

describe("reject", () => {
  test("ends the action, changes nothing, and notifies the waiting agent", async () => {
    const { path, action } = await proposal();
    const settled = call<Action>(client, PROBE, "actions.settled", action.id);
    const rejected = await client.request<Action>("lares/actions/reject", {
      id: action.id,
      reason: "not now",
    });
    expect(rejected).toMatchObject({ id: action.id, state: "Rejected", decided_by: "user" });
    expect(await settled).toMatchObject({ id: action.id, state: "Rejected" });
    expect(await text(path)).toBe("before\n");
    for (const request of [approve(client, action), undo(client, action)]) {
      await expect(request).rejects.toMatchObject({
        code: CODES.IllegalTransition,
        data: { state: "Rejected" },
      });
    }
  });
});

describe("undo", () => {
  test("restores bytes, time and mode; a second one is IllegalTransition", async () => {
    const path = "undo.sh";
    await bench.write(path, "#!/bin/sh\n");
    await chmod(bench.path(path), 0o754);
    await utimes(bench.path(path), 1_000_000_000.123, 1_000_000_000.123);
    const before = await stat(bench.path(path));
    const action = await propose(client, PROBE, write(path, "echo\n"));
    await approve(client, action);
    expect(await undo(client, action)).toMatchObject({ state: "Undone" });
    const after = await stat(bench.path(path));
    expect([after.mode, Math.round(after.mtimeMs)]).toEqual([before.mode, Math.round(before.mtimeMs)]);
    expect(await text(path)).toBe("#!/bin/sh\n");
    await expect(undo(client, action)).rejects.toMatchObject({
      code: CODES.IllegalTransition,
      data: { state: "Undone" },
    });
  });

  test("of what is pending is IllegalTransition", async () => {
    const { action } = await proposal();
    await expect(undo(client, action)).rejects.toMatchObject({
      code: CODES.IllegalTransition,
      data: { state: "PendingApproval" },
    });
  });

  test("is refused with Stale when one touched file has changed since, and then nothing changes", async () => {
    await bench.write("u0.txt", "before\n");
    await bench.write("u1.txt", "before\n");
    const action = await propose(client, PROBE, write("u0.txt", "after\n"), write("u1.txt", "after\n"));
    await approve(client, action);
    await bench.write("u1.txt", "a person went on\n");
    const before = await snapshot(bench.root);
    await expect(undo(client, action)).rejects.toMatchObject({
      code: CODES.Stale,
      data: { code: "Stale", path: "u1.txt" },
    });
    expect(await snapshot(bench.root)).toEqual(before);
    expect((await pick(client, action)).state).toBe("Committed");
  });
});

describe("always", () => {
  test("remembers one rule for the exact path, in decisions.yaml; other paths still need approval", async () => {
    const { path, action } = await proposal();
    await approve(client, action, { remember: "always" });
    const { stateFolder } = await bench.status(client);
    expect(await readFile(`${stateFolder}/decisions.yaml`, "utf8")).toContain(`path: ${path}\n`);
    const again = await propose(client, PROBE, write(path, "again\n"));
    expect(await actionIn(client, again.id, "Committed")).toMatchObject({ decided_by: "policy" });
    expect(await text(path)).toBe("again\n");
    expect((await proposal()).action.state).toBe("PendingApproval");
    const deletion = await propose(client, PROBE, { kind: "file.delete", path });
    expect(deletion.state).toBe("PendingApproval");
    await client.request("lares/actions/reject", { id: deletion.id });
  });

  test("remembers the client's own rules instead, if it passes some", async () => {
    await bench.write("rules/a.txt", "a\n");
    const action = await propose(client, PROBE, write("rules/a.txt", "b\n"));
    const rules = [{ decide: "allow", agent: PROBE, kind: "file.write", path: "rules/**" }];
    await approve(client, action, { remember: "always", rules });
    const other = await propose(client, PROBE, write("rules/other.txt", "x\n"));
    expect(await actionIn(client, other.id, "Committed")).toMatchObject({ decided_by: "policy" });
    const foreign = await propose(client, OTHER, write("rules/foreign.txt", "x\n"));
    expect(foreign.state).toBe("PendingApproval");
  });
});

describe("the ledger", () => {
  test("list is newest first, without diffs, filtered by state and agent, limited", async () => {
    const { action } = await proposal();
    const foreign = await propose(client, OTHER, write("foreign.txt", "x\n"));
    const all = await client.request<Action[]>("lares/actions/list", {});
    expect(all.slice(0, 2).map(({ id }) => id)).toEqual([foreign.id, action.id]);
    expect(all.flatMap(({ effects }) => effects).filter(({ diff }) => diff !== undefined)).toEqual([]);
    const created = all.map((each) => each.created);
    expect(created).toEqual(created.toSorted().toReversed());
    const list = (params: object) => client.request<Action[]>("lares/actions/list", params);
    expect(new Set((await list({ state: "Rejected" })).map(({ state }) => state))).toEqual(
      new Set(["Rejected"]),
    );
    expect(new Set((await list({ agent: OTHER })).map(({ agent }) => agent))).toEqual(new Set([OTHER]));
    expect((await list({ limit: 1 })).map(({ id }) => id)).toEqual([foreign.id]);
    expect((await pick(client, action)).effects[0]?.diff).toContain("+after");
  });

  test("content gives both sides of an effect, in pieces", async () => {
    const { action } = await proposal("0123456789", "abcdef");
    const content = async (more: object): Promise<{ text: string; eof: boolean }> => {
      const answer = await client.request<{ base64: string; eof: boolean }>("lares/actions/content", {
        id: action.id,
        effect: 0,
        ...more,
      });
      return { text: Buffer.from(answer.base64, "base64").toString(), eof: answer.eof };
    };
    expect(await content({ side: "before" })).toEqual({ text: "0123456789", eof: true });
    expect(await content({ side: "after" })).toEqual({ text: "abcdef", eof: true });
    expect(await content({ side: "before", offset: 2, length: 3 })).toEqual({ text: "234", eof: false });
    expect(await content({ side: "before", offset: 8, length: 10 })).toEqual({ text: "89", eof: true });
    const params = { id: action.id, effect: 9, side: "after" };
    expect(await client.raw("lares/actions/content", params)).toHaveProperty("error");
  });

  test("every change is notified, without diffs; pendingActions counts the pending ones", async () => {
    const before = (await bench.status(client)).pendingActions;
    const { action } = await proposal();
    expect((await bench.status(client)).pendingActions).toBe(before + 1);
    await approve(client, action);
    const states = await until("the notifications", () => {
      const own = client.notifications<Action>("lares/actions/changed").filter(({ id }) => id === action.id);
      return own.at(-1)?.state === "Committed" && own;
    });
    expect(states[0]?.state).toBe("PendingApproval");
    expect(states.flatMap(({ effects }) => effects).filter(({ diff }) => diff !== undefined)).toEqual([]);
    expect((await bench.status(client)).pendingActions).toBe(before);
  });

  test("pending approvals survive kill -9 of the kernel and can be approved and undone afterwards", async () => {
    const { path, action } = await proposal();
    const committed = await proposal();
    await approve(client, committed.action);
    const { pid } = await bench.status(client);
    await bench.kill(pid);
    const next = await bench.ready(client);
    expect(next.pid).not.toBe(pid);
    expect(await pick(client, action)).toMatchObject({ state: "PendingApproval", digest: action.digest });
    expect(await approve(client, action)).toMatchObject({ state: "Committed" });
    expect(await text(path)).toBe("after\n");
    for (const each of [action, committed.action])
      expect(await undo(client, each)).toMatchObject({ state: "Undone" });
    expect(await text(path)).toBe("before\n");
  });
});
