import type { ForeignPlaces } from "../../agent-state/foreign-places.ts";
import type { SupervisorPorts } from "../../agents/ports.ts";
import type { AgentRoster } from "../../agents/lifecycle/roster.ts";
import type { Clock } from "../../base/clock.ts";
import { LaresError } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import { isForeign, typePlace } from "../../base/vocabulary/foreign.ts";
import { Slices } from "../../base/slices.ts";
import type { Database } from "../../platform/database/database.ts";
import type { TypeService } from "../../services/types.ts";
import { sharedTypeBounds } from "../../shared-types/bounds.ts";
import { ownerOf } from "../../shared-types/adoption.ts";
import type { Migrate, SharedTypePorts } from "../../shared-types/ports.ts";
import { SharedTypes } from "../../shared-types/shared-types.ts";
import type { KernelContext } from "./kernel-context.ts";
import type { KernelTools } from "../../tools/open-tools.ts";

/** How long queries may hold the event loop at once. Milliseconds. */
const querySliceMs = 5;

interface SharedTypeParts {
  readonly database: Database;
  readonly agents: Pick<AgentRoster, "find" | "get">;
  readonly tools: Pick<KernelTools, "verdictOfAll">;
  readonly places: Pick<ForeignPlaces, "of" | "mark">;
}

export interface OpenedSharedTypes {
  readonly sharedTypes: SharedTypes;
  /** Its description for clients. */
  readonly service: TypeService;
  readonly adoptTypes: NonNullable<SupervisorPorts["adoptTypes"]>;
}

/** Opens the values of types that extensions declare. */
export function openSharedTypes(
  { clock }: Pick<KernelContext, "clock">,
  { database, agents, tools, places }: SharedTypeParts,
): OpenedSharedTypes {
  const sharedTypes = new SharedTypes(database, new Slices(clock, querySliceMs), {
    declared: (extension, name) => {
      const definition = agents.find(extension)?.definition;
      // Nobody has accepted what it declares.
      if (definition === undefined || definition.awaiting !== undefined) return null;
      return definition.types?.find((type) => type.name === name) ?? null;
    },
    misfitAmong: misfitBy(tools),
    foreign: {
      isMarked: (type, key) => isForeign(places.of(typePlace(type), [key])),
      reading: (type, keys) => agents.get(ownerOf(type)).hear(places.of(typePlace(type), keys)),
      mark: (type, keys, foreign) => places.mark(typePlace(type), keys, foreign),
    },
    wake: (extension) => agents.get(extension).awaken(),
  });
  return {
    sharedTypes,
    service: {
      list: async () =>
        (await sharedTypes.list()).map(({ type, version, key, schema, count, characters }) => ({
          type,
          version,
          key,
          schema: JSON.parse(schema) as Record<string, unknown>,
          count,
          characters,
        })),
      values: (type, cursor) => sharedTypes.stored(type, cursor),
    },
    adoptTypes: async ({ id, types = [] }, migrations, ask) => {
      const migrate: Migrate = (type, from, values) => migrated(clock, ask({ type, from, values }));
      await sharedTypes.adopt(id, types, (name) => (migrations.has(name) ? migrate : null));
    },
  };
}

function misfitBy({ verdictOfAll }: Pick<KernelTools, "verdictOfAll">): SharedTypePorts["misfitAmong"] {
  return async (caller, type, schema, values) => {
    const verdict = await verdictOfAll(caller, type, schema, values);
    switch (verdict.kind) {
      case "fits":
        return null;
      case "unfit": {
        const { index = 0, path, message } = verdict;
        return { kind: "unfit", index, path, message };
      }
      case "bad schema":
        return { kind: "unchecked", message: `its schema is not a valid JSON Schema: ${verdict.message}` };
      case "slow":
        return { kind: "unchecked", message: verdict.message };
    }
  };
}

/** Returns the values of a guest's answer. Rejects after a time limit. */
async function migrated(clock: Clock, answering: Promise<unknown>): Promise<readonly unknown[]> {
  const { migrateMs } = sharedTypeBounds;
  const late = Promise.withResolvers<never>();
  // Keeps a late rejection from being reported as unhandled.
  answering.catch(() => undefined);
  using _timer = clock.timer(migrateMs, () =>
    late.reject(new LaresError("ToolError", `it did not answer within ${migrateMs} ms`)),
  );
  const answer = await Promise.race([answering, late.promise]);
  const values = isJsonObject(answer) ? answer["values"] : undefined;
  if (Array.isArray(values)) return values;
  throw new LaresError("ToolError", "it did not answer with { values }");
}
