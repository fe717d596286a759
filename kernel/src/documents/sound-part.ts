import type { ErrorObject } from "ajv";
import { schemasAt, type Schema } from "./schema/schema-at.ts";
import type { Manifest } from "./schema/manifest.ts";
import { pointerKeys, pointerTo } from "./text/source.ts";

/** Of a manifest, what its schema lets pass: also id, name and version may be missing, and its lists may have holes. */
export type SoundExtension = Partial<Manifest["extension"]>;

/**
 * What is left of a value without what its schema refuses in it, so that the rest can be looked at all the same. What
 * may be missing goes alone; what has to be there takes with it what cannot be without it, up to a field of the outermost
 * map. An item that goes leaves a hole in its list, so that the others keep their places: see {@link present}.
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

/** The items that a list has, and their places; holes are passed over. */
export function present<Item>(list: readonly Item[] = []): [index: number, item: Item][] {
  return list.flatMap((item, index) => [[index, item]]);
}

/** So near the root, only the value itself goes: a manifest without a name has hooks to look at. */
const outermostDepth = 2;

/** The innermost thing at or around this place that the schema can do without; empty where there is none. */
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
