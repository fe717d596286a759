import { readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { documentKind } from "../../documents/names.ts";
import type { CommandContext } from "../command.ts";
import { findDocuments } from "../find-documents.ts";
import { renderFinding } from "../render/findings.ts";

/**
 * Warns about errors in the documents that the kernel reads when it opens the folder, and returns how many there are. An
 * agent that a faulty document names is not started, and its absence alone would not say why.
 */
export async function warnOfFaults({ ports, terminal }: CommandContext, folder: string): Promise<number> {
  const inRoot = (await readdir(folder)).filter((name) => documentKind(name) === "lares");
  const extensions = join(folder, ".lares", "extensions");
  const hasExtensions = await stat(extensions).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const documents = [
    ...inRoot.map((name) => join(folder, name)),
    ...(hasExtensions ? await findDocuments([extensions]) : []),
  ];
  let errors = 0;
  for (const document of documents) {
    for (const finding of await ports.checkDocument(document)) {
      if (finding.severity !== "error") continue;
      errors += 1;
      const shown = { ...finding, file: relative(folder, finding.file) };
      terminal.warn(renderFinding(shown, terminal.errorSurface));
    }
  }
  return errors;
}
