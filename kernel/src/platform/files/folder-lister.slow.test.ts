import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { listerLimits } from "./folder-lister-messages.ts";
import { openFolderLister, type FolderLister, type FolderListing } from "./folder-lister.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

interface Bench {
  readonly lister: FolderLister;
  readonly arrived: [number, FolderListing | null][];
  until(condition: () => boolean): Promise<void>;
}

function opened(root: string, hidden = false): Bench {
  const arrived: [number, FolderListing | null][] = [];
  const data = { root, hidden, textName: ".rules", textBytes: 100, textOfUnreadable: "?" };
  const lister = openFolderLister(data, {
    listed: (number, listing) => void arrived.push([number, listing]),
    unreadable: () => {},
    died: () => {},
  });
  onTestFinished(() => lister[Symbol.asyncDispose]());
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve));
  };
  return { lister, arrived, until };
}

test("lists folders in the order asked for, with facts and the text file, links as such and never through one", async () => {
  const root = await temporaryFolder();
  mkdirSync(join(root, "a/b"), { recursive: true });
  writeFileSync(join(root, "a/.rules"), "the rules");
  writeFileSync(join(root, "a/file.txt"), "1234");
  symlinkSync(join(root, "a"), join(root, "link"));
  const { lister, arrived, until } = opened(root);
  lister.list([
    [7, []],
    [8, ["a"]],
    [9, ["missing"]],
    [10, ["link"]],
    [11, ["a", "b"]],
  ]);
  await until(() => arrived.length === 5);
  const told = arrived.map(([number, listing]) => [
    number,
    listing === null
      ? null
      : Object.fromEntries(
          listing.names.map((name, at) => {
            const observed = listing.observed(at);
            return [
              name,
              observed === null || observed === "unreadable" ? observed : `${observed.kind} ${observed.size}`,
            ];
          }),
        ),
  ]);
  expect(told).toEqual([
    [7, { a: "folder 0", link: "other 0" }],
    [8, { b: "folder 0", "file.txt": "file 4" }],
    [9, null],
    [10, null],
    [11, {}],
  ]);
  expect(arrived.map(([, listing]) => listing?.text ?? null)).toEqual([null, "the rules", null, null, null]);
});

test("sends a large folder in pieces, and no more than its limit ahead of the reader", async () => {
  const root = await temporaryFolder();
  const files = listerLimits.namesPerMessage * 3;
  for (let at = 0; at < files; at++) writeFileSync(join(root, `f${at}`), "");
  const { lister, arrived, until } = opened(root);
  const times = Math.ceil(listerLimits.namesAhead / files) + 3;
  lister.list(Array.from({ length: times }, (_, number) => [number, []]));
  const count = (): number => arrived.reduce((sum, [, listing]) => sum + (listing?.count ?? 0), 0);
  await until(() => count() >= listerLimits.namesAhead);
  const first = arrived.filter(([number]) => number === 0);
  expect(first.map(([, listing]) => listing?.isLast)).toEqual([false, false, true]);
  expect(new Set(first.flatMap(([, listing]) => listing?.names ?? [])).size).toBe(files);
  expect(count()).toBeLessThan(listerLimits.namesAhead + listerLimits.namesPerMessage);
  lister.taken(count());
  await until(() => count() === times * files);
});
