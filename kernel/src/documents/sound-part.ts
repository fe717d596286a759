import type { ErrorObject } from "ajv";
import { schemasAt, type Schema } from "./schema/schema-at.ts";
import type { Manifest } from "./schema/manifest.ts";
import { pointerKeys, pointerTo } from "./text/source.ts";

/** The valid part of a manifest: id, name and version may be missing, and lists may have holes. */
export type SoundExtension = Partial<Manifest["extension"]>;

/**
 * Returns a value without the parts that its schema refuses, so that the rest can be checked. An optional part is
 * removed alone. A required part is removed together with its parent, up to a field of the outermost map. A
 * removed item leaves a hole in its list, so that the other indices do not change: see {@link present}.
 */
export function soundPart(schema: Schema, value: unknown, errors: readonly ErrorObject[]): unknown {
  const sound = structuredClone(value);
  for (const { keyword, instancePath, params } of errors) {
    if (keyword === "additionalProperties")
      remove(sound, pointerKeys(pointerTo(instancePath, String(params["additionalProperty"]))));
    else remove(sound, dispensable(schema, value, instancePath, keyword === "required"));
  }
  return sound;
}

/** Returns the items of a list with their indices, without holes. */
export function present<Item>(list: readonly Item[] = []): [index: number, item: Item][] {
  return list.flatMap((item, index) => [[index, item]]);
}

/** At this depth only the value itself is removed: a manifest without a name still has hooks to check. */
const outermostDepth = 2;

/** Returns the innermost optional part at or around this place; empty if there is no such part. */
function dispensable(schema: Schema, value: unknown, pointer: string, isOwner: boolean): readonly string[] {
  const keys = pointerKeys(pointer);
  if (isOwner && keys.length < outermostDepth) return [];
  while (keys.length > outermostDepth) {
    const owners = schemasAt(schema, value, pointerTo("", ...keys.slice(0, -1)));
    if (!owners.some(({ required }) => required?.includes(keys.at(-1) ?? "") === true)) break;
    keys.pop();
  }
  return keys;
}

function remove(root: unknown, keys: readonly string[]): void {
  const last = keys.at(-1);
  let owner = root;
  for (const key of keys.slice(0, -1)) {
    if (typeof owner !== "object" || owner === null || !Object.hasOwn(owner, key)) return;
    owner = (owner as Record<string, unknown>)[key];
  }
  if (last === undefined || typeof owner !== "object" || owner === null) return;
  Reflect.deleteProperty(owner, last);
}
