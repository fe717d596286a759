import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { Bench } from "./bench.ts";
import { lares as run } from "./command-line.ts";
import type { Ended } from "./run-node.ts";

export const greeterId = "com.example.greeter";

/** An agent that answers each new text with a proposal, in two files. */
export const greeterSources = (version: string, more = ""): Record<string, string> => ({
  "extension.yaml": `extension:
  id: ${greeterId}
  name: Greeter
  version: ${version}
  main: agent.ts
  permissions: { read_entries: { filter: "*.txt" }, propose_actions: [file.write]${more} }
  hooks: [{ on: EntryCreated, filter: entry.kind == "file", handler: greet }]
`,
  "agent.ts": `import { defineAgent } from "@lares/sdk";
import { words } from "./words.ts";
export default defineAgent({
  hooks: {
    async greet({ entry }, ctx) {
      await ctx.actions.propose([{ kind: "file.write", path: entry.path.replace(".txt", ".out"), content: words }], {
        title: words, reason: "It is new.",
      });
    },
  },
});
`,
  "words.ts": `export const words: string = "hello from ${version}";\n`,
  "README.md": "# Greeter\n",
});

export interface Person extends AsyncDisposable {
  readonly bench: Bench;
  readonly environment: Record<string, string>;
  lares(...args: string[]): Promise<Ended>;
  /** As `lares`, and succeeds with JSON. */
  json(...args: string[]): Promise<Record<string, unknown>>;
  write(folder: string, files: Record<string, string>): Promise<string>;
}

/** A workspace, and a person with a configuration folder of their own. */
export async function aPerson(): Promise<Person> {
  const bench = await Bench.create({ files: { "in/a.txt": "a", "out/b.txt": "b" } });
  const environment = { XDG_CONFIG_HOME: join(bench.base, "config") };
  const lares = (...args: string[]) => run(bench, args, environment);
  return {
    bench,
    environment,
    lares,
    json: async (...args) => {
      const { code, stdout, stderr } = await lares(...args, "--json");
      expect([code, stderr.includes("error:")], stderr).toEqual([0, false]);
      return JSON.parse(stdout) as Record<string, unknown>;
    },
    write: async (folder, files) => {
      const path = join(bench.base, folder);
      await mkdir(path, { recursive: true });
      for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
      return path;
    },
    [Symbol.asyncDispose]: async () => {
      await lares("stop", bench.root);
      await bench[Symbol.asyncDispose]();
    },
  };
}
