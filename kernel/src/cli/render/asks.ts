import type { Ask } from "../../base/vocabulary/ask.ts";
import { requestedByLines } from "../../base/vocabulary/principal.ts";
import { seenFrom, type Here } from "./action.ts";
import { oneLine } from "./foreign.ts";
import { dayAndTime } from "./quantities.ts";
import type { Surface } from "./style.ts";
import { wrap } from "./width.ts";
import { hint } from "./hint.ts";

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

/** Renders one question. */
export function renderAsk(ask: Ask, { style, width }: Surface, here?: Pick<Here, "conversation">): string[] {
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
    // The end of an id: its start is the time, which questions of the same period share.
    style.dim(`  ${oneLine(id).slice(-8)}  ${oneLine(agent)}  asked ${dayAndTime(created)}, ${when}`),
  ];
}

export function renderAnswered({ title, state }: Ask, { style }: Surface): string[] {
  const sign = state === "Allowed" ? style.green("✓ allowed") : style.red("✗ denied");
  return [`${sign}  ${oneLine(title)}`];
}
