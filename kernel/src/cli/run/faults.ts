import { readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { documentKind } from "../../documents/names.ts";
import type { CommandContext } from "../command.ts";
import { findDocuments } from "../find-documents.ts";
import { ignoreFileName, readIgnoreFile } from "../../platform/files/ignore-file.ts";
import { renderFinding, type Finding } from "../render/findings.ts";
import { unreadRulesFinding } from "../unread-rules.ts";

/**
 * Warns about errors in the documents that the kernel reads when it opens the folder, and returns their number. An
 * agent that a faulty document names is not started, and its absence alone would not explain why. Also warns about the
 * folder's `.gitignore` if it cannot be read and therefore hides all files from the agents.
 */
export async function warnOfFaults({ ports, terminal }: CommandContext, folder: string): Promise<number> {
  const inRoot = (await readdir(folder)).filter((name) => documentKind(name) === "lares");
  const extensions = join(folder, ".lares", "extensions");
  const hasExtensions = await stat(extensions).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const own = await ports.userDocument();
  const documents = [
    ...(own === null ? [] : [own]),
    ...inRoot.map((name) => join(folder, name)),
    ...(hasExtensions ? (await findDocuments([extensions])).documents : []),
  ];
  const warn = (finding: Finding): void => {
    const near = relative(folder, finding.file);
    const file = near.startsWith("..") ? finding.file : near;
    terminal.warn(renderFinding({ ...finding, file }, terminal.errorSurface));
  };
  let errors = 0;
  for (const document of documents) {
    for (const finding of await ports.checkDocument(document)) {
      if (finding.severity !== "error") continue;
      errors += 1;
      warn(finding);
    }
  }
  const { fault } = await readIgnoreFile(folder);
  if (fault !== null) warn(unreadRulesFinding({ file: join(folder, ignoreFileName), fault }));
  return errors;
}
