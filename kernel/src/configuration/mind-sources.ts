import type { MindSource } from "../base/vocabulary/mind.ts";
import type { ResolvedMind } from "../documents/resolved-manifest.ts";
import { dirname, join } from "../platform/files/paths.ts";
import type { CatalogEntry } from "./catalog-snapshot.ts";

/**
 * Returns the files and folders of the workspace from which the texts of an extension's mind are read: in the extension's
 * folder, and in the person's own for it. A folder stands for everything in it, also for what is not there yet.
 */
export function sourcesOf(
  mind: ResolvedMind,
  { extension, program, mind: parts }: Pick<CatalogEntry, "extension" | "program" | "mind">,
  workspacePaths: (absolute: string) => readonly string[],
): MindSource[] {
  const { texts = [], skills = [] } = program.program?.mind ?? extension.checked.mindFiles ?? {};
  const isSkill = new Set(skills.map(({ path }) => path));
  const identity = new Set(mind.identity);
  const sources: MindSource[] = [
    ...mind.skills.flatMap((pattern) => folderOf(pattern)).map((path) => ({ path, kind: "skill" as const })),
    ...skills.map(({ path }) => ({ path: dirname(path), kind: "skill" as const })),
    ...texts
      .filter(({ path }) => !isSkill.has(path))
      .map(({ path }) => ({ path, kind: identity.has(path) ? ("identity" as const) : ("prompt" as const) })),
  ].map(({ path, kind }) => ({ path: join(extension.folder, path), kind }));
  if (parts !== undefined) {
    const { folder, files } = parts.own;
    sources.push({ path: join(folder, "skills"), kind: "skill" }, ...files, {
      path: folder,
      kind: "identity",
    });
  }
  const known = new Map<string, MindSource>();
  for (const { path, kind } of sources)
    for (const inWorkspace of workspacePaths(path))
      if (!known.has(inWorkspace)) known.set(inWorkspace, { path: inWorkspace, kind });
  return [...known.values()];
}

/** Returns the folder in which a pattern finds skills; none if it is the extension's own, which holds more than these. */
function folderOf(pattern: string): string[] {
  const parts = pattern.split("/").filter((part) => part !== "" && part !== ".");
  const first = parts.findIndex((part) => /[*?[\]{}\\]/.test(part));
  const literal = first === -1 ? parts : parts.slice(0, first);
  return literal.length === 0 || literal.includes("..") ? [] : [literal.join("/")];
}
