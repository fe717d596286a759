import type { Actions } from "../../actions/api.ts";
import type { ForeignPlaces } from "../../agent-state/foreign-places.ts";
import type { EffectKind } from "../../base/vocabulary/action.ts";
import { isJsonObject } from "../../base/json.ts";
import {
  actionPlace,
  bothForeign,
  type Foreign,
  foreignFrom,
  nothingForeign,
} from "../../base/vocabulary/foreign.ts";
import type { LaresEvent } from "../../base/vocabulary/event.ts";
import type { TaintedContents } from "../../conversations/tainted-contents.ts";
import { maxIdLength } from "../../memory-contract/records.ts";
import { foreignInSaved } from "../../memory/saved-by-minds.ts";
import { canonicalPath } from "../../policy/paths.ts";
import type { SharedTypes } from "../../shared-types/shared-types.ts";
import type { Workspace } from "../../workspace/ports.ts";
import type { ForeignPorts, ShownAction } from "../../guests/v1/foreign.ts";
import type { KernelModels } from "../../outside/open-models.ts";
import type { Memories } from "./memories.ts";

interface ForeignParts {
  readonly workspace: Pick<Workspace, "get">;
  readonly actions: Pick<Actions, "get">;
  readonly models: Pick<KernelModels, "isScripted">;
  readonly memories: Pick<Memories, "foreignImported" | "memory" | "keyOf">;
  readonly sharedTypes: Pick<SharedTypes, "keyOfValue">;
  readonly tainted: TaintedContents;
  readonly places: ForeignPlaces;
}

export interface OpenedForeign extends ForeignPorts {
  /** Returns what an event of the kernel holds of texts that nobody vouches for. */
  ofEvent(event: LaresEvent): Promise<Foreign>;
}

/** Returns where guests meet texts that nobody vouches for. */
export function openForeign(parts: ForeignParts): OpenedForeign {
  const { workspace, actions, models, memories, sharedTypes, tainted, places } = parts;
  // A person may let an agent work on such files by itself.
  const untrustedAmong = async (paths: readonly string[]): Promise<Foreign> =>
    foreignFrom(await tainted.ofPlaces(paths), "minds");
  const ofAction: ForeignPorts["ofAction"] = async (id) => {
    const action = await actions.get(id);
    if (action === null) return nothingForeign;
    const { agent, sources = [] } = action;
    return bothForeign(foreignFrom(sources, "all"), places.of(actionPlace(agent), [id]));
  };
  const ofEntries: ForeignPorts["ofEntries"] = async (entries) =>
    bothForeign(
      await untrustedAmong(entries.map(({ path }) => path)),
      foreignFrom(await tainted.ofValues(() => entries.flatMap(valuesOf)), "all"),
    );
  return {
    places,
    ofAction,
    ofEffects: (effects) => foreignInEffects(tainted, effects),
    ofEntries,
    ofSidecar: async (path, data) =>
      bothForeign(await untrustedAmong([path]), foreignFrom(await tainted.ofValues(() => [data]), "all")),
    ofFile: async (given) => {
      const canonical = canonicalPath(given);
      const path = canonical.ok ? canonical.path : given;
      const hash = workspace.get({ path }, () => true)?.content_id ?? null;
      // Before the index knows the content, it may be any that was written there.
      const { places: at, contents } = await tainted.ofFiles([
        hash === null ? { path } : { path, read: hash },
      ]);
      return bothForeign(foreignFrom(at, "minds"), foreignFrom(contents, "all"));
    },
    keyOfValue: (type, value) => sharedTypes.keyOfValue(type, value),
    ofSaved: async (agent, item) => {
      // The service refuses it.
      if (item.length > maxIdLength) return nothingForeign;
      const memory = await memories.memory.open(memories.keyOf(agent, undefined));
      return foreignInSaved((await memory.writtenKnowledge(item))?.data);
    },
    ofImported: (namespace, items) => memories.foreignImported(namespace, items),
    ofModel: (model) => (models.isScripted(model) ? foreignFrom(["scripted"], "minds") : nothingForeign),
    ofEvent: async ({ entry, action, tag, paths }) => {
      if (typeof action === "string") {
        const named = Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [];
        return bothForeign(await ofAction(action), await untrustedAmong(named));
      }
      if (!isJsonObject(entry) || typeof entry["path"] !== "string") return nothingForeign;
      const { path } = entry;
      return await ofEntries([
        { ...entry, path },
        ...(typeof tag === "string" ? [{ path, tags: [tag] }] : []),
      ]);
    },
  };
}

/**
 * Returns what effects show of files: by their differences, and by the sizes and numbers in their summaries. Where nothing was
 * before, or where its agent is told no more than it proposed, nothing of a file is shown.
 */
export async function foreignInEffects(
  tainted: Pick<TaintedContents, "ofFiles" | "ofPlaces">,
  effects: ShownAction["effects"],
): Promise<Foreign> {
  const files: { readonly path: string; readonly read: string }[] = [];
  const moved: string[] = [];
  for (const { kind, path, from, before, after } of effects) {
    if (from !== undefined) moved.push(from);
    else if (before !== null && contentKinds.has(kind))
      files.push({ path, read: before }, ...(after === null ? [] : [{ path, read: after }]));
  }
  const { places, contents } = await tainted.ofFiles(files);
  // A file of the action may have been moved by it. A move itself shows no content.
  const origins = await tainted.ofPlaces(moved);
  return bothForeign(
    foreignFrom([...new Set([...places, ...origins])], "minds"),
    foreignFrom(contents, "all"),
  );
}

/** The effects whose hashes are those of files' contents. */
const contentKinds: ReadonlySet<EffectKind> = new Set(["file.write", "file.edit", "file.delete"]);

/** Returns the texts that an entry's metadata hold, as the values that actions set. */
function valuesOf({ tags = [], fields = {} }: Parameters<ForeignPorts["ofEntries"]>[0][number]): unknown[] {
  return [...tags, ...Object.values(fields).flatMap((namespace) => Object.values(namespace))];
}
