import type { JsonValue } from "../json.ts";

/** A change of the metadata of an entry. A change without a value removes the old one. */
export type MetadataChange =
  | { readonly kind: "tag"; readonly path: string; readonly tag: string; readonly present: boolean }
  | {
      readonly kind: "field";
      readonly path: string;
      readonly namespace: string;
      readonly key: string;
      readonly value?: JsonValue;
    }
  | { readonly kind: "sidecar"; readonly path: string; readonly sidecar: string; readonly data?: JsonValue };

export interface EntryMetadata {
  readonly tags: readonly string[];
  readonly fields: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
