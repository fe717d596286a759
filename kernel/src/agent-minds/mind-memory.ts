import type { Supervisor } from "../agents/lifecycle/supervisor.ts";
import { type Clock, isoTime } from "../base/clock.ts";
import { isLaresError } from "../base/errors.ts";
import { isJsonObject, type JsonValue } from "../base/json.ts";
import { type Foreign, memoryPlace } from "../base/vocabulary/foreign.ts";
import type { ProcessPrincipal } from "../base/vocabulary/principal.ts";
import { toolFailure, type ToolResult } from "../base/vocabulary/tool-result.ts";
import { neverAborted } from "../base/abort.ts";
import type { ReadableMemory } from "../memory/agent-memory.ts";
import type { Memory } from "../memory/memory.ts";
import type { MemoryKey } from "../memory/memory-key.ts";
import type { MindPorts, RecalledMemory, PresentMemory } from "../minds/ports.ts";
import type { GuestCall, GuestCallParams, GuestCallResult } from "../protocol/guest/v1/calls.ts";

/** The maximum number of memories that an answer names. */
const maxMadeFrom = 100;
/** The maximum number of lately saved memories that are read. */
const maxSince = 100;

interface AgentsOfMinds {
  /** Throws NotFound. */
  get(agent: string): Pick<Supervisor, "callAs">;
}

/** The memories of agents; undefined stands for an agent's own one. */
interface MemoriesOfAgents {
  readonly memory: Pick<Memory, "open" | "exists">;
  keyOf(agent: string, namespace: undefined): MemoryKey;
  readable(agent: string, namespace: undefined): Promise<ReadableMemory>;
}

/** The memories of minds are knowledge of their agents, so that a person finds, corrects and forgets them like any other. */
export function mindMemory(
  agents: AgentsOfMinds,
  places: { of(place: string, items: Iterable<string>): Foreign },
  memories: MemoriesOfAgents,
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
    save: async (caller, saved) => {
      const { type, text, importance, about, conversation, call, sources, isTainted, replaces = [] } = saved;
      const withoutReplaced = async (id: string): Promise<ToolResult> => {
        for (const old of replaces)
          if (old !== id)
            try {
              await ask(caller, "memory/associative/remove", { id: old });
            } catch (error) {
              // An earlier attempt has removed it.
              if (!isLaresError(error, "NotFound")) throw error;
            }
        return { status: "success", value: { memory: id } };
      };
      try {
        const known = await ask(caller, "memory/associative/query", {
          where: [{ field: "call", op: "eq", value: call }],
          top_k: 1,
        });
        const [first] = known.items;
        if (first !== undefined) return await withoutReplaced(first.id);
        const { id } = await ask(caller, "memory/associative/add", {
          variant: type,
          text,
          data: {
            conversation,
            call,
            // Recalled facts have no timestamp.
            created: isoTime(clock.now()),
            ...(about === undefined ? {} : { about }),
            ...(sources.length === 0 ? {} : { sources: [...sources] }),
            ...(isTainted ? { tainted: true } : {}),
          },
          ...(importance === undefined ? {} : { importance }),
          source: conversation,
        });
        return await withoutReplaced(id);
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
    get: async ({ agent }, ids) => {
      const memory = await memories.memory.open(memories.keyOf(agent, undefined));
      const place = memoryPlace(agent);
      const found = await Promise.all(
        ids.map(async (id) => {
          const item = await memory.writtenKnowledge(id);
          return item === null ? [] : recalled({ ...item, id }, Object.keys(places.of(place, [id])));
        }),
      );
      return found.flat();
    },
    madeFrom: async (agent, conversations, since) => {
      const memory = await memories.readable(agent, undefined);
      const { items } = await memory.queryKnowledge({
        where: [
          { field: "conversation", op: "in", value: [...conversations] },
          { field: "created", op: "gte", value: since },
        ],
        top_k: maxMadeFrom,
      });
      return items.map(({ id, variant, text, data }) => ({
        id,
        type: variant,
        text: text ?? JSON.stringify(data),
      }));
    },
    since: async (agent, time) => {
      const key = memories.keyOf(agent, undefined);
      // Opening a memory takes time, and most minds have none yet.
      if (!(await memories.memory.exists(key))) return [];
      const memory = await memories.readable(agent, undefined);
      const { items } = await memory.queryKnowledge({
        where: [
          { field: "created", op: "gte", value: time },
          // Only its mind names a call; items of its program have none.
          { field: "call", op: "gt", value: "" },
        ],
        top_k: maxSince,
      });
      const place = memoryPlace(agent);
      return items
        .filter((item) =>
          recalled({ ...item }, Object.keys(places.of(place, [item.id]))).some((each) => !each.isTainted),
        )
        .map((item) => ({ type: item.variant, ...presentOf(item) }))
        .toSorted((one, other) => ((one.created ?? "") < (other.created ?? "") ? 1 : -1));
    },
    present: async (agent, ids) => {
      const memory = await memories.memory.open(memories.keyOf(agent, undefined));
      const found = new Map<string, PresentMemory>();
      for (const id of ids) {
        const item = await memory.writtenKnowledge(id);
        if (item !== null) found.set(id, presentOf({ ...item, id }));
      }
      const missing = ids.filter((id) => !found.has(id));
      if (missing.length === 0) return found;
      const { items } = await memory.queryKnowledge({
        where: [{ field: "corrects", op: "in", value: missing }],
        top_k: missing.length,
      });
      for (const item of items)
        if (isJsonObject(item.data) && typeof item.data["corrects"] === "string")
          found.set(item.data["corrects"], presentOf(item));
      return found;
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

function presentOf({ id, text, data }: { id: string; text?: string | null; data: JsonValue }): PresentMemory {
  const { conversation, created } = isJsonObject(data) ? data : {};
  return {
    id,
    text: text ?? JSON.stringify(data),
    ...(typeof conversation === "string" ? { conversation } : {}),
    ...(typeof created === "string" ? { created } : {}),
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
