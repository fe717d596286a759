import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { failpointNames } from "../../platform/failpoints.ts";
import { TestChild } from "../../platform/testing/child.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { verifyJournal } from "../../journal/verify.ts";
import { chainStart } from "../../memory-contract/records.ts";
import { exportMemory } from "./export.ts";
import { describeExport, importMemory } from "./import.ts";
import { aJournal, anEvent, aPolicy } from "./testing/journals.ts";
import { memoryRecords } from "../records/kinds.ts";

const modules = {
  "{ exportMemory }": new URL("./export.ts", import.meta.url),
  "{ importMemory }": new URL("./import.ts", import.meta.url),
};
const records = [anEvent(1), aPolicy, anEvent(2), anEvent(3), anEvent(4)];
const pointsOf = (...rooms: readonly string[]) =>
  failpointNames.filter((name) => rooms.some((room) => name.startsWith(room)));

test.each(pointsOf("chosen-file."))(
  "dying at %s of an export: the file is complete or absent",
  async (name) => {
    const folder = await temporaryFolder();
    const end = await aJournal(join(folder, "journal"), records);
    const path = join(folder, "out");
    const source = { name: "extension/a.b", journalFolder: join(folder, "journal"), end };
    const child = new TestChild(
      `await exportMemory(${JSON.stringify(source)}, { path: ${JSON.stringify(path)}, overwrite: false, clock: { now: () => 0 } });`,
      { modules, failpoint: name },
    );
    expect(await child.ended()).toBe("SIGKILL");
    if ((await readdir(folder)).includes("out"))
      expect(await describeExport(path)).toMatchObject({ records: 5, head: end.hash });
    else await exportMemory(source, { path, overwrite: false, clock: { now: () => 0 } });
  },
);

test.each(pointsOf("import.", "folder.place."))(
  "dying at %s of an import: the memory is empty or complete, and if it is empty the import can be repeated",
  async (name) => {
    const folder = await temporaryFolder();
    const end = await aJournal(join(folder, "journal"), records);
    const path = join(folder, "out");
    const source = { name: "extension/a.b", journalFolder: join(folder, "journal"), end };
    await exportMemory(source, { path, overwrite: false, clock: { now: () => 0 } });
    const memoryFolder = join(folder, "memory");
    // The memory was opened before, and never written to.
    await aJournal(join(memoryFolder, "journal"), []);
    const child = new TestChild(
      `await importMemory(${JSON.stringify(path)}, { memoryFolder: ${JSON.stringify(memoryFolder)}, anchor: undefined,
         maxBytes: 1e9, storeAnchor: async ({ seq }) => say(seq) });`,
      { modules, failpoint: name },
    );
    expect(await child.ended()).toBe("SIGKILL");
    const found = await verifyJournal(join(memoryFolder, "journal"), chainStart, memoryRecords);
    expect(found).toMatchObject({ ok: true });
    // Anchored records exist: an anchor never leads.
    if (child.lines.length > 0) expect(found.records).toBe(5);
    if (found.records === 0) {
      await importMemory(path, {
        memoryFolder,
        anchor: undefined,
        maxBytes: 1e9,
        storeAnchor: async () => undefined,
      });
    }
    expect(await verifyJournal(join(memoryFolder, "journal"), end, memoryRecords)).toMatchObject({
      ok: true,
      records: 5,
    });
    expect(await readdir(memoryFolder)).toEqual(["journal"]);
  },
);
