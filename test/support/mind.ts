import type { ExtensionSpec } from "./bench.ts";

export const MIND = "test.mind";

interface MindSpec extends Omit<ExtensionSpec, "id" | "manifest" | "program"> {
  readonly id?: string;
  readonly name?: string;
  /** Beside the use of chat models and reading. */
  readonly permissions?: Readonly<Record<string, unknown>>;
  /** Beside its identity, and the tool to read files. */
  readonly mind?: Readonly<Record<string, unknown>>;
  /** Further keys of the manifest. */
  readonly manifest?: Readonly<Record<string, unknown>>;
}

/** An agent to talk to, which reads files. */
export function mind({
  id = MIND,
  name = "A mind",
  permissions,
  mind: parts,
  manifest,
  files,
  ...more
}: MindSpec = {}): ExtensionSpec {
  return {
    ...more,
    id,
    manifest: {
      name,
      permissions: { use_models: [{ category: "chat" }], read_entries: true, ...permissions },
      mind: { identity: ["SOUL.md"], tools: ["files/*"], direct_tools: ["files/read"], ...parts },
      ...manifest,
    },
    files: { "SOUL.md": "I am calm.", ...files },
  };
}

/** An agent to talk to, which reads files and proposes to write them. */
export function writingMind(spec: MindSpec = {}): ExtensionSpec {
  return mind({
    ...spec,
    permissions: { propose_actions: ["file.write"], ...spec.permissions },
    mind: { direct_tools: ["files/read", "files/write"], ...spec.mind },
  });
}
