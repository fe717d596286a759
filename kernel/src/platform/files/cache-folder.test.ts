import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLog } from "../../base/log.ts";
import { cacheKey, openCacheFolder } from "./cache-folder.ts";
import { sha256Hex } from "./hash.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

async function filled() {
  const folder = join(await temporaryFolder(), "cache");
  const key = await cacheKey(join(folder, "..", "cache.key"), silentLog);
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
  const open = () => openCacheFolder(folder, { maxFiles: 10, key, log });
  await open().write("one", bytes("content of one"));
  await open().write("two", bytes("content of two"));
  return { folder, key, open, warnings, file: join(folder, "one") };
}

const flip = (file: string, at: number): void => {
  const content = readFileSync(file);
  writeFileSync(file, content.with(at, (content[at] ?? 0) ^ 1));
};
const replaced =
  (make: (file: string) => unknown) =>
  (file: string): void => {
    rmSync(file);
    make(file);
  };

test.each<[string, (file: string, folder: string) => void]>([
  ["a flipped byte in its seal", (file) => flip(file, 3)],
  ["a flipped byte in its content", (file) => flip(file, 40)],
  ["another length", (file) => truncateSync(file, 40)],
  ["nothing in it", (file) => truncateSync(file, 0)],
  ["another file of the same cache in its place", (file, folder) => copyFileSync(join(folder, "two"), file)],
  [
    "another content, with that one's own digest before it",
    (file) =>
      writeFileSync(file, Buffer.concat([Buffer.from(sha256Hex("forged"), "hex"), Buffer.from("forged")])),
  ],
  ["a folder in its place", replaced((file) => mkdirSync(file))],
  ["a link in its place", replaced((file) => symlinkSync("two", file))],
  ["a named pipe in its place", replaced((file) => execFileSync("mkfifo", [file]))],
])("a file with %s is rejected, named, and created again", async (_name, damage) => {
  const { folder, file, open, warnings } = await filled();
  damage(file, folder);
  expect(await open().read("one")).toBeNull();
  expect(warnings).toHaveLength(1);
  expect(existsSync(file)).toBe(false);
  await open().write("one", bytes("made again"));
  expect(await open().read("one")).toEqual(bytes("made again"));
  expect(await open().read("two")).toEqual(bytes("content of two"));
});

test("a missing or damaged key is created again, and earlier entries are then rejected", async () => {
  const { folder, key, open } = await filled();
  expect(await open().read("one")).toEqual(bytes("content of one"));
  const place = join(folder, "..", "cache.key");
  expect(await cacheKey(place, silentLog)).toEqual(key);
  writeFileSync(place, "short");
  const fresh = await cacheKey(place, silentLog);
  expect(fresh).not.toEqual(key);
  expect(await openCacheFolder(folder, { maxFiles: 10, key: fresh, log: silentLog }).read("one")).toBeNull();
});
