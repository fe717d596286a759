/** A shared type of a test: a bare name is the extension's own. */
export interface MockType {
  /** The property that tells values apart. */
  readonly key: string;
  /** JSON Schema of its values; default: any object with the key. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** The values that are there at the beginning, at version 1. */
  readonly values?: readonly unknown[];
}
