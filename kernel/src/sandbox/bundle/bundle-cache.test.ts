import { appendFile, cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { silentLog } from "../../base/log.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { until } from "../../../../test/support/until.ts";
import { extensionOf, sdkFolder } from "../guest/testing/run-guest.ts";
import { BundleCache } from "./bundle-cache.ts";
import { Bundler, type BundleResult } from "./bundle.ts";
import type { BundledProgram } from "./bundled-program.ts";

const files = {
  "agent.ts": `import { defineAgent } from "@lares/sdk"; import { a } from "./a.ts"; defineAgent({}); console.log(a);`,
  "a.ts": "export const a: string = 'first';",
};

/** A cache folder in memory. */
function cacheFolder() {
  const stored = new Map<string, Uint8Array>();
  const read: string[] = [];
  let writes = 0;
  return {
    stored,
    read,
    get writes() {
      return writes;
    },
    /** What each start of the kernel opens. */
    open: (version = "1.0.0") =>
      new BundleCache(
        {
          read: async (name) => {
            if (stored.has(name)) read.push(name);
            return stored.get(name) ?? null;
          },
          write: async (name, bytes) => {
            stored.set(name, bytes);
            writes += 1;
          },
        },
        version,
        silentLog,
      ),
  };
}

function programOf(result: BundleResult): BundledProgram {
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result.program;
}

const textOf = ({ bytes }: BundledProgram): string => new TextDecoder().decode(bytes);

describe("a program that an earlier kernel bundled", () => {
  it("is the same, and is not bundled again", async () => {
    await using extension = await extensionOf(files);
    const folder = cacheFolder();
    const first = programOf(
      await new Bundler(sdkFolder, { cache: folder.open() }).bundle(extension.folder, "agent.ts"),
    );
    await until("it is stored", () => folder.writes === 1);
    const second = programOf(
      await new Bundler(sdkFolder, { cache: folder.open() }).bundle(extension.folder, "agent.ts"),
    );
    expect(second).toEqual(first);
    expect([folder.read.length, folder.writes]).toEqual([1, 1]);
  });

  it("is bundled again after a source has changed, once", async () => {
    await using extension = await extensionOf(files);
    const folder = cacheFolder();
    await new Bundler(sdkFolder, { cache: folder.open() }).bundle(extension.folder, "agent.ts");
    await until("it is stored", () => folder.writes === 1);
    await writeFile(join(extension.folder, "a.ts"), "export const a: string = 'other';");
    const next = new Bundler(sdkFolder, { cache: folder.open() });
    expect(textOf(programOf(await next.bundle(extension.folder, "agent.ts")))).toContain("other");
    await until("the new one is stored", () => folder.writes === 2);
    const last = new Bundler(sdkFolder, { cache: folder.open() });
    expect(textOf(programOf(await last.bundle(extension.folder, "agent.ts")))).toContain("other");
    expect(folder.writes).toBe(2);
  });

  it("is bundled again after the SDK or the kernel has changed", async () => {
    await using extension = await extensionOf(files);
    const sdk = await temporaryFolder();
    for (const part of ["package.json", "src"])
      await cp(join(sdkFolder, part), join(sdk, part), { recursive: true });
    const folder = cacheFolder();
    await new Bundler(sdk, { cache: folder.open() }).bundle(extension.folder, "agent.ts");
    await until("it is stored", () => folder.writes === 1);
    await appendFile(join(sdk, "src", "index.ts"), "\nconsole.log('another SDK');\n");
    const next = new Bundler(sdk, { cache: folder.open() });
    expect(textOf(programOf(await next.bundle(extension.folder, "agent.ts")))).toContain("another SDK");
    await until("it is stored", () => folder.writes === 2);
    await new Bundler(sdk, { cache: folder.open("1.0.1") }).bundle(extension.folder, "agent.ts");
    await until("it is stored for that kernel", () => folder.writes === 3);
    expect(folder.stored.size).toBe(2);
  });

  it("is bundled again if what is stored cannot be read", async () => {
    await using extension = await extensionOf(files);
    const folder = cacheFolder();
    const first = await new Bundler(sdkFolder, { cache: folder.open() }).bundle(extension.folder, "agent.ts");
    await until("it is stored", () => folder.writes === 1);
    for (const name of folder.stored.keys()) folder.stored.set(name, new Uint8Array([0, 0, 0, 9, 1, 2]));
    const second = await new Bundler(sdkFolder, { cache: folder.open() }).bundle(
      extension.folder,
      "agent.ts",
    );
    expect(second).toEqual(first);
  });

  it("with an error is not stored", async () => {
    await using extension = await extensionOf({ "agent.ts": `import "./missing.ts";` });
    const folder = cacheFolder();
    const bundler = new Bundler(sdkFolder, { cache: folder.open() });
    expect((await bundler.bundle(extension.folder, "agent.ts")).ok).toBe(false);
    expect(folder.writes).toBe(0);
  });
});
