import type { Clock } from "../../base/clock.ts";
import { isLaresError, LaresError } from "../../base/errors.ts";
import { sourceOfModel } from "../../base/vocabulary/declared-model.ts";
import type { Permissions } from "../../base/vocabulary/permissions.ts";
import { inferring } from "../../policy/outside.ts";
import type { AgentAbilities, AgentDefinition, AgentSession, SupervisorPorts } from "../ports.ts";

/** Maximum time for a guest's `shutdown` before it is ended. */
export const shutdownTimeoutMs = 2_000;

type Ask = (method: string, params: unknown) => Promise<unknown>;

/** A guest's permissions and models, sent at the start and at each change. */
export function permissionParams({ authority, models = [] }: AgentDefinition): {
  permissions: Permissions;
  locations: string[];
  models: { name: string; version?: string; sha256: string }[];
} {
  return {
    permissions: authority.effective,
    locations: [...authority.locations],
    models: models.flatMap((model) => {
      const source = sourceOfModel(model);
      if ("lacks" in source || inferring(authority, { model: model.name }) !== null) return [];
      const { version } = model;
      return [{ name: model.name, ...(version === undefined ? {} : { version }), sha256: source.sha256 }];
    }),
  };
}

/** Capabilities before the guest has reported any. */
export const unknownAbilities: AgentAbilities = {
  maxOpenHooks: 1,
  jobs: new Set(),
  tasks: new Set(),
  cancelsTools: false,
};

/**
 * Makes a running guest ready: initialize, check of the manifest's handlers, its types, startup. Passes the capabilities to
 * `heard` before startup, which may already use them.
 */
export async function bootGuest(
  definition: AgentDefinition,
  ask: Ask,
  heard: (abilities: AgentAbilities) => void,
  adoptTypes?: SupervisorPorts["adoptTypes"],
): Promise<void> {
  const answer = await ask("initialize", {
    abi: 1,
    extension: { id: definition.id, version: definition.version },
    config: definition.config,
    ...permissionParams(definition),
    limits: definition.limits,
  });
  const said = (typeof answer === "object" && answer !== null ? answer : {}) as Record<string, unknown>;
  checkHandlers(definition, said);
  const openHooks = said["max_open_hooks"];
  heard({
    maxOpenHooks: typeof openHooks === "number" && openHooks >= 1 ? openHooks : 1,
    jobs: namesIn(said["jobs"]),
    tasks: namesIn(said["tasks"]),
    cancelsTools: said["cancels_tools"] === true,
  });
  if (definition.types !== undefined)
    await adoptTypes?.(definition, namesIn(said["migrations"]), (values) => ask("migrate", values));
  await ask("startup", {});
}

/**
 * Asks the guest to end, and ends it if it does not. Resolves when it is gone; rejects with the error of its
 * shutdown.
 */
export async function endGuest(session: AgentSession, clock: Clock): Promise<void> {
  let timer: Disposable | undefined;
  const deadline = new Promise<void>((_resolve, reject) => {
    const message = `it was still there ${shutdownTimeoutMs} ms after it was told to shut down, and was ended.`;
    timer = clock.timer(shutdownTimeoutMs, () => reject(new LaresError("AgentError", message)));
  });
  try {
    const asked = session.request("shutdown", {}).then(
      () => session.ended,
      (error: unknown) => {
        // If the guest ends during the request, the request succeeded.
        if (!isLaresError(error, "AgentError")) throw error;
      },
    );
    await Promise.race([asked, session.ended, deadline]);
  } finally {
    timer?.[Symbol.dispose]();
    await session.kill();
  }
}

/** Checks that the manifest's handlers exist, now rather than at the first event. */
function checkHandlers(definition: AgentDefinition, said: Readonly<Record<string, unknown>>): void {
  const handlers = namesIn(said["handlers"]);
  const tools = namesIn(said["tools"]);
  const actions = namesIn(said["actions"]);
  const missing = new Set([
    // A prompt goes to the mind.
    ...definition.hooks
      .filter(({ prompt }) => prompt === undefined)
      .map(({ handler }) => handler)
      .filter((name) => !handlers.has(name)),
    ...definition.tools.map(({ handler }) => handler).filter((name) => !tools.has(name)),
    ...(definition.commands ?? [])
      .flatMap(({ runs }) => ("handler" in runs ? [runs.handler] : []))
      .filter((name) => !tools.has(`command:${name}`)),
    ...(definition.actions ?? []).map(({ handler }) => handler).filter((name) => !actions.has(name)),
  ]);
  if (missing.size === 0) return;
  const names = [...missing].map((name) => `"${name}"`).join(", ");
  throw new LaresError(
    "InvalidDocument",
    `The program exports no handler ${names}, which the manifest names.`,
    {
      handlers: [...missing],
    },
  );
}

function namesIn(value: unknown): Set<string> {
  return new Set(
    Array.isArray(value) ? value.filter((name): name is string => typeof name === "string") : [],
  );
}
