import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openPlainFile, readPlainText, setAside } from "./plain-file.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

const impostors: [string, (path: string) => unknown][] = [
  ["a folder", (path) => mkdirSync(path)],
  [
    "a link to a file",
    (path) => (writeFileSync(`${path}.real`, "secret"), symlinkSync(`${path}.real`, path)),
  ],
  ["a link to nothing", (path) => symlinkSync(`${path}.missing`, path)],
  ["a named pipe", (path) => execFileSync("mkfifo", [path])],
  ["a socket", (path) => new Promise<void>((resolve) => createServer().unref().listen(path, resolve))],
];

test.skipIf(process.platform === "win32").each(impostors)(
  "%s in a file's place is refused at once, for reading and for appending, and can be set aside",
  async (_name, make) => {
    const path = join(await temporaryFolder(), "file");
    await make(path);
    for (const mode of ["read", "append"] as const) {
      await expect(openPlainFile(path, mode)).rejects.toThrow(/not a regular file|ENXIO/);
    }
    await expect(readPlainText(path, 100)).rejects.toMatchObject({ code: "StorageError" });
    await setAside(path, 7);
    expect(await readPlainText(path, 100)).toBeNull();
  },
);

test("a plain file is read and appended to, up to its bound", async () => {
  const path = join(await temporaryFolder(), "file");
  {
    await using file = await openPlainFile(path, "append");
    await file.write("one");
    await file.write("two");
  }
  expect(await readPlainText(path, 6)).toBe("onetwo");
  await expect(readPlainText(path, 5)).rejects.toThrow("at most 5");
  expect(readFileSync(await setAside(path, 7), "utf8")).toBe("onetwo");
});
