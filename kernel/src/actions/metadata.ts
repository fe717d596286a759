import { canonicalJson, isJsonObject, type JsonValue } from "../base/json.ts";
import type { Effect, EffectInput } from "../base/vocabulary/action.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { MetadataChange } from "../base/vocabulary/metadata.ts";
import { sha256 } from "../platform/hash.ts";
import type { MetadataPort } from "./ports.ts";

export type MetadataInput = Extract<
  EffectInput,
  { kind: "tag.add" | "tag.remove" | "field.set" | "sidecar.write" }
>;

/** SHA-256 over the canonical JSON of a value that is kept beside an entry; null where there is none. */
export function hashOfValue(value: unknown): Hash | null {
  return value === undefined ? null : sha256(canonicalJson(value));
}

/** What is kept now at the place that a change is about; undefined: nothing. */
export async function currentValue(
  port: MetadataPort,
  change: MetadataChange,
): Promise<JsonValue | undefined> {
  if (change.kind === "sidecar") return (await port.sidecar(change.path, change.sidecar))?.data;
  const current = port.current(change.path);
  if (change.kind === "tag") return current?.tags.includes(change.tag) === true ? change.tag : undefined;
  const namespace = current?.fields[change.namespace];
  if (!isJsonObject(namespace) || !Object.hasOwn(namespace, change.key)) return undefined;
  return namespace[change.key] as JsonValue | undefined;
}

/** The place beside an entry that a change is about. */
export function slotOf(change: MetadataChange): string {
  switch (change.kind) {
    case "tag":
      return JSON.stringify([change.path, "tag", change.tag]);
    case "field":
      return JSON.stringify([change.path, "field", change.namespace, change.key]);
    case "sidecar":
      return JSON.stringify([change.path, "sidecar", change.sidecar]);
  }
}

/** The change that brings back `value`. */
export function restoring(change: MetadataChange, value: JsonValue | undefined): MetadataChange {
  switch (change.kind) {
    case "tag":
      return { ...change, present: value !== undefined };
    case "field": {
      const { value: _replaced, ...place } = change;
      return value === undefined ? place : { ...place, value };
    }
    case "sidecar": {
      const { data: _replaced, ...place } = change;
      return value === undefined ? place : { ...place, data: value };
    }
  }
}

/** The change that an effect asks for. */
export function changeOf(path: string, input: MetadataInput): MetadataChange {
  // Values arrived as JSON.
  switch (input.kind) {
    case "tag.add":
    case "tag.remove":
      return { kind: "tag", path, tag: input.tag, present: input.kind === "tag.add" };
    case "field.set":
      // JSON has no word for "absent"; null removes the field.
      return input.value === null || input.value === undefined
        ? { kind: "field", path, namespace: input.namespace, key: input.key }
        : {
            kind: "field",
            path,
            namespace: input.namespace,
            key: input.key,
            value: input.value as JsonValue,
          };
    case "sidecar.write":
      return { kind: "sidecar", path, sidecar: input.sidecar, data: input.data as JsonValue };
  }
}

/** The input's own fields, as its effect shows them. */
export function fieldsOf(input: MetadataInput): Partial<Effect> & { summary: string } {
  switch (input.kind) {
    case "tag.add":
      return { tag: input.tag, summary: `Add the tag ${input.tag} to ${input.path}` };
    case "tag.remove":
      return { tag: input.tag, summary: `Remove the tag ${input.tag} from ${input.path}` };
    case "field.set": {
      const { namespace, key, value } = input;
      return { namespace, key, value, summary: `Set the field ${namespace}.${key} of ${input.path}` };
    }
    case "sidecar.write":
      return { sidecar: input.sidecar, summary: `Write the sidecar ${input.sidecar} of ${input.path}` };
  }
}
