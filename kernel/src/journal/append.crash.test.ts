import { expect, test } from "vitest";
import { TestChild } from "../platform/testing/child.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { chainStart } from "../memory-contract/records.ts";
import { TestJournal } from "./testing/journals.ts";

const modules = { "{ TestJournal }": new URL("./testing/journals.ts", import.meta.url) };

/** Appends three records at a time for ever, each time to the head that it has seen, and says when that is done. */
const appender = (folder: string): string => `
  const journal = await new TestJournal(${JSON.stringify(folder)}).open();
  for (let head = journal.end; ; head = journal.end) {
    const records = [1, 2, 3].map((n) => ({ operation: "store", kind: "temporal", id: "x", data: String(n) }));
    await journal.append(records, { expectedHead: head });
    say(journal.end.seq);
  }`;

test.each(["journal.write.begun", "journal.write.done", "journal.segment.created"] as const)(
  "dying at %s leaves every group that was acknowledged, and no part of one",
  async (name) => {
    const folder = await temporaryFolder();
    let before = 0;
    for (let round = 0; round < 2; round++) {
      const child = new TestChild(appender(folder), { modules, failpoint: `${name}@3` });
      expect(await child.ended()).toBe("SIGKILL");
      const acknowledged = Number(child.lines.at(-1) ?? before);
      await using journal = await new TestJournal(folder).open();
      const { seq } = journal.end;
      expect(seq % 3).toBe(0);
      expect([acknowledged, acknowledged + 3]).toContain(seq);
      expect(await journal.verify()).toMatchObject({ ok: true });
      await expect(journal.append([], { expectedHead: chainStart })).rejects.toMatchObject({ head: { seq } });
      before = seq;
    }
    expect(before).toBeGreaterThan(3);
  },
);
