import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type CpuBudget, unlimitedCpu } from "../../base/cpu-budget.ts";
import { sha256 } from "../../platform/files/hash.ts";
import { openRootedFs } from "../../platform/files/rooted-fs.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import { openContentWork } from "./content-work.ts";
import { actionLimits } from "../limits.ts";
import type { ContentWork } from "../ports.ts";

async function opened(): Promise<{ root: string; work: ContentWork }> {
  const root = await temporaryFolder();
  const work = openContentWork(new WorkspaceFiles([{ name: "root", files: await openRootedFs(root) }]));
  onTestFinished(() => work[Symbol.asyncDispose]());
  return { root, work };
}

const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

test("a thread reads, edits, compares, hashes and lists files of the workspace, and follows no link", async () => {
  const { root, work } = await opened();
  mkdirSync(join(root, "folder"));
  writeFileSync(join(root, "folder/a.txt"), "one\ntwo\n");
  symlinkSync(join(root, "folder"), join(root, "link"));
  const edits = [{ find: "two", replace: "three" }];
  const changed = await work.change(
    { path: "a.txt", old: { path: "folder/a.txt" }, made: { from: "edits", edits }, wantsDiff: true },
    unlimitedCpu,
  );
  expect(text(changed.made?.bytes)).toBe("one\nthree\n");
  expect(changed.diff).toContain("-two\n+three\n");
  expect([changed.before, changed.made?.hash]).toEqual([sha256("one\ntwo\n"), sha256("one\nthree\n")]);
  expect(await work.hash("folder/a.txt", unlimitedCpu)).toBe(changed.before);
  expect(await work.hash("folder/missing", unlimitedCpu)).toBe(null);
  expect(await work.list("folder", null, unlimitedCpu)).toMatchObject({ members: ["a.txt"], files: 1 });
  await expect(work.hash("link/a.txt", unlimitedCpu)).rejects.toMatchObject({ code: "ScopeViolation" });
});

test("a file that is hashed in several pieces has the hash of the whole", async () => {
  const { root, work } = await opened();
  const size = actionLimits.hashedPerRequestBytes * 2 + 1;
  writeFileSync(join(root, "large"), "");
  truncateSync(join(root, "large"), size);
  expect(await work.hash("large", unlimitedCpu)).toBe(sha256(new Uint8Array(size)));
});

test("edits that exceed the agent's CPU time are ended at its expense; the next request is answered", async () => {
  const { root, work } = await opened();
  writeFileSync(join(root, "a.txt"), "a");
  expect(await work.hash("a.txt", unlimitedCpu)).toBe(sha256("a"));
  let leftMs = 50;
  const budget: CpuBudget = {
    limit: "max_cpu_ms_per_event",
    allowedMs: 50,
    leftMs: () => leftMs,
    charge: (ms) => (leftMs -= ms),
  };
  const edits = Array.from({ length: 1000 }, () => ({ find: "a", replace: "aa", all: true }));
  const change = { path: "a.txt", old: { path: "a.txt" }, wantsDiff: true } as const;
  await expect(work.change({ ...change, made: { from: "edits", edits } }, budget)).rejects.toMatchObject({
    code: "LimitExceeded",
    facts: { limit: "max_cpu_ms_per_event", value: 50 },
  });
  expect(leftMs).toBeLessThanOrEqual(0);
  expect(await work.hash("a.txt", unlimitedCpu)).toBe(sha256("a"));
});
