import { existsSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const repository = fileURLToPath(new URL("../../", import.meta.url));
const table = readFileSync(new URL("README.md", import.meta.url), "utf8");
const rows = table.split("\n").filter((line) => /^\| (?!case |-|variable|`LARES)/.test(line));
const named = rows.flatMap((row) =>
  [...(row.split(/(?<!\\)\|/)[3] ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
);

/** Returns the text of a test file, and of the file beside it that has its cases. */
async function textOf(file: string): Promise<string> {
  const folder = dirname(join(repository, file));
  const around = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".ts"));
  const others = file.startsWith("test/") ? around.map((name) => join(folder, name)) : [];
  return [join(repository, file), ...others].map((path) => readFileSync(path, "utf8")).join("\n");
}

test("every row of the table names a test", () => {
  expect(rows.length).toBeGreaterThan(100);
  expect(rows.filter((row) => !/`[^`]+\.test\.ts/.test(row.split(/(?<!\\)\|/)[3] ?? ""))).toEqual([]);
});

test.each([...new Set(named)])("%s is there", async (name) => {
  const [file = "", ...titles] = name.split(" › ");
  expect(existsSync(join(repository, file)), file).toBe(true);
  const text = await textOf(file);
  // "…" and angle brackets stand for the rest of a name; the words around them are in the file.
  const pieces = titles.flatMap((title) => title.split(/…|<[^>]*>|%s|\$\w+|"[^"]*"|\[\.\.\.\]/));
  for (const piece of pieces.map((one) => one.trim()).filter((one) => one.length > 3))
    expect(text).toContain(piece);
});
