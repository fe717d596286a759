import { canonicalJson, isJsonObject, type JsonValue } from "../base/json.ts";
import type { Effect, EffectInput } from "../base/vocabulary/action.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { MetadataChange } from "../base/vocabulary/metadata.ts";
import { sha256 } from "../platform/files/hash.ts";
import type { MetadataPort } from "./ports.ts";

export type MetadataInput = Extract<
  EffectInput,
  { kind: "tag.add" | "tag.remove" | "field.set" | "sidecar.write" }
>;

/** Returns the SHA-256 of the canonical JSON of a metadata value; null without a value. */
export function hashOfValue(value: unknown): Hash | null {
  return value === undefined ? null : sha256(canonicalJson(value));
}

/** Returns the current value of the slot that a change is about; undefined if there is none. */
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

/** Returns the metadata slot that a change is about, as a key. */
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

/** Returns the change that restores `value`. */
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

/** Returns the change that an effect asks for. */
export function changeOf(path: string, input: MetadataInput): MetadataChange {
  // The values were parsed from JSON.
  switch (input.kind) {
    case "tag.add":
    case "tag.remove":
      return { kind: "tag", path, tag: input.tag, present: input.kind === "tag.add" };
    case "field.set":
      // JSON has no word for "absent", so null removes the field.
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

/** Returns the fields of the input that its effect shows. */
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
