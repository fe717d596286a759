import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { CpuBudget } from "../../base/cpu-budget.ts";
import { limitExceeded } from "../../base/errors.ts";
import { Slices } from "../../base/slices.ts";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import type { EffectInput } from "../../base/vocabulary/action.ts";
import { openRootedFs } from "../../platform/files/rooted-fs.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import { ContentTasks } from "../contents/content-tasks.ts";
import { ContentQueue } from "../contents/content-work.ts";
import type { Plan } from "../plan.ts";
import { planEffects } from "./planner.ts";
import { everything, TestMetadata } from "../testing/bench.ts";

const allowedMs = 300;
const dearMs = 1000;

/** Plans in a workspace that excludes "hidden"; looking at the contents costs more than the agent may use. */
async function planned(
  make: (root: string) => void,
  ...effects: EffectInput[]
): Promise<{ plan: Plan; leftMs: number }> {
  const root = await temporaryFolder();
  mkdirSync(join(root, "folder"));
  make(root);
  const rooted = await openRootedFs(root);
  onTestFinished(() => rooted[Symbol.dispose]());
  const files = new WorkspaceFiles([{ name: "root", files: rooted }]);
  const tasks = new ContentTasks(files);
  const contents = new ContentQueue({
    run: async (request, budget) => {
      const isDear = request.do === "list" || (request.do === "change" && request.old !== null);
      const leftMs = budget.leftMs();
      budget.charge(isDear ? dearMs : 1);
      if (isDear && leftMs < dearMs) throw limitExceeded(budget.limit, budget.allowedMs, "Too dear.");
      return tasks.run(request);
    },
    [Symbol.asyncDispose]: async () => undefined,
  });
  const hides = (path: string): boolean => path.split("/").includes("hidden");
  const index = {
    lists: (path: string) => !hides(path),
    hides,
    isRules: () => false,
    showsBeneath: async () => true,
  };
  let leftMs = allowedMs;
  const budget: CpuBudget = {
    limit: "max_cpu_ms_per_event",
    allowedMs,
    leftMs: () => leftMs,
    charge: (ms) => (leftMs -= ms),
  };
  const ports = { files, contents, metadata: new TestMetadata(), copies: () => [], index };
  const plan = await planEffects(ports, everything, effects, {
    budget,
    slices: new Slices(new ManualClock(), 5),
  });
  return { plan, leftMs };
}

const write = (path: string): EffectInput => ({ kind: "file.write", path, content: "new\n" });

test("the cost of an agent's plan does not depend on hidden files", async () => {
  const kinds: readonly ((root: string) => void)[] = [
    () => undefined,
    (root) => writeFileSync(join(root, "hidden"), "old\n"),
    (root) => mkdirSync(join(root, "hidden")),
    (root) => writeFileSync(join(root, "folder/hidden"), "old\n"),
  ];
  const left: number[] = [];
  for (const make of kinds) {
    const { leftMs } = await planned(make, write("hidden"), {
      kind: "file.move",
      from: "folder",
      to: "moved",
    });
    left.push(leftMs);
  }
  expect(new Set(left).size).toBe(1);
  expect(left[0]).toBeLessThan(allowedMs);
});

test("planning of visible files is charged to the agent", async () => {
  const make = (root: string): void => writeFileSync(join(root, "seen"), "old\n");
  await expect(planned(make, write("seen"))).rejects.toMatchObject({
    code: "LimitExceeded",
    facts: { limit: "max_cpu_ms_per_event" },
  });
});

test("a plan has one allowance for hidden files: diffs are left out first, then the person sees which were not compared", async () => {
  const names = ["a", "b", "c", "d", "e", "f"];
  const { plan } = await planned(
    (root) => {
      mkdirSync(join(root, "hidden"));
      for (const name of names) writeFileSync(join(root, "hidden", name), "old\n");
    },
    ...names.map((name) => write(`hidden/${name}`)),
  );
  const shown = plan.effects.map(({ effect }) => [
    effect.diff !== undefined,
    effect.before !== null,
    effect.summary.includes("This cannot be applied: Too dear."),
  ]);
  const [compared, bare, refused] = [
    [true, true, false],
    [false, true, false],
    [false, false, true],
  ];
  expect(shown).toEqual([compared, compared, compared, bare, bare, refused]);
});

test.each(["\u202egnp.md", "a\u200bb.md", "folder/\u009b2J.md", "a\u2028b"])(
  "a new name that would look like another is refused before anybody is asked: %j",
  async (path) => {
    const refused = /invisible, or that reorder/;
    const old = (root: string): void => writeFileSync(join(root, "old.md"), "old");
    await expect(planned(old, { kind: "file.write", path, content: "x" })).rejects.toThrow(refused);
    await expect(planned(old, { kind: "file.move", from: "old.md", to: path })).rejects.toThrow(refused);
    await expect(planned(old, { kind: "folder.create", path })).rejects.toThrow(refused);
  },
);

test("a file that has such a name already can be moved to a better one", async () => {
  const { plan } = await planned((root) => writeFileSync(join(root, "\u202egnp.md"), "old"), {
    kind: "file.move",
    from: "\u202egnp.md",
    to: "good.md",
  });
  expect(plan.effects).toHaveLength(1);
});
