import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { writeGraph } from "./write-graph.ts";

const failing = {
  write(): void {
    throw new Error("Failed to serialize into stream");
  },
};

test("a graph that cannot be written fails with the system's own error", async () => {
  const path = join(await temporaryFolder(), "missing", "graph");
  expect(() => writeGraph(failing, path, 1000)).toThrow(expect.objectContaining({ code: "ENOENT" }));
});

test("a graph that fails for no reproducible cause gives an error that claims no cause", async () => {
  const path = join(await temporaryFolder(), "graph");
  expect(() => writeGraph(failing, path, 1000)).toThrow(
    expect.objectContaining({ code: "StorageError", message: expect.stringMatching(/gives no cause/) }),
  );
});

test("a graph that can be written is written once, by the library", async () => {
  const folder = join(await temporaryFolder(), "made");
  await mkdir(folder);
  const path = join(folder, "graph");
  await writeFile(path, "");
  let calls = 0;
  writeGraph({ write: () => void calls++ }, path, 1000);
  expect(calls).toBe(1);
});
