import { Type } from "typebox";

/**
 * Ids are reverse domain names: `^[a-z0-9]+([.-][a-z0-9-]+)+$`. This form matches the same ids, but leaves a
 * backtracking engine only one way to match.
 */
export const extensionIdPattern = "^[a-z0-9]+[.-][a-z0-9-]+(?:\\.[a-z0-9-]+)*$";

export const ExtensionId = Type.String({
  pattern: extensionIdPattern,
  maxLength: 128,
  description: 'Reverse domain name, unique, e.g. "com.example.photos"',
});
