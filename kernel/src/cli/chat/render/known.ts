import type { Known, KnownPanel } from "../state/memories.ts";
import { manyLines, oneLine } from "../../render/foreign.ts";
import type { Surface } from "../../render/style.ts";
import { truncate, wrap } from "../../render/width.ts";

/** Lines of a text that is not selected in full. */
const maxTextLines = 12;

/** Returns a list of what the mind knows, with the selected one in full. */
export function knownPanelLines(
  { title, items, selected }: KnownPanel,
  surface: Surface,
): { readonly lines: readonly string[]; readonly top: number } {
  const { style, width } = surface;
  const lines = [...wrap(title, width).map((line) => style.bold(line)), ""];
  let top = 0;
  for (const [index, item] of items.entries()) {
    const isChosen = index === selected;
    if (isChosen) top = Math.max(0, lines.length - 4);
    const [first = "", ...rest] = isChosen
      ? itemLines(item, surface, width - 2)
      : [truncate(headOf(item), width - 2)];
    lines.push(
      `${isChosen ? style.cyan("▌") : " "} ${isChosen ? style.bold(first) : first}`,
      ...rest.map((line) => `${isChosen ? style.cyan("▌") : " "} ${line}`),
      ...wrap(item.facts.map(oneLine).join(" · "), width - 2).map(
        (line) => `${isChosen ? style.cyan("▌") : " "} ${style.dim(line)}`,
      ),
    );
  }
  return { lines, top };
}

/** Returns the same without keys, each with what names it in a command. */
export function knownLines(
  { title, items }: { readonly title: string; readonly items: readonly Known[] },
  surface: Surface,
): string[] {
  const { style, width } = surface;
  return [
    ...wrap(title, width),
    ...items.flatMap((item) => {
      const [first = "", ...rest] = itemLines(item, surface, width - 10);
      return [
        "",
        `${nameOf(item).padEnd(8)}  ${first}`,
        ...[
          ...rest,
          ...wrap(item.facts.map(oneLine).join(" · "), width - 10).map((line) => style.dim(line)),
        ].map((line) => `${" ".repeat(10)}${line}`),
      ];
    }),
  ];
}

/** How a command names a memory: by the last characters of its id. */
export const shortIdLength = 8;

function nameOf(item: Known): string {
  return item.kind === "memory" && item.id !== null ? oneLine(item.id).slice(-shortIdLength) : "";
}

function kindOf(item: Known): string {
  switch (item.kind) {
    case "memory":
      return item.type === "" ? "Memory" : oneLine(item.type);
    case "block":
      return `Block ${oneLine(item.name)}`;
    case "bulletin":
      return "Bulletin";
  }
}

const headOf = (item: Known): string =>
  `${kindOf(item)}: ${item.text === "" ? "(empty)" : oneLine(item.text)}`;

function itemLines(item: Known, surface: Surface, width: number): string[] {
  const text = item.text === "" ? "(empty)" : item.text;
  const now = item.kind === "bulletin" ? undefined : item.now;
  return [
    ...quotedLines(`${kindOf(item)}: ${text}`, surface, width),
    ...(now === undefined ? [] : quotedLines(`Now: ${now}`, surface, width)),
  ];
}

/** Marks all lines but the first one as parts of a text, so that none of them looks like the program's own. */
function quotedLines(text: string, { style }: Surface, width: number): string[] {
  const [first = "", ...rest] = manyLines(text).flatMap((line) => wrap(line, width - 2));
  const left = rest.length + 1 - maxTextLines;
  return [
    first,
    ...rest.slice(0, maxTextLines - 1).map((line) => `${style.dim("┆")} ${line}`),
    ...(left > 0 ? [style.dim(`… and ${left} more lines`)] : []),
  ];
}
