import { relative, resolve } from "node:path";
import { exitCodes, UsageError, type CommandContext } from "../command.ts";
import { findDocuments } from "../find-documents.ts";
import type { ExplainedValue, Explanation } from "../ports.ts";
import { renderCheckResult, renderFinding, type Finding } from "../render/findings.ts";
import { oneLine } from "../render/foreign.ts";
import { unreadRulesFinding } from "../unread-rules.ts";
import type { Surface } from "../render/style.ts";
import { displayWidth, padEnd, wrap } from "../render/width.ts";

interface CheckOptions {
  readonly format?: string;
  readonly json?: boolean;
  readonly explain?: boolean;
}

/**
 * Checks every document beneath the paths, and reports each `.gitignore` that cannot be read. Returns exit code 1 if a
 * document has an error; warnings alone are not a failure.
 */
export async function check(
  { ports, terminal }: CommandContext,
  paths: readonly string[],
  options: CheckOptions,
): Promise<number> {
  const { format = options.json === true ? "json" : "text" } = options;
  if (format !== "text" && format !== "json")
    throw new UsageError(`--format cannot be "${format}". Use text or json.`);
  const roots = paths.length === 0 ? ["."] : paths;
  const { documents: found, unreadRules } = await terminal.progress(
    "looking for documents",
    findDocuments(roots),
  );
  // It counts in every workspace, so a workspace is in order only if it is.
  const own = paths.length === 0 ? await ports.userDocument() : null;
  const documents = own === null || found.includes(own) ? found : [...found, own];
  const findings: Finding[] = unreadRules.map(unreadRulesFinding);
  for (const document of documents) {
    findings.push(
      ...(await terminal.progress(`checking ${document}`, ports.checkDocument(resolve(document)))),
    );
  }
  const shown = findings.map((finding) => ({ ...finding, file: nearPath(finding.file) }));
  const explained = options.explain === true ? await ports.explain(resolve(roots[0] ?? ".")) : null;
  const failed = findings.some(({ severity }) => severity === "error");
  if (format === "json") {
    terminal.json({
      ok: !failed,
      documents: documents.map(nearPath),
      findings: shown,
      ...(explained === null
        ? {}
        : {
            configuration: explained.values,
            environment_faults: explained.environmentFaults,
            protected: explained.protected,
          }),
    });
  } else {
    const { surface } = terminal;
    for (const finding of shown) terminal.print(renderFinding(finding, surface));
    if (explained !== null) {
      terminal.print(renderExplained(explained.values, surface));
      terminal.print(renderProtected(explained.protected, surface));
    }
    for (const fault of explained?.environmentFaults ?? []) terminal.warn(oneLine(fault));
    if (documents.length === 0)
      terminal.warn(
        oneLine(`There is no lares.yaml and no extension.yaml in ${roots.map(folderWords).join(", ")}.`),
      );
    else terminal.warn(renderCheckResult(documents.length, findings, terminal.errorSurface));
  }
  return failed ? exitCodes.failed : exitCodes.ok;
}

/** A full stop after "." would look like the parent folder. */
const folderWords = (root: string): string => (root === "." ? "this folder" : `"${root}"`);

/** Returns the path relative to the current folder, unless that is outside of it. */
function nearPath(path: string): string {
  const near = relative(process.cwd(), path);
  return near === "" || near.startsWith("..") ? path : near;
}

function renderExplained(values: readonly ExplainedValue[], { style }: Surface): string[] {
  const cells = values.map(({ key, value, source, place }) => ({
    key: oneLine(key),
    value: oneLine(JSON.stringify(value) ?? "–"),
    from: `${source}${place === "" ? "" : ` ${oneLine(place)}`}`,
    isDefault: source === "defaults",
  }));
  const keyWidth = Math.max(0, ...cells.map(({ key }) => displayWidth(key)));
  const valueWidth = Math.min(40, Math.max(0, ...cells.map(({ value }) => displayWidth(value))));
  return cells.map(({ key, value, from, isDefault }) => {
    const line = `${padEnd(key, keyWidth)}  ${padEnd(value, valueWidth)}  ${style.dim(from)}`;
    return isDefault ? style.dim(line) : line;
  });
}

/** Renders the names that are asked about each time, beneath the reason; the name of a folder ends in "/". */
function renderProtected(groups: Explanation["protected"], { style, width }: Surface): string[] {
  if (groups.length === 0) return [];
  return [
    "",
    "Asked each time, whatever the rules allow (add more with decide: ask in approvals.rules):",
    ...groups.flatMap(({ reason, folders, files }) => {
      const names = [...folders.map((name) => `${name}/`), ...files].join("  ");
      const lines = names === "" ? [] : wrap(names, Math.max(20, width - 4)).map((line) => `    ${line}`);
      return [`  ${reason}`, ...lines.map((line) => style.dim(line))];
    }),
  ];
}
