import { isJsonObject } from "../../base/json.ts";

/** How a package is imported here: as ECMAScript, by nobody in particular. */
const conditions = new Set(["import", "module", "default"]);

/**
 * The file a package gives for a subpath (`.` or `./name`), by its `exports`, else `module`, else `main`;
 * relative to the package. Undefined: its `exports` do not offer it.
 */
export function packageEntry(manifest: unknown, subpath: string): string | undefined {
  const fields = isJsonObject(manifest) ? manifest : {};
  const exports = fields["exports"];
  if (exports !== undefined && exports !== null) return exported(exports, subpath);
  if (subpath !== ".") return subpath;
  for (const name of ["module", "main"]) {
    const entry = fields[name];
    if (typeof entry === "string" && entry !== "") return entry;
  }
  return "./index";
}

function exported(exports: unknown, subpath: string): string | undefined {
  const isMap = isJsonObject(exports) && Object.keys(exports).some((key) => key.startsWith("."));
  if (!isMap) return subpath === "." ? chosen(exports) : undefined;
  if (Object.hasOwn(exports, subpath)) return chosen(exports[subpath]);
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
  return chosen(exports[best])?.replaceAll("*", part);
}

function chosen(target: unknown): string | undefined {
  if (typeof target === "string") return target;
  if (Array.isArray(target)) return target.map(chosen).find((entry) => entry !== undefined);
  if (!isJsonObject(target)) return undefined;
  for (const [condition, value] of Object.entries(target)) {
    const entry = conditions.has(condition) ? chosen(value) : undefined;
    if (entry !== undefined) return entry;
  }
  return undefined;
}
