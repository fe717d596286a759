import type { ForeignPlaces } from "../../agent-state/foreign-places.ts";
import { type Clock, isoTime } from "../../base/clock.ts";
import { isLaresError } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import type { ProcessPrincipal } from "../../base/vocabulary/principal.ts";
import { toolFailure, type ToolResult } from "../../base/vocabulary/tool-result.ts";
import { neverAborted } from "../../base/abort.ts";
import type { MindPorts, RecalledMemory } from "../../minds/ports.ts";
import type { GuestCall, GuestCallParams, GuestCallResult } from "../../protocol/guest/v1/calls.ts";
import { memoryPlace } from "../guest/v1/foreign.ts";
import type { Memories } from "./memories.ts";
import type { AgentLink } from "./agent-link.ts";

/** The memories of minds are knowledge of their agents, so that a person finds, corrects and forgets them like any other. */
export function mindMemory(
  agents: Pick<AgentLink, "get">,
  places: Pick<ForeignPlaces, "of">,
  memories: Pick<Memories, "readable">,
  clock: Clock,
): MindPorts["memory"] {
  const ask = async <Method extends GuestCall>(
    caller: ProcessPrincipal,
    method: Method,
    params: GuestCallParams<Method>,
  ): Promise<GuestCallResult<Method>> => {
    const answer = await agents.get(caller.agent).callAs(caller, method, params, { signal: neverAborted });
    return answer as GuestCallResult<Method>;
  };
  const refused = (error: unknown): ToolResult => {
    if (isLaresError(error)) return toolFailure(error);
    throw error;
  };
  return {
    save: async (caller, { type, text, importance, about, conversation, call, sources, isTainted }) => {
      try {
        const known = await ask(caller, "memory/associative/query", {
          where: [{ field: "call", op: "eq", value: call }],
          top_k: 1,
        });
        const [first] = known.items;
        if (first !== undefined) return { status: "success", value: { memory: first.id } };
        const { id } = await ask(caller, "memory/associative/add", {
          variant: type,
          text,
          data: {
            conversation,
            call,
            // What is recalled has no time of its own.
            created: isoTime(clock.now()),
            ...(about === undefined ? {} : { about }),
            ...(sources.length === 0 ? {} : { sources: [...sources] }),
            ...(isTainted ? { tainted: true } : {}),
          },
          ...(importance === undefined ? {} : { importance }),
          source: conversation,
        });
        return { status: "success", value: { memory: id } };
      } catch (error) {
        return refused(error);
      }
    },
    recall: async (caller, query, limit) => {
      try {
        const { items } = await ask(caller, "memory/search", { text: query, limit });
        const place = memoryPlace(caller.agent);
        return items.flatMap((item) => recalled(item, Object.keys(places.of(place, [item.id]))));
      } catch (error) {
        return refused(error);
      }
    },
    find: async (agent, query, mode, limit) => {
      const memory = await memories.readable(agent, undefined);
      const { items } = await memory.search({ text: query, mode, limit }, neverAborted);
      return items.map((item) => ({
        memory: item,
        text: "text" in item && typeof item.text === "string" ? item.text : JSON.stringify(item.data),
      }));
    },
  };
}

/** `foreign`: what whoever wrote it had read. */
function recalled(item: Readonly<Record<string, unknown>>, foreign: readonly string[]): RecalledMemory[] {
  const { id, variant, text, data } = item;
  if (typeof id !== "string") return [];
  const facts = isJsonObject(data) ? data : {};
  const { about, created, sources, tainted } = facts;
  const named = Array.isArray(sources) ? sources.filter((source) => typeof source === "string") : [];
  const said = typeof text === "string" ? text : JSON.stringify(data ?? null);
  return [
    {
      id,
      type: typeof variant === "string" ? variant : "",
      text: said,
      ...(typeof about === "string" ? { about } : {}),
      created: typeof created === "string" ? created : "",
      sources: [...new Set([...named, ...foreign])],
      isTainted: tainted === true || foreign.length > 0,
    },
  ];
}
