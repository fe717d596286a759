import { oneLine } from "./foreign.ts";
import { counted } from "./quantities.ts";
import type { Style, Surface } from "./style.ts";
import { wrap } from "./width.ts";

/** A rule of the guest ABI, and whether a program holds to it. */
export interface RuleResult {
  readonly rule: string;
  readonly title: string;
  readonly status: "holds" | "violated" | "not_applicable";
  readonly detail: string;
}

const indent = "    ";

/** Returns each rule with its sentence and what was seen, and a last line with the counts. */
export function renderConformance(results: readonly RuleResult[], { style, width }: Surface): string[] {
  const count = (status: RuleResult["status"]): number =>
    results.filter((result) => result.status === status).length;
  const violated = count("violated");
  const summary = `${counted(count("holds"), "rule")} held, ${violated} violated, ${count("not_applicable")} not applicable`;
  return [
    ...results.flatMap((result) => {
      const lines = (text: string): string[] =>
        wrap(oneLine(text), width - indent.length).map((line) => `${indent}${line}`);
      return [
        `${mark(result, style)} ${style.bold(result.rule)}`,
        ...lines(result.title),
        ...lines(result.detail).map((line) => style.dim(line)),
      ];
    }),
    violated > 0 ? style.red(`✗ ${summary}`) : style.green(`✓ ${summary}`),
  ];
}

function mark({ status }: RuleResult, style: Style): string {
  if (status === "holds") return style.green("✓");
  return status === "violated" ? style.red("✗") : style.dim("–");
}
