import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { installNested, languageModelRuntime } from "../../kernel/build/nested-package.ts";
import { installBuilt } from "./installed.ts";

/**
 * A mind that a model of 135 million parameters can use: one tool of its own and a short prompt. Such a model calls no
 * tool because of a description, but it continues what it sees: the first call of the conversation comes from a script,
 * as from a larger model with which the person began, and from then on the small model calls by itself.
 */
export const reader = {
  agent: "com.example.reader",
  files: {
    "notes.md": "Buy milk.\n",
    "readme.md": "A garden with a pear tree.\n",
    "plan.txt": "Go north.\n",
    "todo.md": "Call Ann.\n",
    "notes/walks.md": "Along the river.\n",
  },
  manifest: {
    extension: {
      id: "com.example.reader",
      name: "Reader",
      version: "1.0.0",
      permissions: { use_models: [{ category: "chat" }], read_entries: true },
      mind: {
        identity: ["SOUL.md"],
        prompts: { channel: "channel.md" },
        tools: ["files/read"],
        direct_tools: ["files/read"],
      },
    },
  },
  prompts: {
    "SOUL.md": "You are Reader, a helpful assistant. You answer in one or two short sentences.\n",
    "channel.md": "The person asks about files. To see a file, call files_read with its path.\n",
  },
  first: "Read notes.md",
  /** The messages after the first one, to the small model. */
  turns: [
    "Read readme.md",
    "Read todo.md",
    "Please read the file plan.txt",
    "What is in notes/walks.md?",
    "Hello! Who are you?",
    "What is the capital of France?",
    "Tell me a long story about a river and the people who live there.",
    "Read readme.md",
    "Thank you.",
    "Good bye!",
  ],
} as const;

/** The models of the person's own document. The window is small, so that ten turns do not fit. */
export function smallModels(path: string, contextTokens: number): Readonly<Record<string, string>> {
  return {
    "lares.yaml": JSON.stringify({
      version: 1,
      models: {
        providers: {
          local: { api: "llama", temperature: 0, context_tokens: contextTokens, models: { smol: { path } } },
          example: { api: "scripted", script: "./example.yaml" },
        },
        routes: { default: "local/smol" },
      },
    }),
    "example.yaml": JSON.stringify({
      turns: [
        { when: reader.first, call: [{ tool: "files/read", arguments: { path: "notes.md" } }] },
        { when: "Buy milk", say: "It says: Buy milk." },
      ],
    }),
  };
}

/**
 * Installs `lares` as npm does, with node-llama-cpp beside it, which a checkout has not. Returns the executable.
 */
export async function installWithLlama(folder: string): Promise<string> {
  const resolve = installNested(languageModelRuntime);
  await mkdir(folder, { recursive: true });
  const executable = installBuilt(folder);
  const from = dirname(dirname(resolve("node-llama-cpp")));
  await symlink(from, join(folder, "node_modules", "node-llama-cpp"), "junction");
  return executable;
}

export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}
