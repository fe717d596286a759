import { isJsonObject } from "../../base/json.ts";

/** The conditions under which packages are imported: ECMAScript, no particular platform. */
const conditions: readonly string[] = ["import", "module", "default"];
/** The SDK next to the kernel is bundled from its sources; its published form is built from them. */
export const sourceCondition = "lares-source";
/** A part of the SDK that contains a package of others, in one file, because programs cannot import that package. */
export const programCondition = "lares-program";

/**
 * Returns the file of a package for a subpath (`.` or `./name`), by its `exports`, otherwise `module`, otherwise
 * `main`; relative to the package. Undefined if its `exports` do not offer the subpath.
 */
export function packageEntry(
  manifest: unknown,
  subpath: string,
  furtherConditions: readonly string[] = [],
): string | undefined {
  const fields = isJsonObject(manifest) ? manifest : {};
  const exports = fields["exports"];
  if (exports !== undefined && exports !== null)
    return exported(exports, subpath, new Set([...conditions, ...furtherConditions]));
  if (subpath !== ".") return subpath;
  for (const name of ["module", "main"]) {
    const entry = fields[name];
    if (typeof entry === "string" && entry !== "") return entry;
  }
  return "./index";
}

type Conditions = ReadonlySet<string>;

function exported(exports: unknown, subpath: string, conditions: Conditions): string | undefined {
  const isMap = isJsonObject(exports) && Object.keys(exports).some((key) => key.startsWith("."));
  if (!isMap) return subpath === "." ? chosen(exports, conditions) : undefined;
  if (Object.hasOwn(exports, subpath)) return chosen(exports[subpath], conditions);
  // "./features/*": the longest prefix wins.
  const patterns = Object.keys(exports).filter((key) => key.includes("*"));
  const fits = patterns.filter((key) => {
    const [before = "", after = ""] = key.split("*");
    return subpath.startsWith(before) && subpath.endsWith(after) && subpath.length >= key.length;
  });
  const best = fits.toSorted((a, b) => b.indexOf("*") - a.indexOf("*"))[0];
  if (best === undefined) return undefined;
  const [before = "", after = ""] = best.split("*");
  const part = subpath.slice(before.length, subpath.length - after.length);
  return chosen(exports[best], conditions)?.replaceAll("*", part);
}

function chosen(target: unknown, conditions: Conditions): string | undefined {
  if (typeof target === "string") return target;
  if (Array.isArray(target))
    return target.map((one) => chosen(one, conditions)).find((entry) => entry !== undefined);
  if (!isJsonObject(target)) return undefined;
  for (const [condition, value] of Object.entries(target)) {
    const entry = conditions.has(condition) ? chosen(value, conditions) : undefined;
    if (entry !== undefined) return entry;
  }
  return undefined;
}
