import { checkManifestSemantics } from "./manifest-checks.ts";
import { hasErrors, inOrder, type Diagnostic } from "./text/diagnostics.ts";
import { formatOf, parseInTurns } from "./text/parse.ts";
import type { ManifestPorts } from "./ports.ts";
import { readMindFiles } from "./mind-files.ts";
import { resolveManifest } from "./resolve-manifest.ts";
import { defaultPrograms, type MindFiles, type ResolvedManifest } from "./resolved-manifest.ts";
import { Manifest } from "./schema/manifest.ts";
import { valueAt, type ParsedDocument } from "./text/source.ts";
import type { SoundExtension } from "./sound-part.ts";
import { uncheckable } from "./text/uncheckable.ts";
import { validate } from "./validate.ts";

export interface CheckedManifest {
  /** Null if the document does not have a manifest's form. Also set if there are other errors, for display. */
  readonly value: ResolvedManifest | null;
  readonly diagnostics: readonly Diagnostic[];
  /** The files of its mind, its prompts and its commands; absent if the manifest is not resolved. */
  readonly mindFiles?: MindFiles;
  /** True if the extension can be used. */
  readonly usable: boolean;
  readonly document: ParsedDocument;
}

/** Reads, validates and resolves `extension.yaml` or `extension.toml`. Never throws because of the text. */
export async function checkManifest(
  text: string,
  file: string,
  ports: ManifestPorts,
): Promise<CheckedManifest> {
  const document = await parseInTurns(text, formatOf(file) ?? "yaml");
  if (hasErrors(document.diagnostics)) return failed(document, document.diagnostics);
  try {
    return await checkParsed(document, ports);
  } catch (error) {
    return failed(document, [uncheckable(error, document)]);
  }
}

async function checkParsed(document: ParsedDocument, ports: ManifestPorts): Promise<CheckedManifest> {
  const { faults, sound } = await validate(Manifest, document);
  // Schema errors do not suppress the other checks.
  const extension = valueAt(sound, "/extension") as SoundExtension | undefined;
  if (extension === undefined) return failed(document, [...document.diagnostics, ...faults]);
  const main = extension.main ?? (await firstExisting(ports));
  const semantics = await checkManifestSemantics(extension, main, document, ports);
  const mind = await readMindFiles(extension, document, ports.files);
  const diagnostics = inOrder([...document.diagnostics, ...faults, ...semantics, ...mind.diagnostics]);
  if (faults.length > 0) return failed(document, diagnostics);
  const value = resolveManifest(document.value as Manifest, main);
  return { value, mindFiles: mind.files, diagnostics, usable: !hasErrors(diagnostics), document };
}

function failed(document: ParsedDocument, diagnostics: readonly Diagnostic[]): CheckedManifest {
  return { value: null, diagnostics: inOrder(diagnostics), usable: false, document };
}

async function firstExisting(ports: ManifestPorts): Promise<string | null> {
  for (const name of defaultPrograms) if (await ports.fileExists(name)) return name;
  return null;
}
