import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestChild } from "../platform/testing/child.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { TestJournal } from "./testing/journals.ts";

const modules = {
  "{ TestJournal }": new URL("./testing/journals.ts", import.meta.url),
  "{ writeFileSync }": new URL("node:fs"),
};

/** Appends until there is a checkpoint, then redacts, for ever; keeps anchor and checkpoint in a file at once. */
const keeper = (folder: string, file: string): string => `
  const kept = new TestJournal(${JSON.stringify(folder)}, { segmentBytes: 512 * 1024 });
  const keep = (name) => {
    let value = kept[name];
    Object.defineProperty(kept, name, { get: () => value, set: (next) => {
      value = next;
      writeFileSync(${JSON.stringify(file)}, JSON.stringify({ anchor: kept.anchor, checkpoint: kept.checkpoint }));
    } });
  };
  keep("anchor");
  keep("checkpoint");
  const journal = await kept.open();
  for (let round = 0; ; round++) {
    for (let n = 0; n < 110; n++) {
      const record = { operation: "store", kind: "temporal", id: "x", data: String(n) };
      await journal.append(Array.from({ length: 100 }, () => record));
    }
    await kept.until(() => kept.checkpoint !== null);
    say(journal.end.seq);
    await journal.redact(({ seq }) => seq === 7 + round, "x", "told to");
  }`;

test.each(["journal.checkpoint.begun", "journal.checkpoint.done", "journal.checkpoint.dropped"] as const)(
  "dying at %s leaves a journal whose state equals a proof from the root",
  async (name) => {
    const folder = await temporaryFolder();
    const file = join(folder, "kept.json");
    const child = new TestChild(keeper(join(folder, "journal"), file), { modules, failpoint: `${name}@2` });
    expect(await child.ended()).toBe("SIGKILL");
    const kept = new TestJournal(join(folder, "journal"), { segmentBytes: 512 * 1024 });
    const read = JSON.parse(await readFile(file, "utf8")) as Pick<TestJournal, "anchor" | "checkpoint">;
    const opened: unknown[] = [];
    for (const checkpoint of [read.checkpoint, null]) {
      Object.assign(kept, read, { checkpoint });
      const { journal, found } = await kept.openAndFind();
      await using _ = journal;
      expect(await journal.verify()).toMatchObject({ ok: true });
      opened.push([
        found.count,
        journal.end,
        journal.tally.save().toSorted(([one], [other]) => (one < other ? -1 : 1)),
      ]);
    }
    expect(opened[0]).toEqual(opened[1]);
    expect(kept.anchor.seq).toBeGreaterThanOrEqual(Number(child.lines.at(-1) ?? 0));
  },
);
