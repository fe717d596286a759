import { canonicalJson } from "../base/json.ts";
import type { MindFiles } from "../documents/resolved-manifest.ts";
import type { CheckedManifest } from "../documents/manifest.ts";
import { sha256 } from "../platform/files/hash.ts";
import type { LoadedProgram } from "./programs.ts";

/**
 * Returns what a person accepts of an extension that has texts for a mind: the program, if there is one, and these texts,
 * under one digest. An extension without such texts keeps the program's own.
 */
export function withMindFiles(
  loaded: LoadedProgram | null,
  { value, mindFiles, usable, diagnostics }: CheckedManifest,
): LoadedProgram | null {
  if (value === null || mindFiles === undefined) return loaded;
  if (value.mind === undefined && mindFiles.texts.length === 0) return loaded;
  const files = mindFiles.texts.map(({ path, text }) => ({ path, hash: sha256(text) }));
  const covering = (program: string | null) =>
    sha256(canonicalJson({ program, texts: files.map(({ path, hash }) => [path, hash]) }));
  if (loaded !== null && loaded.program === null)
    return loaded.digest === undefined ? loaded : { ...loaded, digest: covering(loaded.digest) };
  if (!usable) {
    const first = diagnostics.find(({ severity }) => severity === "error");
    return { program: null, fault: first?.message ?? "Its manifest has errors." };
  }
  if (loaded === null)
    return {
      program: {
        kind: "mind",
        digest: covering(null),
        bytes: new Uint8Array(),
        carries: [],
        sources: files,
        mind: mindFiles,
      },
    };
  const { program } = loaded;
  return {
    program: {
      ...program,
      digest: covering(program.digest),
      sources: [...(program.sources ?? []), ...files],
      mind: mindFiles,
    },
  };
}

/** Returns the number of characters in the texts of a mind. */
export function sizeOf(mind: MindFiles | undefined): number {
  return mind?.texts.reduce((sum, { text }) => sum + text.length, 0) ?? 0;
}
