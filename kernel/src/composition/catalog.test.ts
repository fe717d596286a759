import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { sha256 } from "../platform/hash.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { Catalog } from "./catalog.ts";
import { eventPorts } from "./documents.ts";
import { createProgramLoader } from "./programs.ts";
import { resources } from "./resources.ts";

/** A workspace with one extension, whose module is these bytes. */
async function workspaceOf(module: string) {
  const root = await temporaryFolder();
  const extension = join(root, ".lares", "extensions", "one");
  await mkdir(extension, { recursive: true });
  await writeFile(
    join(extension, "extension.yaml"),
    "extension:\n  id: dev.one\n  name: One\n  version: 1.0.0\n",
  );
  const write = (text: string): Promise<void> => writeFile(join(extension, "agent.wasm"), text);
  await write(module);
  const catalog = new Catalog({
    roots: [root],
    userFolder: join(root, "none"),
    bundledExtensions: join(root, "none"),
    defaultsFile: resources.defaults,
    environment: {},
    kernelVersion: "0.1.0",
    events: eventPorts(new ManualClock()),
    programs: createProgramLoader(
      async () => ({ ok: false, errors: [] }),
      async () => "It imports what nobody has.",
    ),
    log: silentLog,
  });
  return { catalog, write };
}

test("what a person says yes to is the same before and after a module is found that cannot be run", async () => {
  const { catalog, write } = await workspaceOf("one");
  const [read, lookedInto] = [await catalog.load(false), await catalog.load(true)];
  expect(read.wishes.extensions["dev.one"]?.program).toBe(sha256(new TextEncoder().encode("one")));
  expect(lookedInto.entries[0]?.program).toMatchObject({
    program: null,
    fault: "agent.wasm: It imports what nobody has.",
  });
  expect(lookedInto.digest).toBe(read.digest);
  await write("another");
  expect((await catalog.load(true)).digest).not.toBe(read.digest);
});
