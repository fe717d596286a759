import { type Client } from "./client.ts";
import { tool, type ExtensionSpec, type Grants } from "./bench.ts";
import { until } from "./until.ts";

/** An extension that reads everything, and whose handler `seen` is called for each new file. */
export function watchesFiles(id: string, program: string): ExtensionSpec {
  return {
    id,
    program,
    manifest: {
      permissions: { read_entries: true },
      hooks: [{ on: "EntryCreated", filter: 'entry.kind == "file"', handler: "seen" }],
    },
  };
}

/**
 * An agent that does what a test tells it: its tool `ctx` calls any method of the context by its path and answers `{
 * value }` or `{ error }`. Its hooks store every event in working memory, in order, with their own name as `via`, which
 * distinguishes hooks with different filters.
 */
export const PROBE_PROGRAM = `
import { defineAgent } from "@lares/sdk";

const plain = (value) => (value instanceof Uint8Array ? { bytes: [...value] } : value ?? null);

export default defineAgent({
  memory: { plan: { events: [], permissionChanges: 0 } },
  async onPermissionChange(ctx) {
    await ctx.memory.plan.update((plan) => ({ ...plan, permissionChanges: plan.permissionChanges + 1 }));
  },
  hooks: Object.fromEntries(["record", "first", "second", "third", "fourth", "fifth", "sixth"].map((via) => [
    via,
    async (event, ctx) => {
      await ctx.memory.plan.update((plan) => { plan.events.push({ ...event, via }); return plan; });
    },
  ])),
  tools: {
    async ctx({ path, arguments: args = [] }, ctx) {
      try {
        let owner = ctx;
        for (const name of path.slice(0, -1)) owner = owner[name];
        return { value: plain(await owner[path.at(-1)](...args)) };
      } catch (error) {
        return { error: { name: error.name, code: error.code, message: String(error.message), data: error.facts ?? error.data ?? null } };
      }
    },
    async seen(_, ctx) { return await ctx.memory.plan.read(); },
  },
});
`;

const anything = { type: "object" };

/** All permissions that this suite uses. */
export const ALL_PERMISSIONS: Record<string, unknown> = {
  read_entries: true,
  write_sidecars: { kinds: ["faces"] },
  write_tags: true,
  write_custom_fields: { namespace: "probe" },
  propose_actions: ["file.write", "file.edit", "file.move", "file.delete", "folder.create"],
};

interface ProbeSpec {
  readonly id: string;
  readonly permissions?: Record<string, unknown>;
  readonly hooks?: readonly Record<string, unknown>[];
  readonly agent?: Record<string, unknown>;
  readonly grants?: Grants;
  readonly manifest?: Record<string, unknown>;
}

/** The probe as an extension; without `permissions` it requests all of them. */
export function probe(spec: ProbeSpec): ExtensionSpec {
  return {
    id: spec.id,
    program: PROBE_PROGRAM,
    ...(spec.grants === undefined ? {} : { grants: spec.grants }),
    manifest: {
      permissions: spec.permissions ?? ALL_PERMISSIONS,
      hooks: spec.hooks ?? [],
      tools: ["ctx", "seen"].map((name) => ({
        name,
        description: name,
        handler: name,
        parameters: anything,
      })),
      ...(spec.agent === undefined ? {} : { agent: spec.agent }),
      ...spec.manifest,
    },
  };
}

export interface HostError {
  name: string;
  code: string;
  message: string;
  data: Record<string, unknown> | null;
}
export type Outcome = { value?: unknown; error?: HostError };

/** Calls a method of the probe's context, for instance `host(client, id, "vdfs.count", {})`. */
export function host(client: Client, id: string, path: string, ...args: unknown[]): Promise<Outcome> {
  return tool<Outcome>(client, id, "ctx", { path: path.split("."), arguments: args });
}

/** The same for a call that has to succeed. */
export async function call<Value>(
  client: Client,
  id: string,
  path: string,
  ...args: unknown[]
): Promise<Value> {
  const outcome = await host(client, id, path, ...args);
  if (outcome.error !== undefined) throw new Error(`${path}: ${outcome.error.code} ${outcome.error.message}`);
  return outcome.value as Value;
}

export type SeenEvent = {
  name: string;
  via: string;
  id: string;
  timestamp: string;
  [field: string]: unknown;
};

/** Returns the events the probe's hook has handled so far, in order. */
export async function events(client: Client, id: string): Promise<SeenEvent[]> {
  return (await tool<{ events: SeenEvent[] }>(client, id, "seen")).events;
}

/** Waits until the probe has handled an event that `matches`. */
export function event(
  client: Client,
  id: string,
  what: string,
  matches: (event: SeenEvent) => boolean,
): Promise<SeenEvent> {
  return until(`${id} to handle ${what}`, async () => (await events(client, id)).find(matches));
}
