import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sha256 } from "../../platform/files/hash.ts";
import { openBench, person } from "../testing/bench.ts";

const MiB = 1_048_576;

test("the oldest ended actions of an agent lose their contents and cannot be undone", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "lares-retention-")));
  const root = join(folder, "root");
  const state = join(folder, "state");
  mkdirSync(root);
  mkdirSync(state);
  const open = { roots: [{ name: "root", path: root }], state };
  let bench = await openBench(open);
  const keptBytes = async (): Promise<number> => {
    const sum = "SELECT sum(bytes) AS bytes FROM action_objects";
    const [row] = await bench.database.query<{ bytes: number }>(sum);
    return row?.bytes ?? 0;
  };
  const large = (at: number): string => String(at).padEnd(MiB - 2, "x");
  try {
    writeFileSync(join(root, "a.txt"), "a");
    const ids: string[] = [];
    // Each keeps its own value and the previous one.
    for (let at = 0; at < 150; at++) {
      const effect = { kind: "sidecar.write", path: "a.txt", sidecar: "notes", data: large(at) } as const;
      ids.push((await bench.propose(effect)).id);
    }
    await bench.actions[Symbol.asyncDispose]();
    expect(await keptBytes()).toBeLessThanOrEqual((256 + 16 + 2) * MiB);
    await bench[Symbol.asyncDispose]();
    bench = await openBench({ ...open, clock: bench.clock });
    await bench.actions.recover();
    expect(await keptBytes()).toBeLessThanOrEqual(256 * MiB);
    const [oldest = "", newest = ""] = [ids[0], ids.at(-1)];
    expect(await bench.actions.get(oldest)).toMatchObject({ state: "Committed", title: "A test" });
    await expect(bench.actions.undo(person, oldest)).rejects.toMatchObject({
      code: "NotFound",
      message: expect.stringContaining("no longer stored") as string,
    });
    await expect(bench.actions.content(oldest, 0, "after")).rejects.toMatchObject({ code: "NotFound" });
    expect(await bench.objects.has(sha256(JSON.stringify(large(0))))).toBe(false);
    await bench.actions.undo(person, newest);
    expect(Object.values(bench.metadata.all())).toEqual([large(148)]);
  } finally {
    await bench[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }
});
