import type { Clock } from "../../base/clock.ts";
import { isLaresError, LaresError } from "../../base/errors.ts";
import type { Permissions } from "../../base/vocabulary/permissions.ts";
import type { AgentAbilities, AgentDefinition, AgentSession } from "../ports.ts";

/** How long a guest may take over `shutdown` before it is ended. */
export const shutdownTimeoutMs = 2_000;

type Ask = (method: string, params: unknown) => Promise<unknown>;

/** What a guest is told about what it may do, at the start and at each change. */
export function permissionParams({ authority }: AgentDefinition): {
  permissions: Permissions;
  locations: string[];
} {
  return { permissions: authority.effective, locations: [...authority.locations] };
}

/** Before anything was heard of it. */
export const unknownAbilities: AgentAbilities = { maxOpenHooks: 1, jobs: new Set(), cancelsTools: false };

/**
 * From a guest that runs to one that is ready: initialize, the handlers the manifest names, startup. `heard` is told
 * what it can do before its startup, which may ask for that.
 */
export async function bootGuest(
  definition: AgentDefinition,
  ask: Ask,
  heard: (abilities: AgentAbilities) => void,
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
    cancelsTools: said["cancels_tools"] === true,
  });
  await ask("startup", {});
}

/** Asks the guest to end, and ends it when it does not. Resolves when it is gone; rejects with what its shutdown threw. */
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
        // The guest ending under the request is what was asked for.
        if (!isLaresError(error, "AgentError")) throw error;
      },
    );
    await Promise.race([asked, session.ended, deadline]);
  } finally {
    timer?.[Symbol.dispose]();
    await session.kill();
  }
}

/** The manifest's handlers must be there: found out now, not at the first event. */
function checkHandlers(definition: AgentDefinition, said: Readonly<Record<string, unknown>>): void {
  const handlers = namesIn(said["handlers"]);
  const tools = namesIn(said["tools"]);
  const missing = new Set([
    ...definition.hooks.map(({ handler }) => handler).filter((name) => !handlers.has(name)),
    ...definition.tools.map(({ handler }) => handler).filter((name) => !tools.has(name)),
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
