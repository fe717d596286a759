import { oneLine } from "./foreign.ts";
import type { Status } from "./model.ts";
import type { Surface } from "./style.ts";
import { wrap } from "./width.ts";

/** What a person is shown before they let a workspace's agents run. */
export function renderTrust({ workspace, trust }: Status, surface: Surface): string[] {
  const { style, width } = surface;
  const asks = trust.asks.flatMap((ask) => {
    const [first = "", ...rest] = wrap(oneLine(ask), width - 4);
    return [`  ${style.yellow("•")} ${first}`, ...rest.map((line) => `    ${line}`)];
  });
  return [
    `${style.bold("This workspace brings agents.")} ${style.dim(oneLine(workspace))}`,
    "",
    ...(asks.length === 0 ? [`  ${style.dim("They ask for nothing.")}`] : ["They ask for:", ...asks]),
    "",
    ...wrap(
      "They run in a sandbox, see only the folders named here, and change files only through proposals that you " +
        "or these rules approve. When what they ask for grows, you are asked again.",
      width,
    ).map((line) => style.dim(line)),
  ];
}
