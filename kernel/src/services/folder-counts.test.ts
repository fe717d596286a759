import { expect, test } from "vitest";
import { LaresError } from "../base/errors.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { aQuestion } from "../cli/testing/fake-kernel.ts";
import { FolderCounts } from "./folder-counts.ts";

/** A workspace with this number of files, which counts requests. */
function counting(files: Record<string, number>) {
  const asked: string[] = [];
  const clock = new ManualClock();
  const state = { complete: true };
  const counts = new FolderCounts(
    {
      status: () => ({ entries: 0, complete: state.complete }),
      filesIn: async (path, atMost) => {
        asked.push(path);
        const count = files[path];
        if (count === undefined) throw new LaresError("LimitExceeded", "It takes too long.");
        return Math.min(count, atMost);
      },
    },
    clock,
  );
  const filesOf = async (...paths: string[]): Promise<(number | undefined)[]> => {
    const [folder] = aQuestion().extensions[0]!.folders;
    const question = aQuestion({ folders: paths.map((path) => ({ ...folder!, path })) });
    return (await counts.of(question)).extensions[0]!.folders.map((each) => each.files);
  };
  return { asked, clock, state, filesOf };
}

test("each folder is counted once for a while, and not before the index is complete", async () => {
  const { asked, clock, state, filesOf } = counting({ docs: 214, ".": 200_000 });
  state.complete = false;
  expect(await filesOf("docs")).toEqual([undefined]);
  state.complete = true;
  expect(await filesOf("docs", ".", "docs")).toEqual([214, 100_000, 214]);
  expect(await filesOf("docs")).toEqual([214]);
  expect(asked).toEqual(["docs", "."]);
  clock.advance(10_001);
  await filesOf("docs");
  expect(asked).toEqual(["docs", ".", "docs"]);
});

test("folders that take too long or are beyond the limit have no count", async () => {
  const many = Array.from({ length: 100 }, (_, at) => `folder-${at}`);
  const { asked, filesOf } = counting(Object.fromEntries(many.map((path) => [path, 1])));
  expect(await filesOf("slow", ...many)).toEqual([
    undefined,
    ...Array.from({ length: 63 }, () => 1),
    ...Array.from({ length: 37 }, () => undefined),
  ]);
  expect(asked).toHaveLength(64);
});
