import type { ForeignPlaces } from "../../../agent-state/foreign-places.ts";
import type { Caller } from "../../../agents/ports.ts";
import { type Foreign, foreignFrom } from "../../../base/vocabulary/foreign.ts";
import type { GuestMethod, GuestMethodParams, GuestServices } from "../../../protocol/guest/v1/calls.ts";

export interface ForeignPorts {
  readonly places: ForeignPlaces;
  /** Returns what the present content of a file holds of texts that nobody vouches for. */
  ofFile(path: string): Promise<Foreign>;
  /** Returns what an agent's guest has read. */
  ofAgent(agent: string): Foreign;
}

/** The place of a memory: the agent's own, or a shared one by its name. */
export const memoryPlace = (agent: string, namespace = `extension/${agent}`): string => `memory ${namespace}`;

/** Every call of a memory may name a shared one. */
interface Named {
  readonly namespace?: string;
}

type Around<Method extends GuestMethod> = (
  caller: Caller,
  params: GuestMethodParams<Method>,
  run: () => ReturnType<GuestServices<Caller>[Method]>,
) => ReturnType<GuestServices<Caller>[Method]>;

/**
 * Follows texts that nobody vouches for through what agents keep, and to what they read: whoever reads a place where such
 * a text was written has read the text. The only place that does so; the services know nothing of it.
 */
export function followForeign(services: GuestServices<Caller>, ports: ForeignPorts): GuestServices<Caller> {
  const { places } = ports;
  const memoryOf = ({ agent }: Caller, { namespace }: Named): string => memoryPlace(agent, namespace);
  const idOf = ({ id }: { readonly id: string }): string => id;
  const planOf = (caller: Caller, params: Named): string => `plan of ${memoryOf(caller, params)}`;
  const sharedOf = ({ key }: { readonly key: string }): string => `shared ${key}`;
  const file = async <Result>(
    caller: Caller,
    { path }: { readonly path: string },
    run: () => Promise<Result>,
  ) => {
    const result = await run();
    if (caller.process === undefined) caller.hear(await ports.ofFile(path));
    return result;
  };
  const items = async <Result extends { readonly items: readonly { readonly id: string }[] }>(
    caller: Caller,
    params: Named,
    run: () => Promise<Result>,
  ): Promise<Result> => {
    const result = await run();
    caller.hear(places.of(memoryOf(caller, params), result.items.map(idOf)));
    return result;
  };
  const add = <Result extends { readonly id: string }>(
    caller: Caller,
    params: Named,
    run: () => Promise<Result>,
  ): Promise<Result> => places.adding(memoryOf(caller, params), caller.foreign, run, idOf);
  const change = <Result>(
    caller: Caller,
    params: Named & { readonly id: string },
    run: () => Promise<Result>,
  ): Promise<Result> => places.adding(memoryOf(caller, params), caller.foreign, run, () => params.id);

  const followed: { readonly [Method in GuestMethod]?: Around<Method> } = {
    "memory/working/swap": (caller, params, run) =>
      places.replacing(planOf(caller, params), caller.foreign, run),
    "memory/working/read": async (caller, params, run) => {
      const result = await run();
      caller.hear(places.ofAll(planOf(caller, params)));
      return result;
    },
    "memory/temporal/append": add,
    "memory/associative/add": add,
    "memory/associative/update": change,
    "memory/associative/relate": (caller, params, run) => change(caller, { ...params, id: params.from }, run),
    "memory/temporal/query": items,
    "memory/associative/query": items,
    "memory/search": items,
    "memory/temporal/count": async (caller, params, run) => {
      const result = await run();
      caller.hear(places.ofAll(memoryOf(caller, params)));
      return result;
    },
    "shared/write": (caller, params, run) => places.replacing(sharedOf(params), caller.foreign, run),
    "shared/read": async (caller, params, run) => {
      const result = await run();
      caller.hear(places.ofAll(sharedOf(params)));
      return result;
    },
    "vdfs/read": file,
    "vdfs/sidecar/read": file,
    "tools/call": async (caller, params, run) => {
      const result = await run();
      caller.hear(ports.ofAgent(params.agent));
      return result;
    },
    "http/fetch": async (caller, _params, run) => {
      const result = await run();
      // It does not restrict what a person lets an agent do by itself, only what the agent does for minds.
      caller.hear(foreignFrom([`agent:${caller.agent}`], "minds"));
      return result;
    },
  };
  const wrapped = Object.entries(followed).map(([name, around]) => {
    const method = name as GuestMethod;
    const follow = around as (caller: Caller, params: unknown, run: () => unknown) => unknown;
    const serve = services[method] as (caller: Caller, params: unknown) => unknown;
    return [name, (caller: Caller, params: unknown) => follow(caller, params, () => serve(caller, params))];
  });
  return { ...services, ...(Object.fromEntries(wrapped) as Partial<GuestServices<Caller>>) };
}
