import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isLaresError } from "../../base/errors.ts";
import { countTurns } from "../../base/testing/count-turns.ts";
import type { Action, EffectInput, ProposalRequest } from "../../base/vocabulary/action.ts";
import type { Entry } from "../../base/vocabulary/entry.ts";
import type { EntryChange } from "../../base/vocabulary/event.ts";
import { actionLimits } from "../limits.ts";
import { openBench, everything, program, agent, type Bench, person } from "../testing/bench.ts";

let folder: string;
let root: string;
let bench: Bench;

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "lares-queue-")));
  root = join(folder, "root");
  mkdirSync(root);
  mkdirSync(join(folder, "state"));
  bench = await open();
});
afterEach(async () => {
  await bench[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function open(): Promise<Bench> {
  const opened = await openBench({ roots: [{ name: "root", path: root }], state: join(folder, "state") });
  await opened.actions.recover();
  opened.actions.agentsAreKnown(true);
  return opened;
}

/** Restarts the kernel; `meanwhile` runs while it is down. */
async function restart(meanwhile: () => void = () => undefined): Promise<void> {
  await bench[Symbol.asyncDispose]();
  meanwhile();
  bench = await open();
  await bench.actions.idle();
}

function put(path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

const contentOf = (path: string): string => readFileSync(join(root, path), "utf8");
const lines = (...all: readonly string[]): string => all.map((line) => `${line}\n`).join("");
const write = (path: string, content: string): EffectInput => ({ kind: "file.write", path, content });
const edit = (path: string, find: string, replace: string): EffectInput => ({
  kind: "file.edit",
  path,
  edits: [{ find, replace }],
});
const move = (from: string, to: string): EffectInput => ({ kind: "file.move", from, to });

const entryOf = (path: string, kind: "file" | "folder" = "file"): Entry =>
  ({ path, kind, id: path, name: path.split("/").at(-1) }) as Entry;
const modified = (path: string): EntryChange => ({
  kind: "modified",
  entry: entryOf(path),
  changed_fields: ["size", "modified"],
  origin: "live",
});
const created = (path: string): EntryChange => ({ kind: "created", entry: entryOf(path), origin: "live" });
const deleted = (path: string): EntryChange => ({ kind: "deleted", entry_id: path, path, origin: "live" });
const movedFolder = (from: string, to: string): EntryChange => ({
  kind: "moved",
  entry: entryOf(to, "folder"),
  from,
  origin: "live",
});

/** Reports changes of the workspace and waits for their consequences. */
async function heard(...changes: readonly EntryChange[]): Promise<void> {
  bench.actions.workspaceChanged(changes);
  await bench.actions.idle();
}

async function stateOf({ id }: Pick<Action, "id">): Promise<string | undefined> {
  return (await bench.actions.get(id))?.state;
}

async function codeOf(running: Promise<unknown>): Promise<string> {
  try {
    await running;
    return "fulfilled";
  } catch (error) {
    return isLaresError(error) ? error.code : `not a LaresError: ${String(error)}`;
  }
}

const proposeAs = async (request: Partial<ProposalRequest>, of = agent): Promise<Action> =>
  (
    await bench.actions.propose({ ...everything, extension: of }, program, {
      title: "A test",
      reason: "",
      effects: [],
      ...request,
    })
  ).action;

describe("a waiting action goes stale by itself", () => {
  const cases: readonly [name: string, effects: EffectInput[], change: () => EntryChange[]][] = [
    ["a file that it edits is changed", [edit("a", "one", "1")], () => (put("a", "else"), [modified("a")])],
    [
      "a file that it edits is deleted",
      [edit("a", "one", "1")],
      () => (rmSync(join(root, "a")), [deleted("a")]),
    ],
    [
      "a file that it deletes is changed",
      [{ kind: "file.delete", path: "a" }],
      () => (put("a", "else"), [modified("a")]),
    ],
    [
      "something appears where it makes a file",
      [write("new", "n")],
      () => (put("new", "else"), [created("new")]),
    ],
    ["something appears where it moves a file", [move("a", "b")], () => (put("b", ""), [created("b")])],
    [
      "the folder above a file that it edits is moved",
      [edit("d/in/a", "one", "1")],
      () => (renameSync(join(root, "d"), join(root, "e")), [movedFolder("d", "e")]),
    ],
    [
      "the folder above a file that it edits is deleted",
      [edit("d/in/a", "one", "1")],
      () => (rmSync(join(root, "d"), { recursive: true }), [deleted("d")]),
    ],
    [
      "a file in a folder that it moves is changed",
      [move("d", "e")],
      () => (put("d/in/a", "x"), [modified("d/in/a")]),
    ],
    [
      "a folder that it moves is gone",
      [move("d", "e")],
      () => (rmSync(join(root, "d"), { recursive: true }), [deleted("d")]),
    ],
  ];
  test.each(cases)("when %s", async (_name, effects, change) => {
    put("a", "one");
    put("d/in/a", "one");
    const action = await bench.propose(...effects);
    const announced: string[] = [];
    bench.actions.changed.on(({ id, state }) => void (id === action.id && announced.push(state)));
    expect(bench.actions.pendingCount()).toBe(1);
    await heard(...change());
    expect(announced).toEqual(["Stale"]);
    expect(bench.actions.pendingCount()).toBe(0);
    // A folder may hold files that are hidden from the agent, so the agent is not told why its move failed.
    const told = action.effects[0]?.summary.includes("a folder of") === true ? "Failed" : "Stale";
    expect(bench.ends).toMatchObject([{ action: action.id, state: told }]);
    await restart();
    expect(await stateOf(action)).toBe("Stale");
    expect(bench.actions.pendingCount()).toBe(0);
  });

  test("not when a file is rewritten with the same bytes, or another file is changed", async () => {
    put("a", "one");
    const action = await bench.propose(edit("a", "one", "1"));
    put("a", "one");
    put("b", "two");
    await heard(modified("a"), created("b"), deleted("a"), created("a"));
    expect(await stateOf(action)).toBe("PendingApproval");
  });

  test("not for a file that its agent cannot see; the commit notices the change", async () => {
    put("secret/a", "one");
    put("d/secret/a", "one");
    bench.leftOut.add("secret");
    const hidden = await bench.propose(write("secret/a", "two"));
    const moved = await bench.propose(move("d", "e"));
    put("secret/a", "changed");
    put("d/secret/a", "changed");
    await heard(modified("secret/a"), modified("d/secret/a"));
    expect(await stateOf(hidden)).toBe("PendingApproval");
    expect(await stateOf(moved)).toBe("PendingApproval");
    expect(bench.ends).toEqual([]);
    expect((await bench.actions.approve(person, moved.id, { digest: moved.digest })).state).toBe("Stale");
  });

  // The index does not report files that appear before it lists them, and what is hidden from the agent makes no action
  // stale.
  const unheard: readonly [name: string, effects: EffectInput[], change: () => void, path: string][] = [
    ["a file appeared where it creates one", [write("new", "n")], () => put("new", "else"), "new"],
    ["a file appeared at the target of its move", [move("a", "b")], () => put("b", "else"), "b"],
    ["a file that it edits changed", [edit("a", "one", "1")], () => put("a", "else"), "a"],
    [
      "a file that it deletes is gone",
      [{ kind: "file.delete", path: "a" }],
      () => rmSync(join(root, "a")),
      "a",
    ],
    [
      "a hidden file that it writes changed",
      [write("secret/a", "two")],
      () => put("secret/a", "else"),
      "secret/a",
    ],
    [
      "a hidden file came where it makes one",
      [write("secret/new", "n")],
      () => put("secret/new", "else"),
      "secret/new",
    ],
    [
      "a hidden file that it writes is gone",
      [write("secret/a", "two")],
      () => rmSync(join(root, "secret/a")),
      "secret/a",
    ],
    [
      "a hidden file in a folder that it moves changed",
      [move("d", "e")],
      () => put("d/secret/a", "else"),
      "d",
    ],
  ];
  test.each(unheard)(
    "the commit refuses it with the path when %s unheard",
    async (_name, effects, change, path) => {
      for (const file of ["a", "secret/a", "d/secret/a"]) put(file, "one");
      bench.leftOut.add("secret");
      const action = await bench.propose(...effects);
      change();
      const before = new Set(readdirSync(root, { recursive: true, encoding: "utf8" }));
      expect(await stateOf(action)).toBe("PendingApproval");
      const ended = await bench.actions.approve(person, action.id, { digest: action.digest });
      expect(ended.state).toBe("Stale");
      expect(ended.error).toContain(JSON.stringify(path));
      expect(new Set(readdirSync(root, { recursive: true, encoding: "utf8" }))).toEqual(before);
      if (existsSync(join(root, path)) && path !== "d") expect(contentOf(path)).toBe("else");
    },
  );

  test("a file that appeared and disappeared before the commit does not prevent it", async () => {
    const action = await bench.propose(write("new", "n"));
    put("new", "else");
    rmSync(join(root, "new"));
    expect((await bench.actions.approve(person, action.id, { digest: action.digest })).state).toBe(
      "Committed",
    );
    expect(contentOf("new")).toBe("n");
  });

  test("not while the workspace folder itself is missing, nor when it is back", async () => {
    put("a", "one");
    const action = await bench.propose(edit("a", "one", "1"));
    renameSync(root, `${root}-away`);
    await heard(deleted("a"));
    expect(await stateOf(action)).toBe("PendingApproval");
    renameSync(`${root}-away`, root);
    await heard(modified("a"));
    expect(await stateOf(action)).toBe("PendingApproval");
  });

  test("if the file changed while the kernel was down, and not if nothing changed", async () => {
    put("a", "one");
    put("b", "one");
    const [changed, same] = [
      await bench.propose(edit("a", "one", "1")),
      await bench.propose(edit("b", "one", "1")),
    ];
    await restart(() => put("a", "else"));
    expect(await stateOf(changed)).toBe("Stale");
    expect(await stateOf(same)).toBe("PendingApproval");
    expect(bench.ends).toMatchObject([{ action: changed.id, state: "Stale" }]);
  });

  test("when the change arrives between its plan and its record", async () => {
    put("a", "one");
    const putObject = bench.objects.put.bind(bench.objects);
    bench.objects.put = async (...parameters: Parameters<typeof putObject>) => {
      // The action is planned, but not in the ledger yet.
      put("a", "else");
      bench.actions.workspaceChanged([modified("a")]);
      return putObject(...parameters);
    };
    const action = await bench.propose(edit("a", "one", "1"));
    await bench.actions.idle();
    expect(await stateOf(action)).toBe("Stale");
  });

  test("either stale or committed when it is approved at the same time; the change is never overwritten", async () => {
    put("a", "one");
    const action = await bench.propose(edit("a", "one", "1"));
    put("a", "else");
    bench.actions.workspaceChanged([modified("a")]);
    const approved = bench.actions.approve(person, action.id, { digest: action.digest }).catch(() => null);
    await Promise.all([approved, bench.actions.idle()]);
    await bench.actions.idle();
    expect(await stateOf(action)).toBe("Stale");
    expect(contentOf("a")).toBe("else");
    expect(bench.ends).toMatchObject([{ action: action.id, state: "Stale" }]);
  });

  test("a burst of 10,000 events with 500 waiting actions reads each changed file once", async () => {
    for (let index = 0; index < 500; index++) put(`f/${index}`, "one");
    for (let index = 0; index < 500; index++) await bench.propose(edit(`f/${index}`, "one", "1"));
    let hashes = 0;
    const { hash } = bench.contents;
    bench.contents.hash = (...parameters: Parameters<typeof hash>) => {
      hashes += 1;
      return hash.apply(bench.contents, parameters);
    };
    put("f/7", "else");
    const burst = Array.from({ length: 10_000 }, (_none, index) =>
      modified(index % 2 === 0 ? "f/7" : `other/${index}`),
    );
    await heard(...burst);
    expect(hashes).toBe(1);
    expect(bench.actions.pendingCount()).toBe(499);
  });
});

describe("superseding", () => {
  test("a newer proposal supersedes an older one of the same agent for the same paths, not one of another agent", async () => {
    put("a", "one");
    const older = await bench.propose(edit("a", "one", "1"));
    const others = await proposeAs({ effects: [edit("a", "one", "2")] }, "dev.test.other");
    const newer = await bench.propose(edit("a", "one", "3"));
    expect(await bench.actions.get(older.id)).toMatchObject({ state: "Stale", superseded_by: newer.id });
    expect(await stateOf(others)).toBe("PendingApproval");
    expect(bench.actions.pendingCount()).toBe(2);
    await bench.actions.idle();
    expect(bench.ends).toMatchObject([{ action: older.id, state: "Stale", superseded_by: newer.id }]);
    expect(await codeOf(bench.actions.approve(person, older.id, { digest: older.digest }))).toBe(
      "IllegalTransition",
    );
    expect(contentOf("a")).toBe("one");
  });

  test('an "always" after the end of its action remembers nothing', async () => {
    put("a", "one");
    const { id, digest } = await bench.propose(edit("a", "one", "1"));
    const late = [
      bench.actions.reject(person, id),
      codeOf(bench.actions.approve(person, id, { digest, remember: "always" })),
    ] as const;
    const [rejected, code] = await Promise.all(late);
    expect([rejected.state, code]).toEqual(["Rejected", "IllegalTransition"]);
    expect(bench.remembered).toEqual([]);
  });

  test('an "always" that cannot be remembered leaves the action waiting', async () => {
    put("a", "one");
    const { id, digest } = await bench.propose(edit("a", "one", "1"));
    bench.failsToRemember = true;
    await expect(bench.actions.approve(person, id, { digest, remember: "always" })).rejects.toThrow(
      "no space",
    );
    expect(await bench.actions.get(id)).toMatchObject({ state: "PendingApproval", digest });
    expect([contentOf("a"), bench.actions.pendingCount()]).toEqual(["one", 1]);
    bench.failsToRemember = false;
    await bench.actions.approve(person, id, { digest, remember: "always" });
    expect([contentOf("a"), bench.remembered.length]).toEqual(["1", 1]);
  });

  test("two tags of one file are different targets", async () => {
    put("a", "one");
    bench.settings.rules = [{ decide: "ask" }];
    const one = await bench.propose({ kind: "tag.add", path: "a", tag: "#one" });
    await bench.propose({ kind: "tag.add", path: "a", tag: "#two" });
    expect(await stateOf(one)).toBe("PendingApproval");
  });

  test("by id: the agent's own waiting or stale action; another agent's is not found, an ended one refused", async () => {
    put("a", "one");
    put("b", "one");
    const waiting = await bench.propose(edit("a", "one", "1"));
    const newer = await proposeAs({ effects: [edit("b", "one", "1")], supersedes: waiting.id });
    expect(newer.supersedes).toBe(waiting.id);
    expect(await bench.actions.get(waiting.id)).toMatchObject({ state: "Stale", superseded_by: newer.id });
    const effects = [edit("a", "one", "2")];
    expect(await codeOf(proposeAs({ effects, supersedes: newer.id }, "dev.test.other"))).toBe("NotFound");
    expect(await codeOf(proposeAs({ effects, supersedes: waiting.id }))).toBe("IllegalTransition");
    await bench.actions.reject(person, newer.id);
    expect(await codeOf(proposeAs({ effects, supersedes: newer.id }))).toBe("IllegalTransition");
    expect(bench.actions.pendingCount()).toBe(0);
  });

  test("a proposal that policy refuses supersedes nothing", async () => {
    put("a", "one");
    const older = await bench.propose(edit("a", "one", "1"));
    bench.settings.rules = [{ decide: "deny", path: "a" }];
    expect((await bench.propose(edit("a", "one", "2"))).state).toBe("Rejected");
    expect(await stateOf(older)).toBe("PendingApproval");
  });

  test("an approval and a newer proposal at the same time: one wins, and nothing is applied unapproved", async () => {
    for (let times = 0; times < 10; times++) {
      put("a", "one");
      const older = await bench.propose(write("a", "older"));
      const [, newer] = await Promise.all([
        bench.actions.approve(person, older.id, { digest: older.digest }).catch(() => null),
        bench.propose(write("a", "newer")),
      ]);
      const state = await stateOf(older);
      expect(contentOf("a")).toBe(state === "Committed" ? "older" : "one");
      expect(["Committed", "Stale"]).toContain(state);
      expect(["PendingApproval", "Stale"]).toContain(await stateOf(newer));
      await bench.actions.reject(person, newer.id).catch(() => null);
    }
  });
});

describe("the key of a proposal", () => {
  test("returns the same action for concurrent and later calls, after its end and after a restart", async () => {
    put("a", "one");
    const request = { effects: [edit("a", "one", "1")], key: "note a" };
    const [one, two] = await Promise.all([proposeAs(request), proposeAs(request)]);
    expect(two.id).toBe(one.id);
    expect(one.key).toBe("note a");
    await bench.actions.reject(person, one.id);
    await restart();
    expect(await proposeAs({ ...request, effects: [write("b", "")] })).toMatchObject({
      id: one.id,
      state: "Rejected",
    });
    expect((await proposeAs(request, "dev.test.other")).id).not.toBe(one.id);
    expect(await bench.actions.list({})).toHaveLength(2);
  });
});

describe("the end of an action is delivered to its agent", () => {
  test("once: committed, undone, rejected with the reason, expired", async () => {
    put("a", "one");
    const undone = await bench.perform(edit("a", "one", "1"));
    await bench.actions.undo(person, undone.id);
    const rejected = await bench.propose(write("b", ""));
    await bench.actions.reject(person, rejected.id, "Not in my notes");
    const expired = await bench.propose(write("c", ""));
    bench.clock.advance(bench.settings.expireAfterMs + 1);
    await expect.poll(() => bench.ends.length).toBe(4);
    expect(bench.ends).toEqual([
      { action: undone.id, title: "A test", state: "Committed", paths: ["a"] },
      { action: undone.id, title: "A test", state: "Undone", paths: ["a"] },
      { action: rejected.id, title: "A test", state: "Rejected", paths: ["b"], reason: "Not in my notes" },
      { action: expired.id, title: "A test", state: "Expired", paths: ["c"] },
    ]);
    await restart();
    expect(bench.ends).toEqual([]);
  });

  test("once, even if the kernel died between the end and the delivery", async () => {
    const action = await bench.propose(write("b", ""));
    bench.actions.agentsAreKnown(false);
    await bench.actions.reject(person, action.id, "No");
    expect(bench.ends).toEqual([]);
    await restart();
    expect(bench.ends).toEqual([
      { action: action.id, title: "A test", state: "Rejected", paths: ["b"], reason: "No" },
    ]);
    await restart();
    expect(bench.ends).toEqual([]);
  });

  test("as proposed, if the agent cannot see the files", async () => {
    put("secret/a", "one");
    bench.leftOut.add("secret");
    const action = await bench.propose(write("secret/a", "two"));
    put("secret/a", "changed");
    expect((await bench.actions.approve(person, action.id, { digest: action.digest })).state).toBe("Stale");
    await bench.actions.idle();
    expect(bench.ends).toEqual([
      { action: action.id, title: "A test", state: "Failed", paths: ["secret/a"] },
    ]);
  });
});

describe("rebasing", () => {
  const before = lines("a", "b", "c", "d", "e", "f", "g");
  const goStale = async (now: string, ...effects: EffectInput[]): Promise<Action> => {
    put("note", before);
    const { id } = await bench.propose(...effects);
    put("note", now);
    await heard(modified("note"));
    const stale = await bench.actions.get(id);
    if (stale === null) throw new Error("It is gone.");
    return stale;
  };

  test("merges the change into the new text as a new action, which waits and has a new digest", async () => {
    const stale = await goStale(before.replace("f\n", "F\n"), edit("note", "b\n", "B\n"));
    expect(stale.rebasable).toBe(true);
    const rebased = await bench.actions.rebase(person, stale.id);
    const facts = { state: "PendingApproval", supersedes: stale.id, rebased_by: "user", agent };
    expect(rebased).toMatchObject(facts);
    expect(await bench.actions.get(rebased.id)).toMatchObject(facts);
    expect(rebased.digest).not.toBe(stale.digest);
    expect(await bench.actions.get(stale.id)).toMatchObject({ superseded_by: rebased.id });
    expect((await bench.actions.get(stale.id))?.rebasable).toBe(undefined);
    expect(contentOf("note")).toBe(before.replace("f\n", "F\n"));
    await bench.actions.approve(person, rebased.id, { digest: rebased.digest });
    expect(contentOf("note")).toBe(lines("a", "B", "c", "d", "e", "F", "g"));
  });

  test("waits for a person, even if a rule allows it", async () => {
    const stale = await goStale(before.replace("f\n", "F\n"), edit("note", "b\n", "B\n"));
    bench.settings.rules = [{ decide: "allow" }];
    expect((await bench.actions.rebase(person, stale.id)).state).toBe("PendingApproval");
  });

  test("is refused if policy forbids the result", async () => {
    const stale = await goStale(before.replace("f\n", "F\n"), edit("note", "b\n", "B\n"));
    bench.settings.rules = [{ decide: "deny", path: "note" }];
    expect(await codeOf(bench.actions.rebase(person, stale.id))).toBe("PermissionDenied");
    bench.settings.rules = [];
    bench.authority = { ...everything, effective: { read_entries: true } };
    expect(await codeOf(bench.actions.rebase(person, stale.id))).toBe("PermissionDenied");
  });

  const conflicts: readonly [name: string, now: string][] = [
    ["the same line was changed", before.replace("b\n", "other\n")],
    ["the change was already made", before.replace("b\n", "B\n")],
    ["the file is no longer text", "\0"],
  ];
  test.each(conflicts)("is Stale if %s, and stores nothing", async (_name, now) => {
    const stale = await goStale(now, edit("note", "b\n", "B\n"));
    expect(await codeOf(bench.actions.rebase(person, stale.id))).toBe("Stale");
    expect(await bench.actions.list({})).toHaveLength(1);
    expect((await bench.actions.get(stale.id))?.rebasable).toBe(true);
  });

  test("twice at once makes one new action", async () => {
    const stale = await goStale(before.replace("f\n", "F\n"), edit("note", "b\n", "B\n"));
    const both = await Promise.all([1, 2].map(() => codeOf(bench.actions.rebase(person, stale.id))));
    expect(both.toSorted()).toEqual(["IllegalTransition", "fulfilled"]);
    expect(bench.actions.pendingCount()).toBe(1);
  });

  test("handles a whole text, a move, and an effect on the result of another", async () => {
    put("other", "x");
    const stale = await goStale(
      before.replace("g\n", "G\n"),
      write("note", before.replace("a\n", "A\n")),
      edit("note", "d\n", "D\n"),
      move("other", "moved"),
    );
    const { id, digest } = await bench.actions.rebase(person, stale.id);
    expect((await bench.actions.approve(person, id, { digest })).state).toBe("Committed");
    expect(contentOf("note")).toBe(lines("A", "b", "c", "D", "e", "f", "G"));
    expect(contentOf("moved")).toBe("x");
  });
});

describe("editing before approving", () => {
  test("commits the person's content under a new digest, and hides the content from the agent", async () => {
    put("a", "one");
    const action = await bench.propose(edit("a", "one", "1"), write("b", "two"));
    const committed = await bench.actions.approve(person, action.id, {
      digest: action.digest,
      edits: [{ effect: 0, content: "mine" }],
    });
    expect(committed).toMatchObject({ state: "Committed", edited_by: "user", id: action.id });
    expect(committed.digest).not.toBe(action.digest);
    expect([contentOf("a"), contentOf("b")]).toEqual(["mine", "two"]);
    await bench.actions.idle();
    expect(bench.ends).toEqual([
      { action: action.id, title: "A test", state: "Committed", paths: ["a", "b"] },
    ]);
    await bench.actions.undo(person, action.id);
    expect(contentOf("a")).toBe("one");
  });

  test("with an old digest is refused; of a changed file makes the action Stale and writes nothing", async () => {
    put("a", "one");
    const action = await bench.propose(edit("a", "one", "1"));
    const edits = [{ effect: 0, content: "mine" }];
    const wrong = `sha256:${"1".repeat(64)}` as const;
    expect(await codeOf(bench.actions.approve(person, action.id, { digest: wrong, edits }))).toBe(
      "DigestMismatch",
    );
    put("a", "else");
    expect((await bench.actions.approve(person, action.id, { digest: action.digest, edits })).state).toBe(
      "Stale",
    );
    expect(contentOf("a")).toBe("else");
  });

  test("into something that policy forbids is refused, and the action keeps waiting unchanged", async () => {
    put("a", "one");
    const action = await bench.propose(edit("a", "one", "1"));
    bench.settings.rules = [{ decide: "deny", path: "a" }];
    const edits = [{ effect: 0, content: "mine" }];
    expect(await codeOf(bench.actions.approve(person, action.id, { digest: action.digest, edits }))).toBe(
      "PermissionDenied",
    );
    expect(await bench.actions.get(action.id)).toMatchObject({
      state: "PendingApproval",
      digest: action.digest,
    });
    expect(contentOf("a")).toBe("one");
  });

  test("of an effect without content, of a missing effect, or of one effect twice is refused", async () => {
    put("a", "one");
    const { id, digest } = await bench.propose(move("a", "b"), write("c", ""));
    for (const edits of [
      [{ effect: 0, content: "" }],
      [{ effect: 9, content: "" }],
      [1, 1].map((effect) => ({ effect, content: "" })),
    ])
      expect(await codeOf(bench.actions.approve(person, id, { digest, edits }))).toBe("InvalidParams");
    expect(await stateOf({ id })).toBe("PendingApproval");
  });
});

describe("reading by a commit that policy allowed", () => {
  test("is charged to the agent, except for hidden files", async () => {
    put("a", "one");
    put("secret/a", "one");
    bench.leftOut.add("secret");
    bench.settings.rules = [{ decide: "allow" }];
    const paid: (readonly [path: string, isPaid: boolean])[] = [];
    const budget = { limit: "cpu", allowedMs: 1000, leftMs: () => 1000, charge: () => undefined };
    const { hash } = bench.contents;
    bench.contents.hash = (path, from) => {
      paid.push([path, from === budget]);
      return hash.call(bench.contents, path, from);
    };
    const proposal = { title: "A test", reason: "", effects: [edit("a", "one", "1")] };
    const { action } = await bench.actions.propose(everything, program, proposal, budget);
    expect(action.state).toBe("Committed");
    expect(paid).toEqual([["a", true]]);
    paid.length = 0;
    const { id, digest } = await bench.propose(write("secret/a", "two"));
    await bench.actions.approve(person, id, { digest });
    expect(paid.filter(([, isPaid]) => isPaid)).toEqual([]);
  });
});

describe("work that the kernel does for an agent after it answered the agent's call", () => {
  const { laterCpuMs, laterCpuWindowMs } = actionLimits;
  /** Records the path of each hash that is computed. */
  function hashed(): string[] {
    const paths: string[] = [];
    const { hash } = bench.contents;
    bench.contents.hash = (path, from) => {
      paths.push(path);
      return hash.call(bench.contents, path, from);
    };
    return paths;
  }

  test("comparing a waiting action with a file that keeps changing pauses until time has passed", async () => {
    put("a", "one");
    const action = await bench.propose(edit("a", "one", "1"));
    const looked = hashed();
    bench.workCostMs = laterCpuMs / 4;
    for (let times = 0; times < 100; times++) await heard(modified("a"));
    expect(looked).toHaveLength(4);
    put("a", "else");
    await heard(modified("a"));
    expect(await stateOf(action)).toBe("PendingApproval");
    expect(looked).toHaveLength(4);
    bench.clock.advance(laterCpuWindowMs / 2);
    await bench.actions.idle();
    expect(await stateOf(action)).toBe("Stale");
  });

  test("does not delay work for another agent, nor the comparison by the commit", async () => {
    put("a", "one");
    put("b", "one");
    const spent = await bench.propose(edit("a", "one", "1"));
    const other = await proposeAs({ effects: [edit("b", "one", "1")] }, "dev.test.other");
    bench.workCostMs = laterCpuMs;
    await heard(modified("a"));
    put("a", "else");
    put("b", "else");
    await heard(modified("a"), modified("b"));
    expect(await stateOf(spent)).toBe("PendingApproval");
    expect(await stateOf(other)).toBe("Stale");
    expect((await bench.actions.approve(person, spent.id, { digest: spent.digest })).state).toBe("Stale");
    expect(contentOf("a")).toBe("else");
  });

  test("a person's approval, edit and rebase are charged too, but never refused", async () => {
    for (const path of ["a", "b", "c"]) put(path, lines("one", "two", "three", "four", "five", "six"));
    const [one, two, three] = [
      await bench.propose(edit("a", "one", "1")),
      await bench.propose(edit("b", "one", "1")),
      await bench.propose(edit("c", "one", "1")),
    ];
    put("c", lines("one", "two", "three", "four", "five", "6"));
    await heard(modified("c"));
    bench.workCostMs = laterCpuMs * 10;
    expect((await bench.actions.approve(person, one.id, { digest: one.digest })).state).toBe("Committed");
    expect(await codeOf(bench.preview(write("new", "n")))).toBe("LimitExceeded");
    expect(await codeOf(bench.propose(write("new", "n")))).toBe("LimitExceeded");
    const edits = [{ effect: 0, content: "mine" }];
    expect((await bench.actions.approve(person, two.id, { digest: two.digest, edits })).state).toBe(
      "Committed",
    );
    const merged = await bench.actions.rebase(person, three.id);
    expect(merged.state).toBe("PendingApproval");
    // A debt has an upper limit, so a person's decisions cannot block an agent for long.
    bench.clock.advance(laterCpuWindowMs * 2);
    expect((await bench.propose(write("new", "n"))).state).toBe("PendingApproval");
  });

  test.each(["approval", "rebase"])("a person's %s is charged with its cost", async (decision) => {
    put("a", lines("one", "two", "three", "four", "five", "six"));
    const action = await bench.propose(edit("a", "one", "1"));
    if (decision === "rebase") {
      put("a", lines("one", "two", "three", "four", "five", "6"));
      await heard(modified("a"));
    }
    bench.workCostMs = laterCpuMs;
    if (decision === "rebase") await bench.actions.rebase(person, action.id);
    else await bench.actions.approve(person, action.id, { digest: action.digest });
    expect(await codeOf(bench.propose(write("new", "n")))).toBe("LimitExceeded");
  });

  test("work on hidden files has a fixed cost for the agent", async () => {
    put("secret/a", "one");
    bench.leftOut.add("secret");
    const { id, digest } = await bench.propose(write("secret/a", "two"));
    bench.workCostMs = laterCpuMs * 10;
    expect((await bench.actions.approve(person, id, { digest })).state).toBe("Committed");
    expect((await bench.propose(write("new", "n"))).state).toBe("PendingApproval");
  });
});

test("a proposal whose answer would be too long is refused, and nothing is stored", async () => {
  const effects = Array.from({ length: 1000 }, (_none, index) => ({
    kind: "folder.create" as const,
    path: `${"a".repeat(200)}/${"b".repeat(200)}/${index}`,
  }));
  expect(await codeOf(bench.propose(...effects))).toBe("LimitExceeded");
  expect(await bench.actions.list({})).toEqual([]);
});

describe("a move of a folder is rebased", () => {
  beforeEach(() => {
    put("photos/a", "one");
    put("photos/b", "one");
  });
  /** Makes the waiting move stale by a change that its agent sees. */
  const seenChange = async (): Promise<void> => {
    put("photos/a", "another size");
    await heard(modified("photos/a"));
  };

  test("if its agent sees all past and present members", async () => {
    const { id } = await bench.propose(move("photos", "album"));
    await seenChange();
    expect(await bench.actions.get(id)).toMatchObject({ state: "Stale", rebasable: true });
    const rebased = await bench.actions.rebase(person, id);
    expect(rebased).toMatchObject({ state: "PendingApproval", supersedes: id });
    await bench.actions.approve(person, rebased.id, { digest: rebased.digest });
    await bench.actions.idle();
    expect(contentOf("album/a")).toBe("another size");
    expect(bench.ends).toEqual([
      { action: id, title: "A test", state: "Failed", paths: ["photos", "album"] },
      { action: rebased.id, title: "A test", state: "Committed", paths: ["photos", "album"] },
    ]);
  });

  test("not if a member was hidden when it was proposed", async () => {
    bench.leftOut.add("hidden");
    put("photos/hidden", "h");
    const { id } = await bench.propose(move("photos", "album"));
    await seenChange();
    const shown = await bench.actions.get(id);
    expect(shown).toMatchObject({ state: "Stale" });
    expect(shown).not.toHaveProperty("rebasable");
    expect(await codeOf(bench.actions.rebase(person, id))).toBe("Stale");
  });

  test("not if a member is hidden now, and the agent does not learn that", async () => {
    bench.leftOut.add("hidden");
    const { id } = await bench.propose(move("photos", "album"));
    await seenChange();
    const proposed = await bench.actions.proposed(id);
    const before = await bench.actions.answerTo(everything, proposed!);
    put("photos/deep/hidden", "h");
    await expect(bench.actions.rebase(person, id)).rejects.toThrow(/cannot see/);
    const after = await bench.actions.proposed(id);
    expect(await bench.actions.answerTo(everything, after!)).toEqual(before);
    expect(bench.ends).toHaveLength(1);
  });

  test("not if only hidden files have changed", async () => {
    bench.leftOut.add("hidden");
    const { id, digest } = await bench.propose(move("photos", "album"));
    put("photos/hidden", "h");
    expect((await bench.actions.approve(person, id, { digest })).state).toBe("Stale");
    rmSync(join(root, "photos/hidden"));
    await expect(bench.actions.rebase(person, id)).rejects.toThrow(/its agent can see/);
  });
});

test("other work gets its turns while an agent receives an action with many effects", async () => {
  const effects = Array.from({ length: 400 }, (_, index) => write(`new-${index}`, ""));
  const waiting = await bench.propose(...effects);
  const proposed = await bench.actions.proposed(waiting.id);
  const told: Record<string, () => Promise<unknown>> = {
    "an answer": () => bench.actions.answerTo(everything, proposed!),
    "an end": async () => {
      await bench.actions.reject(person, waiting.id);
      await bench.actions.idle();
    },
  };
  bench.hidesMs = 1;
  for (const [what, tell] of Object.entries(told)) {
    let longestMs = 0;
    let lastMs = bench.clock.monotonic();
    const measure = (): void => {
      longestMs = Math.max(longestMs, bench.clock.monotonic() - lastMs);
      lastMs = bench.clock.monotonic();
    };
    const begunMs = lastMs;
    await countTurns(tell, measure);
    measure();
    expect(lastMs - begunMs, what).toBeGreaterThanOrEqual(effects.length);
    // The clock does not run by itself: all of this time was spent on looking at paths.
    expect(longestMs, what).toBeLessThanOrEqual(3 * actionLimits.planSliceMs);
  }
  expect(bench.ends).toMatchObject([{ action: waiting.id, state: "Rejected" }]);
});
