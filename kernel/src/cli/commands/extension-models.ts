import { exitCodes, UsageError, type CommandContext } from "../command.ts";
import type { ExtensionModelListing } from "../ports.ts";
import { oneLine } from "../render/foreign.ts";
import { bytes } from "../render/quantities.ts";
import { renderTable } from "../render/table.ts";
import { wrap } from "../render/width.ts";
import type { Terminal } from "../terminal.ts";

const mebibyte = 1024 * 1024;

/** Fetches one model of an extension, or all of them: `<extension>[/<model>]`. */
export async function fetchExtensionModels(
  { ports, terminal }: CommandContext,
  reference: string,
  isJson: boolean,
): Promise<number> {
  const slash = reference.indexOf("/");
  const extension = slash < 0 ? reference : reference.slice(0, slash);
  const name = slash < 0 ? null : reference.slice(slash + 1);
  return await ports.withExtensionModels(async (models) => {
    const declared = await models.list(extension);
    const wanted = name === null ? declared : declared.filter((each) => each.name === name);
    if (wanted.length === 0)
      throw new UsageError(
        declared.length === 0
          ? `${oneLine(extension)} declares no models.`
          : `${oneLine(extension)} has no model "${oneLine(name ?? "")}". Use one of ${declared.map((each) => oneLine(each.name)).join(", ")}.`,
      );
    const results: object[] = [];
    for (const model of wanted) {
      const title = oneLine(`${extension}/${model.name}`);
      if (model.state === "unavailable") {
        // Named alone, it is what the person asked for.
        if (name !== null) throw new UsageError(model.problem ?? "");
        terminal.warn(`warning: ${oneLine(model.problem ?? "")}`);
        continue;
      }
      const most = bytes(model.megabytes * mebibyte);
      const work = models.fetch(model, {
        signal: terminal.interrupted,
        received: (count) => terminal.status(`fetching ${title}, ${bytes(count)} of at most ${most}`),
      });
      const hosts = model.hosts.map(oneLine).join(", ");
      const {
        path,
        fetched,
        bytes: size,
      } = await terminal.progress(`fetching ${title} from ${hosts}`, work).catch((error: unknown) => {
        if (terminal.interrupted.aborted)
          terminal.warn(`Interrupted. To continue where it stopped: lares models fetch ${title}`);
        throw error;
      });
      results.push({ extension, name: model.name, sha256: model.sha256, path, bytes: size, fetched });
      if (!isJson)
        terminal.print(
          `${title} ${fetched ? "was fetched to" : "was already fetched:"} ${oneLine(path)} (${bytes(size)})`,
        );
    }
    if (isJson) terminal.json({ models: results, runtime: models.runtime });
    else if (!models.runtime) printMissingRuntime(terminal, "Models of extensions need");
    return exitCodes.ok;
  });
}

/** Prints how to install the runtime; `who` begins the sentence. */
export function printMissingRuntime(terminal: Terminal, who: string): void {
  terminal.print(`${who} onnxruntime-node, which is not installed next to lares yet. Run:`);
  terminal.print("  npm install -g onnxruntime-node");
  terminal.print("In a checkout of Lares: npm install --no-save onnxruntime-node");
}

const stateWords = (
  { state, bytes: count }: ExtensionModelListing,
  { style }: Terminal["surface"],
): string => {
  switch (state) {
    case "fetched":
      return style.green("fetched");
    case "partial":
      return style.yellow(`${bytes(count)} fetched so far`);
    case "missing":
      return style.dim("not fetched");
    case "unavailable":
      return style.yellow("cannot be fetched");
  }
};

/** Renders the models of the workspace's extensions; nothing if there are none. */
export function renderExtensionModels(
  models: readonly ExtensionModelListing[],
  surface: Terminal["surface"],
): string[] {
  if (models.length === 0) return [];
  const problems = models.flatMap(({ problem }) => (problem === undefined ? [] : [oneLine(problem)]));
  return [
    "",
    surface.style.bold("Models of extensions (lares models fetch <extension>[/<model>])"),
    ...renderTable(
      [
        { title: "Model", flexible: true },
        { title: "Version" },
        { title: "Size", align: "right" },
        { title: "State" },
        { title: "From", flexible: true },
      ],
      models.map((model) => [
        oneLine(`${model.extension}/${model.name}`),
        oneLine(model.version),
        model.state === "fetched"
          ? bytes(model.bytes)
          : model.megabytes === 0
            ? ""
            : `≤ ${bytes(model.megabytes * mebibyte)}`,
        stateWords(model, surface),
        model.hosts.map(oneLine).join(", "),
      ]),
      surface,
    ),
    ...problems.flatMap((problem) => wrap(problem, surface.width)),
  ];
}
