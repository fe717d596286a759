import type { Caller } from "../../agents/ports.ts";
import type { Effect, EffectInput } from "../../base/vocabulary/action.ts";
import {
  actionPlace,
  bothForeign,
  type Foreign,
  foreignFrom,
  memoryPlace,
  nothingForeign,
  planPlace,
  typePlace,
} from "../../base/vocabulary/foreign.ts";
import type { Entry } from "../../base/vocabulary/entry.ts";
import { foreignInSaved } from "../../memory/saved-by-minds.ts";
import type { GuestMethod, GuestMethodParams, GuestServices } from "../../protocol/guest/v1/calls.ts";
import type { MarkedPlaces } from "./ports.ts";

export interface ForeignPorts {
  readonly places: MarkedPlaces;
  /** Returns what the present content of a file holds of texts that nobody vouches for. */
  ofFile(path: string): Promise<Foreign>;
  /** Returns what the names, tags and fields of entries hold of them. */
  ofEntries(entries: readonly (Pick<Entry, "path"> & Partial<Entry>)[]): Promise<Foreign>;
  /** Returns what a sidecar holds of them. */
  ofSidecar(path: string, data: unknown): Promise<Foreign>;
  /** Returns what effects show of files as they were, by differences, sizes and hashes. */
  ofEffects(effects: ShownAction["effects"]): Promise<Foreign>;
  /** Returns what led to an action, and what its agent had read: its title, reason and contents may hold it. */
  ofAction(id: string): Promise<Foreign>;
  /** Returns what records of another workspace's memory hold of them, or all of it; null for one of this workspace. */
  ofImported(namespace: string, items: readonly string[] | "plan" | "all"): Foreign | null;
  /** Returns what an item of an agent's own memory says of them in its data, which its program may change. */
  ofSaved(agent: string, item: string): Promise<Foreign>;
  /** Returns the key of a value of a shared type; null if it has none. Rejects as reading the type does. */
  keyOfValue(type: string, value: unknown): Promise<string | null>;
  /** Returns what the answers of a model hold of them. */
  ofModel(model: string): Foreign;
}

/** The part of an action that may show files. */
export interface ShownAction {
  readonly id: string;
  readonly effects: readonly Pick<Effect, "kind" | "path" | "from" | "before" | "after">[];
}

/** Every call of a memory may name a shared one. */
interface Named {
  readonly namespace?: string;
}

/** Returns the paths of files whose contents an effect is about. */
function pathsIn(effect: EffectInput): string[] {
  return "from" in effect ? [effect.from, effect.to] : [effect.path];
}

function dataOf(item: object): unknown {
  return "data" in item ? item.data : undefined;
}

type Around<Method extends GuestMethod> = (
  caller: Caller,
  params: GuestMethodParams<Method>,
  run: () => ReturnType<GuestServices<Caller>[Method]>,
) => ReturnType<GuestServices<Caller>[Method]>;

/** It keeps nothing that an agent can read again, or what it keeps is marked by the service, and its answer holds no text. */
const nothingToFollow = null;

/**
 * Follows texts that nobody vouches for through what agents keep, and to what they read: whoever reads a place where such
 * a text was written has read the text. Every call has its line here. Jobs and events carry their marks themselves, and
 * stored outcomes of tools too.
 */
export function followForeign(services: GuestServices<Caller>, ports: ForeignPorts): GuestServices<Caller> {
  const { places } = ports;
  const memoryOf = ({ agent }: Caller, { namespace }: Named): string => memoryPlace(agent, namespace);
  const idOf = ({ id }: { readonly id: string }): string => id;
  const planOf = (caller: Caller, params: Named): string => planPlace(memoryOf(caller, params));
  const sharedOf = ({ key }: { readonly key: string }): string => `shared ${key}`;
  const imported = ({ namespace }: Named, read: Parameters<ForeignPorts["ofImported"]>[1]): Foreign | null =>
    namespace === undefined ? null : ports.ofImported(namespace, read);
  /** A process of a mind reads files by tools, which know what of them is shown. */
  const reading =
    <Params, Result>(foreignIn: (params: Params, result: Result) => Promise<Foreign>) =>
    async (caller: Caller, params: Params, run: () => Promise<Result>): Promise<Result> => {
      const result = await run();
      if (caller.process === undefined) caller.hear(await foreignIn(params, result));
      return result;
    };
  /** An action shows the files that it changes. */
  const shownBy = async ({ id, effects }: ShownAction): Promise<Foreign> =>
    bothForeign(await ports.ofAction(id), await ports.ofEffects(effects));
  const told = async <Result extends ShownAction>(
    caller: Caller,
    _params: unknown,
    run: () => Promise<Result>,
  ): Promise<Result> => {
    const result = await run();
    if (caller.process === undefined) caller.hear(await shownBy(result));
    return result;
  };
  /** A refusal may say how often a text stands in a file. */
  const planned = async <Result extends ShownAction>(
    caller: Caller,
    { effects }: { readonly effects: readonly EffectInput[] },
    run: () => Promise<Result>,
  ): Promise<Result> => {
    try {
      return await told(caller, {}, run);
    } catch (error) {
      if (caller.process === undefined)
        for (const path of effects.flatMap(pathsIn)) caller.hear(await ports.ofFile(path));
      throw error;
    }
  };
  const items = async <Result extends { readonly items: readonly { readonly id: string }[] }>(
    caller: Caller,
    params: Named,
    run: () => Promise<Result>,
  ): Promise<Result> => {
    const result = await run();
    const ids = result.items.map(idOf);
    caller.hear(imported(params, ids) ?? places.of(memoryOf(caller, params), ids));
    if (params.namespace === undefined)
      for (const item of result.items) caller.hear(foreignInSaved(dataOf(item)));
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

  const followed: { readonly [Method in GuestMethod]: Around<Method> | null } = {
    "vdfs/query": reading((_params, { items: entries }) => ports.ofEntries(entries as readonly Entry[])),
    // A number of entries that fit the caller's own words: no name of theirs, and nothing of a file.
    "vdfs/count": nothingToFollow,
    "vdfs/get": reading((_params, entry) => ports.ofEntries(entry === null ? [] : [entry as Entry])),
    "vdfs/read": reading(({ path }) => ports.ofFile(path)),
    // A picture may show a text.
    "vdfs/thumbnail": reading(({ path }) => ports.ofFile(path)),
    "vdfs/sidecar/read": reading(async ({ path }, sidecar) =>
      sidecar === null ? {} : await ports.ofSidecar(path, sidecar.data),
    ),
    "vdfs/copies": reading((_params, { paths }) => ports.ofEntries(paths.map((path) => ({ path })))),
    "memory/working/swap": (caller, params, run) =>
      places.replacing(planOf(caller, params), caller.foreign, run),
    "memory/working/read": async (caller, params, run) => {
      const result = await run();
      caller.hear(imported(params, "plan") ?? places.ofAll(planOf(caller, params)));
      return result;
    },
    "memory/temporal/append": add,
    "memory/associative/add": add,
    "memory/associative/update": async (caller, params, run) => {
      // Its data may be the only place of the mark, and is replaced.
      const isReplaced = params.data !== undefined && params.namespace === undefined;
      const said = isReplaced ? await ports.ofSaved(caller.agent, params.id) : nothingForeign;
      const foreign = bothForeign(caller.foreign, said);
      return await places.adding(memoryOf(caller, params), foreign, run, () => params.id);
    },
    "memory/associative/relate": (caller, params, run) => change(caller, { ...params, id: params.from }, run),
    "memory/associative/remove": nothingToFollow,
    "memory/temporal/query": items,
    "memory/associative/query": items,
    "memory/search": items,
    "memory/temporal/count": async (caller, params, run) => {
      const result = await run();
      caller.hear(imported(params, "all") ?? places.ofAll(memoryOf(caller, params)));
      return result;
    },
    "memory/sync": nothingToFollow,
    "memory/cleanup": nothingToFollow,
    "shared/write": (caller, params, run) => places.replacing(sharedOf(params), caller.foreign, run),
    "shared/read": async (caller, params, run) => {
      const result = await run();
      caller.hear(places.ofAll(sharedOf(params)));
      return result;
    },
    "types/create": async (caller, params, run) => {
      const key = await ports.keyOfValue(params.type, params.value);
      return await places.replacing(typePlace(params.type), caller.foreign, run, key ?? undefined);
    },
    "types/update": (caller, params, run) =>
      places.replacing(typePlace(params.type), caller.foreign, run, params.key),
    "types/remove": (_caller, params, run) =>
      places.replacing(typePlace(params.type), nothingForeign, run, params.key),
    "types/get": async (caller, params, run) => {
      const result = await run();
      caller.hear(places.of(typePlace(params.type), [params.key]));
      return result;
    },
    // The service records what the caller reads, because only it knows the keys.
    "types/query": nothingToFollow,
    "actions/preview": planned,
    // An action names its sources, but not what concerns only minds. A key may answer an earlier action.
    "actions/propose": (caller, params, run) =>
      planned(caller, params, () => places.adding(actionPlace(caller.agent), caller.foreign, run, idOf)),
    "actions/get": told,
    "actions/settled": told,
    // Its reason is the kernel's own, so it passes on no text of the caller.
    "actions/withdraw": told,
    "agents/list": nothingToFollow,
    "jobs/dispatch": nothingToFollow,
    // Results are stored with their marks.
    "jobs/task": nothingToFollow,
    "jobs/checkpoint": nothingToFollow,
    "jobs/progress": nothingToFollow,
    "events/emit": nothingToFollow,
    // The registry tells the caller what the tool's agent has read.
    "tools/call": async (caller, _params, run) => {
      const result = await run();
      if (result.status === "needs_approval") caller.hear(await shownBy(result.action));
      return result;
    },
    "tools/progress": nothingToFollow,
    "http/fetch": async (caller, _params, run) => {
      const result = await run();
      // It does not restrict what a person lets an agent do by itself, only what the agent does for minds.
      caller.hear(foreignFrom([`agent:${caller.agent}`], "minds"));
      return result;
    },
    "ai/generate": async (caller, _params, run) => {
      const result = await run();
      caller.hear(ports.ofModel(result.model));
      return result;
    },
    "ai/embed": nothingToFollow,
    // Numbers, from a model that is part of the extension.
    "ai/infer": nothingToFollow,
    "ai/models": nothingToFollow,
    "credentials/get": nothingToFollow,
    // They end with the guest.
    "blobs/write": nothingToFollow,
    "blobs/read": nothingToFollow,
    // Only people read them.
    notify: nothingToFollow,
    trace: nothingToFollow,
  };
  const wrapped = Object.entries(followed).flatMap(([name, around]) => {
    if (around === null) return [];
    const method = name as GuestMethod;
    const follow = around as (caller: Caller, params: unknown, run: () => unknown) => unknown;
    const serve = services[method] as (caller: Caller, params: unknown) => unknown;
    return [
      [
        name,
        (caller: Caller, params: unknown) => follow(caller, params, () => serve(caller, params)),
      ] as const,
    ];
  });
  return { ...services, ...(Object.fromEntries(wrapped) as Partial<GuestServices<Caller>>) };
}
