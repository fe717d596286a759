import { join } from "node:path";
import { expect, test } from "vitest";
import { failpointNames } from "../platform/failpoints.ts";
import { openObjectStore } from "../platform/files/object-store.ts";
import { TestChild } from "../platform/testing/child.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { TestJournal } from "./testing/journals.ts";

const modules = {
  "{ TestJournal }": new URL("./testing/journals.ts", import.meta.url),
  "{ openObjectStore }": new URL("../platform/files/object-store.ts", import.meta.url),
};

/** Appends records with a part each, and redacts every second one, for ever. */
const appender = (folder: string): string => `
  const parts = await openObjectStore(${JSON.stringify(join(folder, "objects"))});
  const journal = await new TestJournal(${JSON.stringify(join(folder, "journal"))}, { parts }).open();
  for (;;) {
    for (const id of ["forgotten", "kept"]) {
      using part = await journal.keep(Buffer.from(id + " " + journal.end.seq));
      const data = JSON.stringify(part.hash);
      await journal.append([{ operation: "store", kind: "temporal", id, data, parts: [part] }]);
    }
    const { seq } = journal.end;
    say("appended " + seq);
    await journal.redact((record) => record.seq === seq - 1, "forgotten", "told to");
    say("redacted " + seq);
  }`;

const points = failpointNames.filter(
  (name) =>
    name.startsWith("objects.put.") ||
    name.startsWith("objects.sweep.") ||
    name.startsWith("journal.redaction.") ||
    name === "journal.write.done",
);

test.each(points)(
  "dying at %s leaves every part that a record names, and after the next opening no other",
  async (name) => {
    const folder = await temporaryFolder();
    const child = new TestChild(appender(folder), { modules, failpoint: `${name}@3` });
    expect(await child.ended()).toBe("SIGKILL");
    const parts = await openObjectStore(join(folder, "objects"));
    const kept = new TestJournal(join(folder, "journal"), { parts });
    await using journal = await kept.open();
    await journal.finishRedactions();
    expect(await journal.verify()).toMatchObject({ ok: true });
    const named = await journal.parts();
    expect(new Set((await parts.sizes()).keys())).toEqual(new Set(named.keys()));
    expect(journal.end.seq).toBeGreaterThanOrEqual(Number(child.lines.at(-1)?.split(" ")[1] ?? 0));
    // What was told to be redacted is gone: one part is left of each pair, and two of the last if it was not named yet.
    const texts = await Promise.all(
      [...named.keys()].map(async (hash) =>
        Buffer.concat(await Array.fromAsync(journal.readPart(hash))).toString(),
      ),
    );
    expect(texts.filter((text) => text.startsWith("forgotten")).length).toBeLessThanOrEqual(1);
  },
);
