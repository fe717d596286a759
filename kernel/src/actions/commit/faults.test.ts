import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failpointNames, type FailpointName } from "../../platform/failpoints.ts";
import { sha256Hex } from "../../platform/files/hash.ts";
import { diesAt } from "../../platform/testing/dying-process.ts";
import { folderSnapshot } from "../../platform/testing/folder-snapshot.ts";
import { openBench, type Bench, person } from "../testing/bench.ts";
import { faultEffects } from "../testing/fault-effects.ts";

/*
 * Kills the kernel at every failpoint of a commit and of an undo, each time it is passed, and again during the
 * recovery. Whenever that happens, after the next start the workspace is entirely before or entirely after the change,
 * the ledger agrees, and no temporary files remain.
 */

const child = fileURLToPath(new URL("../testing/fault-child.ts", import.meta.url));
const namesOf = (...rooms: string[]): FailpointName[] =>
  failpointNames.filter((name) => rooms.some((room) => name.startsWith(room)));

let folder: string;
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "lares-faults-")));
  // A run without a kill fills the compile cache for the many that are killed.
  const place = freshPlace("undisturbed");
  expect(await runChild(place, "none", "commit")).toBe(false);
  expect(contents(folderSnapshot(place.root))).toEqual(after);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Place {
  readonly root: string;
  readonly state: string;
}

function freshPlace(name: string): Place {
  const place = { root: join(folder, name, "root"), state: join(folder, name, "state") };
  rmSync(join(folder, name), { recursive: true, force: true });
  mkdirSync(join(place.root, "folder/deep"), { recursive: true });
  mkdirSync(place.state);
  const files = {
    "edited.txt": "old",
    "removed.txt": "removed",
    "moved.txt": "moved",
    "folder/deep/inner.txt": "inner",
  };
  for (const [path, content] of Object.entries(files)) {
    writeFileSync(join(place.root, path), content);
    chmodSync(join(place.root, path), 0o640);
    utimesSync(join(place.root, path), 1_600_000_000.25, 1_600_000_000.25);
  }
  return place;
}

const openAt = ({ root, state }: Place): Promise<Bench> =>
  openBench({ roots: [{ name: "root", path: root }], state });

const runChild = ({ root, state }: Place, failpoint: string, ...task: string[]): Promise<boolean> =>
  diesAt(failpoint, [child, root, state, ...task], join(folder, "compiled"));

const contents = (snapshot: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(snapshot).map(([path, value]) => [path, value.replace(/^(\d+) [\d.]+ /, "$1 ")]),
  );

const before = {
  "edited.txt": "640 1600000000250 old",
  folder: "folder",
  "folder/deep": "folder",
  "folder/deep/inner.txt": "640 1600000000250 inner",
  "moved.txt": "640 1600000000250 moved",
  "removed.txt": "640 1600000000250 removed",
};
const after = {
  "edited.txt": "640 new",
  new: "folder",
  "new/made.txt": "644 made",
  "new/moved.txt": "640 moved",
  renamed: "folder",
  "renamed/deep": "folder",
  "renamed/deep/inner.txt": "640 inner",
};

/** Starts again and checks that the result is one of the two allowed ones. */
async function checkWhole(place: Place): Promise<string> {
  await using bench = await openAt(place);
  await bench.actions.recover();
  const [action] = await bench.actions.list({});
  const found = folderSnapshot(place.root);
  const committed = action?.state === "Committed";
  if (committed) expect(contents(found)).toEqual(after);
  else expect(found).toEqual(before);
  expect(bench.metadata.current("edited.txt")?.tags ?? []).toEqual(committed ? ["#edited"] : []);
  expect(["Committed", "Failed", "PendingApproval", "Undone", undefined]).toContain(action?.state);
  expect(await bench.database.query("SELECT * FROM action_journal")).toEqual([]);
  checkObjects(place);
  // The action can continue from there.
  if (action?.state === "PendingApproval") {
    expect((await bench.actions.approve(person, action.id, { digest: action.digest })).state).toBe(
      "Committed",
    );
    expect(contents(folderSnapshot(place.root))).toEqual(after);
  }
  if (action?.state === "Committed") {
    await bench.actions.undo(person, action.id);
    expect(folderSnapshot(place.root)).toEqual(before);
  }
  return action?.state ?? "not proposed";
}

function checkObjects({ state }: Place): void {
  const objects = join(state, "objects");
  for (const shelf of readdirSync(objects)) {
    expect(shelf).toMatch(/^[0-9a-f]{2}$/);
    for (const rest of readdirSync(join(objects, shelf))) {
      expect(sha256Hex(readFileSync(join(objects, shelf, rest)))).toBe(shelf + rest);
    }
  }
}

/** Kills the process the first, the second, … time it passes the failpoint, until it is passed no more. */
async function visit(
  name: FailpointName,
  prepare: (place: string) => Promise<Place>,
  ...task: string[]
): Promise<string[]> {
  const ends: string[] = [];
  for (let time = 1; time < 100; time++) {
    const place = await prepare(`${task[0]}-${name}`);
    if (!(await runChild(place, `${name}@${time}`, ...task))) return ends;
    ends.push(await checkWhole(place));
  }
  throw new Error(`${name} is passed without end.`);
}

describe.concurrent("killed during a commit", () => {
  const moments = namesOf("actions.", "objects.put.", "database.group.").filter(
    (name) => !name.endsWith("-revert"),
  );
  test.each(moments)("at %s", async (name) => {
    const ends = await visit(name, async (place) => freshPlace(place), "commit");
    expect(ends.length).toBeGreaterThan(0);
    if (name === "actions.after-step") expect(new Set(ends)).toEqual(new Set(["Failed"]));
    if (name === "actions.after-record") expect(ends).toEqual(["Committed"]);
  });
});

describe("killed during an undo", () => {
  let template: Place;
  let id: string;
  beforeAll(async () => {
    template = freshPlace("template");
    await using bench = await openAt(template);
    ({ id } = await bench.perform(...faultEffects));
  });

  // The state after one step is the state before the next, so the other half of the failpoints would repeat the same
  // moments.
  const moments = namesOf("actions.before-", "actions.within-", "actions.after-record").filter(
    (name) => name !== "actions.before-revert",
  );
  test.concurrent.each(moments)("at %s", async (name) => {
    const prepare = async (place: string): Promise<Place> => {
      rmSync(join(folder, place), { recursive: true, force: true });
      cpSync(join(folder, "template"), join(folder, place), { recursive: true, preserveTimestamps: true });
      return { root: join(folder, place, "root"), state: join(folder, place, "state") };
    };
    const ends = await visit(name, prepare, "undo", id);
    for (const end of ends) expect(["Committed", "Undone"]).toContain(end);
    expect(ends.length).toBeGreaterThan(0);
    if (name === "actions.after-record") expect(ends).toEqual(["Undone"]);
  });
});

describe.concurrent("killed during the recovery from a kill", () => {
  const points = ["actions.before-revert", "actions.within-step", "actions.before-discard"] as const;
  test.each(points)("at %s", async (name) => {
    const interrupted = async (name: string): Promise<Place> => {
      const place = freshPlace(name);
      expect(await runChild(place, "actions.before-record", "commit")).toBe(true);
      return place;
    };
    const ends = await visit(name, interrupted, "recover");
    expect(ends.length).toBeGreaterThan(0);
    expect(new Set(ends)).toEqual(new Set(["Failed"]));
  });
});
