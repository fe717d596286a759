import { extensionIdPattern } from "./extension.ts";

/** The name of a shared type, without its extension. */
export const typeNamePattern = "^[A-Za-z][A-Za-z0-9_-]*$";

/** `<extension id>/<name>`, or `<extension id>/*` for all types of one. */
export const typeReferencePattern = `${extensionIdPattern.slice(0, -1)}/(?:\\*|[A-Za-z][A-Za-z0-9_-]*)$`;

/** A type of values that agents share, as its extension declares it. */
export interface SharedTypeDefinition {
  /** Without the extension. */
  readonly name: string;
  readonly version: number;
  /** The property that tells values apart: required, and a string. */
  readonly key: string;
  /** JSON Schema of its values. */
  readonly schema: Record<string, unknown>;
}
