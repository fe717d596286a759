import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import {
  type DiskError,
  FailingDisk,
  whyNoFailingDisk,
} from "../../../../test/fault/support/failing-disk.ts";
import { TestChild } from "../../platform/testing/child.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { aJournal, anEvent, aPolicy } from "./testing/journals.ts";
import { verifyJournal } from "../../journal/verify.ts";
import { chainStart } from "../../memory-contract/records.ts";
import { exportMemory, type ExportSource } from "./export.ts";
import { describeExport, importMemory } from "./import.ts";
import { memoryRecords } from "../records/kinds.ts";

const why = await whyNoFailingDisk();
const modules = {
  "{ exportMemory }": new URL("./export.ts", import.meta.url),
  "{ importMemory }": new URL("./import.ts", import.meta.url),
};
const records = [anEvent(1), aPolicy, anEvent(2), anEvent(3), anEvent(4)];
const errors: readonly DiskError[] = ["ENOSPC", "EIO", "EDQUOT", "EROFS"];
const clock = { now: () => 0 };
/** More calls than either operation makes: the last ones do not fail, which shows the test that it saw all of them. */
const maxCalls = 60;

const isFull = (fault: DiskError): boolean => fault === "ENOSPC" || fault === "EDQUOT";
const advice = /^LaresError StorageError .*(space|quota|writable|system's log)/;

/** Runs `source` in a process whose disk may fail; returns its one line. */
async function onDisk(disk: FailingDisk, source: string): Promise<string> {
  for (const [name, value] of Object.entries(disk.environment)) vi.stubEnv(name, value);
  const child = new TestChild(
    `try { await ${source}; say("done"); } catch (error) { say(error.name + " " + error.code + " " + error.message); }`,
    { modules },
  );
  vi.unstubAllEnvs();
  expect(await child.ended()).toBe("exit 0");
  return child.lines.at(-1) ?? "";
}

/**
 * Runs once for each call that changes something beneath `out-n/`, which fails from there on. Returns how often it was
 * refused.
 */
async function atEachCall(
  folder: string,
  error: DiskError,
  sourceIn: (out: string) => string,
  check: (out: string, said: string) => Promise<void>,
): Promise<number> {
  const disk = await FailingDisk.in(folder);
  let refusals = 0;
  for (let from = 1; from <= maxCalls; from++) {
    const out = join(folder, `out-${from}`);
    await mkdir(join(out, "memory"), { recursive: true });
    await disk.fail({ error, path: `out-${from}/`, operations: "*", from });
    const said = await onDisk(disk, sourceIn(out));
    const struck = await disk.struck();
    await disk.mend();
    await check(out, said);
    if (struck.length === 0) {
      expect(said).toBe("done");
      return refusals;
    }
    if (said !== "done") refusals += 1;
  }
  throw new Error(`More than ${maxCalls} calls.`);
}

async function aSource(folder: string): Promise<ExportSource> {
  const end = await aJournal(join(folder, "journal"), records);
  return { name: "extension/a.b", journalFolder: join(folder, "journal"), end };
}

test.skipIf(why !== null).each(errors)(
  "%s at each call of an export: StorageError with what to do; a full disk keeps nothing of it",
  async (fault) => {
    const folder = await temporaryFolder();
    const source = await aSource(folder);
    const refusals = await atEachCall(
      folder,
      fault,
      (out) =>
        `exportMemory(${JSON.stringify(source)}, { path: ${JSON.stringify(join(out, "file"))}, overwrite: false, clock: { now: () => 0 } })`,
      async (out, said) => {
        const left = (await readdir(out)).filter((name) => name !== "memory");
        if (left.includes("file")) {
          expect(await describeExport(join(out, "file"))).toMatchObject({ head: source.end.hash });
        } else {
          expect(said).toMatch(advice);
          if (isFull(fault)) expect(left).toEqual([]);
          // If nothing can be removed either, what remains is hidden and not an export.
          else for (const name of left) expect(name).toMatch(/^\.lares-export\./);
        }
      },
    );
    expect(refusals).toBeGreaterThanOrEqual(3);
  },
);

test.skipIf(why !== null).each(errors)(
  "%s at each call of an import: StorageError with what to do; the memory is empty or complete",
  async (fault) => {
    const folder = await temporaryFolder();
    const source = await aSource(folder);
    const path = join(folder, "file");
    await exportMemory(source, { path, overwrite: false, clock });
    const refusals = await atEachCall(
      folder,
      fault,
      (out) =>
        `importMemory(${JSON.stringify(path)}, { memoryFolder: ${JSON.stringify(join(out, "memory"))}, anchor: undefined, maxBytes: 1e9, storeAnchor: async () => undefined })`,
      async (out, said) => {
        const memoryFolder = join(out, "memory");
        const found = await verifyJournal(join(memoryFolder, "journal"), chainStart, memoryRecords);
        expect(found).toMatchObject({ ok: true });
        if (said === "done") expect(found.records).toBe(5);
        else expect(said).toMatch(advice);
        if (found.records === 0) {
          if (isFull(fault)) expect(await readdir(memoryFolder).catch(() => [])).toEqual([]);
          await importMemory(path, {
            memoryFolder,
            anchor: undefined,
            maxBytes: 1e9,
            storeAnchor: async () => undefined,
          });
        }
        const end = source.end;
        expect(await verifyJournal(join(memoryFolder, "journal"), end, memoryRecords)).toMatchObject({
          ok: true,
          records: 5,
        });
      },
    );
    expect(refusals).toBeGreaterThanOrEqual(3);
  },
);
