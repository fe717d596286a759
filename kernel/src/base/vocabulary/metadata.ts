import type { JsonValue } from "../json.ts";

/** One change of what is kept beside an entry. A value that is absent removes what was there. */
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

/** What is kept beside one entry. */
export interface EntryMetadata {
  readonly tags: readonly string[];
  readonly fields: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
