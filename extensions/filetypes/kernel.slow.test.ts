import { fileURLToPath } from "node:url";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { runInKernel } from "@lares/sdk/testing";
import { expect, it } from "vitest";
import type { Summary } from "./counts.ts";

const extension = fileURLToPath(new URL(".", import.meta.url));
const library = fileURLToPath(new URL("../../examples/library", import.meta.url));

it("counts a real workspace, follows writes and deletions, sees only what was granted", async () => {
  await using kernel = await runInKernel(extension, library, { grants: { locations: ["notes/"] } });
  const summary = (top?: number) => kernel.call<Summary>("summary", top === undefined ? {} : { top });
  const filesOf = ({ by_type }: Summary) =>
    Object.fromEntries(by_type.map(({ extension, files }) => [extension, files]));
  await kernel.idle();
  const before = await summary();
  expect(filesOf(before)).toEqual({ md: 5, txt: 1 });
  expect((await kernel.traces({ level: "info" })).map(({ message }) => message)).toContain(
    "6 files of 2 types",
  );

  await kernel.write("notes/new.md", "# New\n");
  await kernel.write("elsewhere.md", "not granted");
  await rm(join(kernel.workspace, "notes/recipes/focaccia.md"));
  await rm(join(kernel.workspace, "notes/ideas 💡.txt"));
  await kernel.waitFor(async () => (await summary()).types === 1);
  const after = await summary();
  expect(filesOf(after)).toEqual({ md: 5 });
  expect((await summary(1)).by_type).toHaveLength(1);

  const { state, permissions, locations, metrics } = await kernel.agent();
  expect({ state, permissions, locations }).toEqual({
    state: "Active",
    permissions: ["read_entries"],
    locations: ["notes"],
  });
  expect(metrics.events_failed).toBe(0);
  expect(await kernel.actions()).toEqual([]);
  await expect(kernel.call("summary", { top: 0 })).rejects.toMatchObject({ code: "ToolError" });
});
