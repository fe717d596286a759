import { LaresError } from "../base/errors.ts";
import { closest } from "../base/suggest.ts";
import { canonicalPath, parentOf } from "../policy/paths.ts";
import { escapedGlob } from "./names.ts";
import type { FilesOfCall } from "./ports.ts";

/** Entries of a folder that are compared with a name. */
const maxCompared = 1000;
/** Files of the same name elsewhere that are named. */
const maxElsewhere = 3;

/** Returns the error for a path without an entry. It names what the path may have meant, of what the process sees. */
export async function missingError(
  files: Pick<FilesOfCall, "query" | "show">,
  what: "file" | "file or folder",
  path: string,
): Promise<LaresError> {
  const near = await nearestPaths(files, path);
  // The name of a file may be meant as an instruction.
  for (const one of near) files.show({ path: one });
  const hint =
    near.length === 0 ? "" : ` Did you mean ${near.map((one) => JSON.stringify(one)).join(" or ")}?`;
  const message = `There is no ${what} ${JSON.stringify(path)}.${hint}`;
  return new LaresError("NotFound", message, { what, name: path });
}

async function nearestPaths(files: Pick<FilesOfCall, "query">, path: string): Promise<readonly string[]> {
  const canonical = canonicalPath(path);
  if (!canonical.ok) return [];
  const folder = parentOf(canonical.path);
  if (folder === null) return [];
  const name = canonical.path.slice(folder === "." ? 0 : folder.length + 1);
  const prefix = folder === "." ? "" : `${escapedGlob(folder)}/`;
  try {
    const beside = await files.query({ path: `${prefix}*`, limit: maxCompared });
    const best = closest(
      name,
      beside.items.map((entry) => entry.name),
    );
    if (best !== undefined) return [folder === "." ? best : `${folder}/${best}`];
    const elsewhere = await files.query({ path: `**/${escapedGlob(name)}`, limit: maxElsewhere });
    return elsewhere.items.map((entry) => entry.path);
  } catch (error) {
    // A name may be too long for a pattern, and a hint is not worth another error.
    if (error instanceof LaresError) return [];
    throw error;
  }
}
