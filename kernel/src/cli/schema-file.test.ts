import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { writeSchema } from "./schema-file.ts";

test("a schema is written beneath the folder, and not through a link that leads out of it", async () => {
  const outside = await temporaryFolder();
  const plain = await temporaryFolder();
  await writeSchema(plain, "lares.schema.json");
  expect(await readdir(join(plain, ".lares", "schemas"))).toEqual(["lares.schema.json"]);
  const linked = await temporaryFolder();
  await symlink(outside, join(linked, ".lares"));
  await writeSchema(linked, "lares.schema.json");
  const deeper = await temporaryFolder();
  await mkdir(join(deeper, ".lares"));
  await symlink(outside, join(deeper, ".lares", "schemas"));
  await writeSchema(deeper, "lares.schema.json");
  expect(await readdir(outside)).toEqual([]);
});
