import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect } from "vitest";
import { openBench, type Bench, person } from "../../kernel/src/actions/testing/bench.ts";
import { isLaresError } from "../../kernel/src/base/errors.ts";
import { ManualClock } from "../../kernel/src/base/testing/manual-clock.ts";
import type { Action, EffectInput } from "../../kernel/src/base/vocabulary/action.ts";
import { failpointNames } from "../../kernel/src/platform/failpoints.ts";
import { diesAt } from "../../kernel/src/platform/testing/dying-process.ts";
import { folderSnapshot } from "../../kernel/src/platform/testing/folder-snapshot.ts";
import { fuzz } from "./support/campaign.ts";

const target = "actions";
let folder = "";
let runs = 0;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "lares-fuzz-actions-")));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Place {
  readonly root: string;
  readonly state: string;
}

function freshPlace(): Place {
  const place = { root: join(folder, `${runs}/root`), state: join(folder, `${runs++}/state`) };
  mkdirSync(join(place.root, "d"), { recursive: true });
  mkdirSync(place.state, { recursive: true });
  for (const [path, text] of Object.entries({ a: "one two", "d/b": "old", c: "" }))
    writeFileSync(join(place.root, path), text);
  return place;
}
const openAt = ({ root, state }: Place, clock: ManualClock): Promise<Bench> =>
  openBench({ roots: [{ name: "root", path: root }], state, clock });

const path = fc.constantFrom("a", "b", "c", "d/a", "d/b", "n/m/x");
const effect: fc.Arbitrary<EffectInput> = fc.oneof(
  fc.record({
    kind: fc.constant("file.write" as const),
    path,
    content: fc.constantFrom("", "x", "old", "one two", "é\n"),
  }),
  fc.record({
    kind: fc.constant("file.edit" as const),
    path,
    edits: fc.constantFrom<{ find: string; replace: string; all?: boolean }[]>(
      [{ find: "o", replace: "0", all: true }],
      [{ find: "old", replace: "new" }],
    ),
  }),
  fc.record({ kind: fc.constant("file.delete" as const), path }),
  fc.record({
    kind: fc.constant("file.move" as const),
    from: fc.oneof(path, fc.constant("d")),
    to: fc.oneof(path, fc.constant("e")),
  }),
  fc.record({ kind: fc.constant("folder.create" as const), path: fc.constantFrom("n", "e", "d") }),
  fc.record({ kind: fc.constant("tag.add" as const), path, tag: fc.constantFrom("#one", "#two") }),
);

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("propose" as const),
      effects: fc.array(effect, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("approve" as const), which: fc.nat(5), part: fc.nat(15) }),
  },
  fc.record({
    do: fc.constantFrom("reject" as const, "undo" as const, "undo" as const, "wrong-digest" as const),
    which: fc.nat(5),
  }),
  fc.record({ do: fc.constant("drift" as const), path, text: fc.constantFrom("drifted", "old", null) }),
  fc.record({ do: fc.constantFrom("expire" as const, "restart" as const) }),
);

/** Texts and folders, without times: an undo restores a text, and its time if it made the change. */
const textsOf = (root: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(folderSnapshot(root)).map(([name, value]) => [name, value.replace(/^\d+ [\d.]+ /, "")]),
  );

/** The paths that an action touches, and their parents and children. */
const touches = (action: Action, name: string): boolean =>
  action.effects.some((one) =>
    [one.path, one.from].some(
      (at) => at !== undefined && (at === name || name.startsWith(`${at}/`) || at.startsWith(`${name}/`)),
    ),
  );

fuzz({
  target,
  property:
    "propose, approve in part, reject, expire, drift, undo, restart: the files are what the ledger says",
  arbitrary: fc.array(step, { maxLength: 14, size: "max" }),
  runs: 10,
  check: async (steps) => {
    const place = freshPlace();
    const clock = new ManualClock();
    let bench = await openAt(place, clock);
    const known: {
      id: string;
      digest: Action["digest"];
      before: Record<string, string>;
      after?: Record<string, string>;
    }[] = [];
    const refusals: string[] = [];
    const attempt = async <Value>(run: () => Promise<Value>): Promise<Value | null> => {
      try {
        return await run();
      } catch (error) {
        expect(isLaresError(error), String(error)).toBe(true);
        refusals.push(isLaresError(error) ? error.code : "");
        return null;
      }
    };
    for (const one of steps) {
      const before = textsOf(place.root);
      const which = "which" in one ? known[one.which % Math.max(1, known.length)] : undefined;
      const current = which === undefined ? null : await bench.actions.get(which.id);
      if (one.do === "propose") {
        const action = await attempt(() => bench.propose(...one.effects));
        if (action !== null) known.push({ id: action.id, digest: action.digest, before });
        expect(textsOf(place.root), "a proposal changes nothing").toEqual(before);
      } else if (one.do === "drift") {
        const at = join(place.root, one.path);
        if (one.text === null) rmSync(at, { force: true, recursive: true });
        else if (
          statSync(dirname(at), { throwIfNoEntry: false })?.isDirectory() === true &&
          statSync(at, { throwIfNoEntry: false })?.isDirectory() !== true
        )
          writeFileSync(at, one.text);
      } else if (one.do === "expire") {
        await clock.advanceAsync(86_400_001);
        await bench[Symbol.asyncDispose]();
        bench = await openAt(place, clock);
        await bench.actions.recover();
        expect(bench.actions.pendingCount()).toBe(0);
      } else if (one.do === "restart") {
        const states = await bench.actions.list({});
        await bench[Symbol.asyncDispose]();
        bench = await openAt(place, clock);
        await bench.actions.recover();
        expect((await bench.actions.list({})).map(({ id, state }) => [id, state])).toEqual(
          states.map(({ id, state }) => [id, state]),
        );
        expect(textsOf(place.root)).toEqual(before);
      } else if (which !== undefined && current !== null) {
        if (one.do === "wrong-digest") {
          expect(
            await attempt(() =>
              bench.actions.approve(person, which.id, { digest: `sha256:${"0".repeat(64)}` }),
            ),
          ).toBeNull();
          expect(textsOf(place.root)).toEqual(before);
        } else if (one.do === "reject") {
          const rejected = await attempt(() => bench.actions.reject(person, which.id, "no"));
          expect(rejected?.state ?? "Rejected").toBe("Rejected");
          expect(textsOf(place.root)).toEqual(before);
        } else if (one.do === "approve") {
          const part = current.effects
            .map((_, index) => index)
            .filter((index) => (one.part >> index) % 2 === 0);
          const approved = await attempt(() =>
            bench.actions.approve(person, which.id, { digest: which.digest, effects: part }),
          );
          if (approved === null) expect(textsOf(place.root), "refused, so nothing changed").toEqual(before);
          else if (approved.state === "Committed") {
            which.before = before;
            which.after = textsOf(place.root);
            for (const name of new Set([...Object.keys(before), ...Object.keys(which.after)]))
              if (!touches(current, name)) expect([name, which.after[name]]).toEqual([name, before[name]]);
          } else {
            expect(["Stale", "Failed"]).toContain(approved.state);
            expect(textsOf(place.root), `${approved.state}, so nothing changed`).toEqual(before);
          }
          // An action is decided once: a second approval is impossible.
          if (approved !== null)
            expect(
              await attempt(() => bench.actions.approve(person, which.id, { digest: which.digest })),
            ).toBeNull();
        } else {
          const undone = await attempt(() => bench.actions.undo(person, which.id));
          if (undone === null) expect(textsOf(place.root), "not undone, so nothing changed").toEqual(before);
          else {
            expect(current.state).toBe("Committed");
            const now = textsOf(place.root);
            for (const name of new Set([...Object.keys(now), ...Object.keys(which.before)]))
              if (touches(current, name) && before[name] === which.after?.[name] && now[name] !== "folder")
                expect([name, now[name]]).toEqual([name, which.before[name]]);
          }
        }
      }
      expect(await bench.database.query("SELECT * FROM action_journal")).toEqual([]);
      expect(
        Object.keys(textsOf(place.root)).filter((name) => name.includes(".lares-")),
        "left over",
      ).toEqual([]);
    }
    await bench[Symbol.asyncDispose]();
    rmSync(dirname(place.root), { recursive: true });
  },
});

const moments = failpointNames.filter((name) => /^(actions|objects|database)\./.test(name));
const child = join(import.meta.dirname, "support/actions-child.ts");

const runChild = (
  { root, state }: Place,
  failpoint: string,
  task: string,
  effects: readonly EffectInput[],
): Promise<boolean> =>
  diesAt(failpoint, [child, root, state, task, JSON.stringify(effects)], join(folder, "compiled"));

fuzz({
  target,
  property:
    "killed at any moment of any action or undo, and again while it recovers: wholly before or wholly after",
  arbitrary: fc.record({
    effects: fc.array(effect, { minLength: 1, maxLength: 5 }),
    first: fc.record({ at: fc.constantFrom(...moments), time: fc.integer({ min: 1, max: 6 }) }),
    again: fc.record({ at: fc.constantFrom(...moments), time: fc.integer({ min: 1, max: 4 }) }),
    undoes: fc.boolean(),
  }),
  runs: 3,
  check: async ({ effects, first, again, undoes }) => {
    const place = freshPlace();
    const accepted: EffectInput[] = [];
    {
      await using bench = await openAt(place, new ManualClock());
      for (const one of effects)
        if (
          (await bench
            .preview(...accepted, one)
            .catch((error: unknown) => (isLaresError(error) ? null : Promise.reject(error)))) !== null
        )
          accepted.push(one);
    }
    if (accepted.length === 0) return;
    cpSync(dirname(place.root), `${dirname(place.root)}-twin`, { recursive: true, preserveTimestamps: true });
    const twin = {
      root: join(`${dirname(place.root)}-twin`, "root"),
      state: join(`${dirname(place.root)}-twin`, "state"),
    };
    const before = textsOf(place.root);
    await runChild(twin, "none", "perform", accepted);
    const after = textsOf(twin.root);
    if (undoes) {
      expect(await runChild(place, "none", "perform", accepted)).toBe(false);
      expect(textsOf(place.root)).toEqual(after);
    }
    await runChild(place, `${first.at}@${first.time}`, undoes ? "undo" : "perform", accepted);
    await runChild(place, `${again.at}@${again.time}`, "recover", []);
    await using bench = await openAt(place, new ManualClock());
    await bench.actions.recover();
    const [action] = await bench.actions.list({});
    expect(textsOf(place.root)).toEqual(action?.state === "Committed" ? after : before);
    expect(["Committed", "Undone", "Failed", "PendingApproval", undefined]).toContain(action?.state);
    expect(await bench.database.query("SELECT * FROM action_journal")).toEqual([]);
    if (action?.state === "Committed") {
      await bench.actions.undo(person, action.id);
      expect(textsOf(place.root)).toEqual(before);
    }
    expect(readFileSync(join(place.state, "ledger.sqlite")).length).toBeGreaterThan(0);
  },
});
