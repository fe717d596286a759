import type { Ask } from "../../base/vocabulary/ask.ts";
import { leftOutWords, shownArguments } from "../../base/vocabulary/ask-arguments.ts";
import { requestedByLines } from "../../base/vocabulary/principal.ts";
import { seenFrom, type Here } from "./action.ts";
import { decisionLines } from "./decision-text.ts";
import { oneLine } from "./foreign.ts";
import { dayAndTime } from "./quantities.ts";
import type { Surface } from "./style.ts";
import { wrap } from "./width.ts";
import { hint } from "./hint.ts";

/** Characters of a call's arguments that a question shows: all that the kernel gives for most calls, in some 25 lines. */
const maxArguments = 2_000;

/** Renders questions, each as its sentence, why it is asked, and until when it waits. */
export function renderAsks(asks: readonly Ask[], surface: Surface): string[] {
  if (asks.length === 0) return hint("No question waits for you.", surface);
  const [waiting] = asks.filter(({ state }) => state === "Pending");
  return [
    ...asks.flatMap((ask, index) => [...(index === 0 ? [] : [""]), ...renderAsk(ask, surface)]),
    ...(waiting === undefined
      ? []
      : [
          "",
          ...hint(
            `Answer with: lares asks allow ${waiting.id.slice(-8)}, or deny; --always remembers it`,
            surface,
          ),
        ]),
  ];
}

/** Renders one question. `most`: the characters of its call's arguments that are shown. */
export function renderAsk(
  ask: Ask,
  surface: Surface,
  { here, most = maxArguments }: { readonly here?: Pick<Here, "conversation">; readonly most?: number } = {},
): string[] {
  const { style, width } = surface;
  const { id, agent, title, reason, sources, state, created, expires } = ask;
  const when =
    state === "Pending"
      ? `waits until ${dayAndTime(expires)}`
      : `${state.toLowerCase()} ${dayAndTime(expires)}`;
  const from = sources.length === 0 ? [] : [`It follows from: ${sources.map(oneLine).join(", ")}`];
  const [first = "", ...rest] = wrap(oneLine(title), width - 2);
  return [
    `${style.yellow("?")} ${style.bold(first)}`,
    ...rest.map((line) => `  ${style.bold(line)}`),
    ...[oneLine(reason), ...requestedByLines(ask).map((line) => oneLine(seenFrom(line, here))), ...from]
      .flatMap((text) => wrap(text, width - 2))
      .map((line) => `  ${line}`),
    ...argumentLines(ask, surface, most),
    // The end of an id: its start is the time, which questions of the same period share.
    style.dim(`  ${oneLine(id).slice(-8)}  ${oneLine(agent)}  asked ${dayAndTime(created)}, ${when}`),
  ];
}

/** Behind a margin, so that no argument can look like a line of the question. */
function argumentLines(ask: Ask, { style, width, isAscii }: Surface, most: number): string[] {
  const shown = shownArguments(ask, most);
  if (shown === null) return [];
  const { text, left } = shown;
  return [
    "  The call's arguments:",
    ...decisionLines(text, width - 4, { isAscii }).map((line) => `  ${style.dim("┆")} ${line}`),
    ...(left === 0
      ? []
      : wrap(`… ${leftOutWords(left)}`, width - 2).map((line) => style.yellow(`  ${line}`))),
  ];
}

export function renderAnswered({ title, state }: Ask, { style }: Surface): string[] {
  const sign = state === "Allowed" ? style.green("✓ allowed") : style.red("✗ denied");
  return [`${sign}  ${oneLine(title)}`];
}
