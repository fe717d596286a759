import { canonicalJson } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { ProgramSource } from "../decisions/requested-permissions.ts";
import type { MindFiles } from "../documents/resolved-manifest.ts";
import type { CheckedManifest } from "../documents/manifest.ts";
import { sha256 } from "../platform/files/hash.ts";
import type { LoadedProgram, MindAlone } from "./programs.ts";

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
  const files = filesOf(mindFiles);
  if (loaded !== null && loaded.program === null)
    return loaded.digest === undefined ? loaded : { ...loaded, digest: covering(loaded.digest, files) };
  if (!usable) {
    const first = diagnostics.find(({ severity }) => severity === "error");
    return { program: null, fault: first?.message ?? "Its manifest has errors." };
  }
  if (loaded === null) return { program: mindAlone(mindFiles) };
  const { program } = loaded;
  return {
    program: {
      ...program,
      digest: covering(program.digest, files),
      sources: [...(program.sources ?? []), ...files],
      mind: mindFiles,
    },
  };
}

/** Returns the texts of a mind without a program as what a person accepts. */
function mindAlone(mind: MindFiles): MindAlone {
  const files = filesOf(mind);
  return {
    kind: "mind",
    digest: covering(null, files),
    bytes: new Uint8Array(),
    carries: [],
    sources: files,
    mind,
  };
}

/** Returns the number of characters in the texts of a mind. */
export function sizeOf(mind: MindFiles | undefined): number {
  return mind?.texts.reduce((sum, { text }) => sum + text.length, 0) ?? 0;
}

function filesOf({ texts }: MindFiles): ProgramSource[] {
  return texts.map(({ path, text }) => ({ path, hash: sha256(text) }));
}

/** Returns the digest over a program and the texts of its mind; null: there is no program. */
function covering(program: Hash | null, files: readonly ProgramSource[]): Hash {
  return sha256(canonicalJson({ program, texts: files.map(({ path, hash }) => [path, hash]) }));
}
