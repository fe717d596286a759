import { mkdirSync, renameSync, rmSync } from "node:fs";
import { expect, it } from "vitest";
import { nextTurn } from "../base/next-turn.ts";
import { everything, openTestWorkspace } from "./testing/test-workspace.ts";

/** Turns of the loop between two changes: the report of the second may be read before, while or after the first is looked at. */
const gaps = Array.from({ length: 16 }, (_, turns) => turns);

it("keeps the ids of a folder and a file that move into a folder which was just made, whenever the listing sees them first", async () => {
  await using test = await openTestWorkspace({
    prepare: (write) => {
      for (const gap of gaps) {
        for (let file = 0; file < 20; file++)
          write(`old ${gap}/${file}.txt`, `${gap} ${file}`, { old: true });
        write(`single ${gap}.txt`, `${gap}`, { old: true });
      }
    },
  });
  await test.settle();
  const idOf = (path: string): string | undefined => test.workspace.get({ path }, everything)?.id;
  for (const gap of gaps) {
    const before = [idOf(`old ${gap}`), idOf(`old ${gap}/7.txt`), idOf(`single ${gap}.txt`)];
    mkdirSync(test.path(`into ${gap}`));
    for (let turn = 0; turn < gap; turn++) await nextTurn();
    renameSync(test.path(`old ${gap}`), test.path(`into ${gap}/new`));
    renameSync(test.path(`single ${gap}.txt`), test.path(`into ${gap}/single.txt`));
    await test.workspace.idle();
    const after = [idOf(`into ${gap}/new`), idOf(`into ${gap}/new/7.txt`), idOf(`into ${gap}/single.txt`)];
    expect(after, `${gap} turns between`).toEqual(before);
  }
  expect(test.lines.filter((line) => line.startsWith("deleted"))).toEqual([]);
  expect(test.lines.filter((line) => line.startsWith("created"))).toEqual(
    gaps.map((gap) => `created into ${gap}`),
  );
});

it("reports a new folder with all that is in it although other files are written all the time", async () => {
  await using test = await openTestWorkspace({ prepare: (write) => write("log.txt", "", { old: true }) });
  await test.settle();
  const over = new AbortController();
  const writing = (async () => {
    for (let line = 0; !over.signal.aborted; line++) {
      test.write("log.txt", `${line}`);
      await nextTurn();
    }
  })();
  for (let file = 0; file < 5; file++) test.write(`new/${file}.txt`, "x", { old: true });
  await test.until(() => test.lines.filter((line) => line.startsWith("created new/")).length === 5);
  rmSync(test.path("new"), { recursive: true });
  await test.until(() => test.lines.includes("deleted new"));
  over.abort();
  await writing;
});
