import type { Caller } from "../../agents/ports.ts";
import { isLaresError, LaresError } from "../../base/errors.ts";
import {
  bothForeign,
  type Foreign,
  isForeign,
  nothingForeign,
  typePlace,
} from "../../base/vocabulary/foreign.ts";
import type { GuestServices } from "../../protocol/guest/v1/calls.ts";
import type { typeCalls } from "../../protocol/guest/v1/types.ts";
import { pathOf } from "../../protocol/validate.ts";
import { OneAtATime } from "../../base/one-at-a-time.ts";
import { unlessAborted } from "../../base/abort.ts";
import type { ForeignPorts } from "./foreign.ts";
import type { SharedTypesOfAgents } from "./ports.ts";
import { maxWaitingCalls } from "../../base/vocabulary/bounds.ts";

export interface TypePorts {
  readonly sharedTypes: SharedTypesOfAgents;
  readonly foreign: Pick<ForeignPorts, "places">;
}

/** The guest ABI's `types/*`. */
export function typeServices({
  sharedTypes,
  foreign: { places },
}: TypePorts): Pick<GuestServices<Caller>, keyof typeof typeCalls> {
  // An agent with 64 concurrent queries gets one agent's share of the ledger.
  const queries = new OneAtATime({ limit: "waitingCalls", most: maxWaitingCalls });
  return {
    "types/create": ({ agent }, { type, value }) => withPlace(sharedTypes.create(agent, type, value)),
    "types/get": (_caller, { type, key }) => sharedTypes.get(type, key),
    "types/query": (caller, { type, ...query }) =>
      unlessAborted(
        queries.run(
          caller.agent,
          async () => {
            caller.signal.throwIfAborted();
            // A value may be replaced while the query runs: its marks at the time of reading count.
            const marks = new Map<string, Foreign>();
            return await sharedTypes.query(type, query, {
              signal: caller.signal,
              cpu: caller.cpu,
              read: (keys) => {
                for (const key of keys) {
                  const foreign = places.of(typePlace(type), [key]);
                  if (isForeign(foreign)) marks.set(key, foreign);
                }
              },
              found: (keys) =>
                caller.hear(
                  keys.map((key) => marks.get(key) ?? nothingForeign).reduce(bothForeign, nothingForeign),
                ),
            });
          },
          () => !caller.signal.aborted,
        ),
        caller.signal,
      ),
    "types/update": ({ agent }, { type, key, version, value }) =>
      withPlace(sharedTypes.update(agent, type, key, version, value)),
    "types/remove": async (_caller, { type, key, version }) => {
      await sharedTypes.remove(type, key, version);
      return {};
    },
  };
}

/** Prefixes a fault's path, as in all other errors about params. */
async function withPlace<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!isLaresError(error, "InvalidParams") || typeof error.facts["path"] !== "string") throw error;
    throw new LaresError(error.code, error.message, { path: `params.value${pathOf(error.facts["path"])}` });
  }
}
