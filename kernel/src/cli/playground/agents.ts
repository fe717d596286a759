import { isJsonObject } from "../../base/json.ts";
import { parseDocument } from "../../documents/text/parse.ts";
import type { Tried } from "./tried.ts";

/**
 * Returns the manifest of the agent that runs what is typed: the template's, and the right to hear the events and to use the
 * types of the extension that is tried.
 */
export function playgroundManifest(template: string, tried: Tried | null): string {
  if (tried === null || tried.id === "") return template;
  const parsed = parseDocument(template, "yaml").value;
  const extension = isJsonObject(parsed) && isJsonObject(parsed["extension"]) ? parsed["extension"] : {};
  const permissions = isJsonObject(extension["permissions"]) ? extension["permissions"] : {};
  const hooks = Array.isArray(extension["hooks"]) ? (extension["hooks"] as unknown[]) : [];
  const all = [`${tried.id}/*`];
  // JSON is YAML.
  return JSON.stringify({
    extension: {
      ...extension,
      permissions: { ...permissions, hear_events: all, shared_types: { read: all, write: all } },
      hooks: [...hooks, ...tried.events.map((event) => ({ on: `${tried.id}/${event}`, handler: "heard" }))],
    },
  });
}

/** Returns the files of an agent that emits what it is given, in place of an extension that is not there. */
export function publisherFiles(id: string, events: readonly string[]): Readonly<Record<string, string>> {
  const extension = {
    id,
    name: id,
    version: "0.0.0",
    description: "Stands for an extension whose events are heard",
    main: "agent.ts",
    permissions: { emit_events: events },
    tools: [{ name: "emit", description: "Emits an event", handler: "emit", parameters: { type: "object" } }],
  };
  const program = `import { defineAgent } from "@lares/sdk";
export default defineAgent<any>({
  tools: {
    async emit({ name, data }, ctx) {
      await ctx.events.emit(name, data);
    },
  },
});
`;
  return { "extension.yaml": JSON.stringify({ extension }), "agent.ts": program };
}
