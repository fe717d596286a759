import { spawn, spawnSync } from "node:child_process";
import { cp, glob, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { TemporaryFolder } from "../support/temporary-folder.ts";
import { isAlive, until } from "../support/until.ts";

const checkout = fileURLToPath(new URL("../..", import.meta.url));

/** The agent adds a heading to a note without one, made of its name. */
export const NOTE = "notes/shopping list.md";
export const WITHOUT_HEADING = "milk\nbread\n";
export const WITH_HEADING = "# Shopping list\n\nmilk\nbread\n";
const BROKEN = "broken/extension.yaml";

const LARES = `version: 1
extensions:
  - id: dev.lares.notes
    grants: { locations: [notes] }
  - id: test.asker
kernel: { linger: 1s }
`;

/** An agent that asks a model whose price nobody knows, under a budget; it does so only after a person has allowed it. */
const ASKER = {
  "agent.ts": `import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: { ask: (_given, ctx) => ctx.ai.generate("hello").then(({ text }) => text, ({ code }) => code) },
});
`,
  "extension.yaml": `extension:
  id: test.asker
  name: Asker
  version: 1.0.0
  permissions: { use_models: [{ category: chat }] }
  tools:
    - { name: ask, description: Asks, handler: ask, parameters: { type: object } }
`,
};
const OWN = `version: 1
models:
  providers: { lab: { api: openai-compatible, base_url: "https://lab.invalid/v1" } }
  routes: { default: lab/x }
  budgets: { per_day_usd: 1 }
`;

/** An agent that one can talk to, and a script that answers in place of a language model. */
const MIND = {
  "SOUL.md": "I am calm.\n",
  "extension.yaml": `extension:
  id: test.mind
  name: Steward
  version: 1.0.0
  permissions: { use_models: [{ category: chat }] }
  mind: { identity: [SOUL.md] }
`,
};
const SCRIPT = `turns:
  - { process: channel, when: hello, say: "Hi there\\n\\n# A plan\\n\\n- one", repeat: true }
  - { process: channel, when: soon, say: "Here it is", delay_ms: 1500, repeat: true }
`;
const SCRIPTED = `version: 1
models:
  providers: { script: { api: scripted, script: script.yaml } }
`;
/** The file of a conversation, and its text after two messages; the last line was written while the second was answered. */
export const TALK = "today.chat.md";
export const TALKED = `## You

hello

## Steward

Hi there

### A plan

- one

## You

soon

## Steward

Here it is

## You

and then`;

/** True where the program runs with these arguments; says so where it does not. */
export function isInstalled(program: string, args: readonly string[], packages: string): boolean {
  const { status } = spawnSync(program, args, { stdio: "ignore" });
  if (status !== 0)
    process.stderr.write(
      `"${program} ${args.join(" ")}" does not run here: its tests are skipped. Debian: apt install ${packages}\n`,
    );
  return status === 0;
}

/** Returns a copy of the example, a home folder, and the environment that a person's shell would give an editor. */
export class Setting implements AsyncDisposable {
  readonly base: string;
  readonly workspace: string;
  readonly home: string;
  readonly #folder: TemporaryFolder;

  private constructor(folder: TemporaryFolder) {
    this.#folder = folder;
    this.base = folder.path;
    this.workspace = join(this.base, "library");
    this.home = join(this.base, "home");
  }

  /** With `canTalk`, there is an agent with a mind, and a script answers in place of a model. */
  static async create({ canTalk = false } = {}): Promise<Setting> {
    const setting = new Setting(await TemporaryFolder.create("lares-editors-"));
    await mkdir(setting.home);
    await cp(join(checkout, "examples/library"), setting.workspace, { recursive: true });
    await rm(setting.path("notes/roof.md")); // It has no heading either, and only the note of the test is to be proposed for.
    await writeFile(
      setting.path("lares.yaml"),
      canTalk ? LARES.replace("  - id: test.asker\n", "  - id: test.mind\n") : LARES,
    );
    const asker = setting.path(`.lares/extensions/${canTalk ? "mind" : "asker"}`);
    const own = join(setting.home, ".config/lares");
    for (const folder of [asker, own]) await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(canTalk ? MIND : ASKER))
      await writeFile(join(asker, name), text);
    await writeFile(join(own, "lares.yaml"), canTalk ? SCRIPTED : OWN);
    await writeFile(join(own, "script.yaml"), SCRIPT);
    await mkdir(dirname(setting.path(BROKEN)));
    await writeFile(setting.path(BROKEN), "extension:\n  id: dev.example.broken\n  nonsense: true\n");
    return setting;
  }

  path(relative: string): string {
    return join(this.workspace, relative);
  }

  text(relative: string): Promise<string> {
    return readFile(this.path(relative), "utf8");
  }

  /** Puts a file of `examples/editors` where its README says. */
  async install(example: string, target: string): Promise<void> {
    await mkdir(dirname(join(this.home, target)), { recursive: true });
    await cp(join(checkout, "examples/editors", example), join(this.home, target));
  }

  /** Runs an editor to its end. Returns the JSON that it wrote into the file that `LARES_REPORT` names. */
  async run(
    program: string,
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Record<string, unknown>> {
    const report = join(this.base, "report.json");
    const editor = spawn(program, args, {
      cwd: this.workspace,
      env: {
        PATH: [join(checkout, "node_modules/.bin"), process.env["PATH"]].join(delimiter),
        HOME: this.home,
        LARES_HOME: join(this.base, "state"),
        LARES_REPORT: report,
        LARES_WORKSPACE: this.workspace,
        TERM: "dumb",
        LANG: "C.UTF-8",
        ...environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [editor.stdout, editor.stderr])
      stream.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
    const code = await new Promise((resolve) => editor.on("close", resolve));
    try {
      return JSON.parse(await readFile(report, "utf8")) as Record<string, unknown>;
    } catch (error) {
      throw new Error(`${program} ended with ${String(code)} and without a report:\n${output}`, {
        cause: error,
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The kernel ends by itself, a second after the editor has gone.
    for await (const note of glob(join(this.base, "state/workspaces/*/kernel.lock.pid"))) {
      const pid = Number(await readFile(note, "utf8"));
      await until("the kernel to end", () => !isAlive(pid));
    }
    await this.#folder[Symbol.asyncDispose]();
  }
}
