import { oneLine } from "./foreign.ts";
import type { Status } from "./model.ts";
import type { Surface } from "./style.ts";
import { wrap } from "./width.ts";

/** What a person is shown before they let a workspace's agents run. */
export function renderTrust(
  { workspace, trust }: Pick<Status, "workspace" | "trust">,
  surface: Surface,
): string[] {
  const { style, width } = surface;
  const asks = renderAsks(trust.asks, surface);
  return [
    `${style.bold("This workspace brings agents.")} ${style.dim(oneLine(workspace))}`,
    "",
    ...renderChanges(trust, surface),
    ...(asks.length === 0 ? [`  ${style.dim("They ask for nothing.")}`] : ["They ask for:", ...asks]),
    "",
    ...wrap(
      "They run in a sandbox, see only the folders named here, and change files only through proposals that you " +
        "or these rules approve. When what they ask for grows, you are asked again.",
      width,
    ).map((line) => style.dim(line)),
  ];
}

/** Nothing on the first visit, when everything that is asked for is new. */
function renderChanges({ asks, pending }: Status["trust"], surface: Surface): string[] {
  const isFirstVisit = asks.every((ask) => pending.includes(ask)) && pending.length === asks.length;
  if (pending.length === 0 || isFirstVisit) return [];
  return ["Changed since you last accepted it:", ...renderAsks(pending, surface), ""];
}

/** What waits for a yes after the documents or programs have changed. */
export function renderPending({ trust }: Status, surface: Surface): string[] {
  return [
    "",
    surface.style.bold("The documents ask for more than you accepted:"),
    ...renderAsks(trust.pending, surface),
  ];
}

function renderAsks(asks: readonly string[], { style, width }: Surface): string[] {
  return asks.flatMap((ask) => {
    const [first = "", ...rest] = wrap(oneLine(ask), width - 4);
    return [`  ${style.yellow("•")} ${first}`, ...rest.map((line) => `    ${line}`)];
  });
}
