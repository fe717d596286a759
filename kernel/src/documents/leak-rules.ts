import type { LaresDocument } from "./schema/lares.ts";
import type { EgressDocument, LeakRuleDocument } from "./schema/egress.ts";
import { compilePattern } from "../base/linear-pattern.ts";
import { PatternBudget, patternFault, stepsAtMost } from "./pattern-checks.ts";
import { diagnostic, type Diagnostic } from "./text/diagnostics.ts";
import { pointerTo, type ParsedDocument } from "./text/source.ts";

/** Steps that a pattern may take for one character, counted by its length and repetitions. */
const maxPatternSteps = 4_000;

const noRules: readonly LeakRuleDocument[] = [];
/** Asked for with every request and every trace, so that patterns are tried once for each reading of the document. */
const usable = new WeakMap<readonly LeakRuleDocument[], readonly LeakRuleDocument[]>();

/** Returns the rules whose patterns can be used. The others are reported where the document is checked. */
export function usableLeakRules(egress: EgressDocument): readonly LeakRuleDocument[] {
  const rules = egress.leak_rules ?? noRules;
  const known = usable.get(rules) ?? rules.filter(({ pattern }) => leakPatternFault(pattern) === null);
  usable.set(rules, known);
  return known;
}

/** A pattern that cannot be used is a warning: the rest of the document stays in force. */
export function checkLeakRules({ egress = {} }: LaresDocument, document: ParsedDocument): Diagnostic[] {
  return (egress.leak_rules ?? []).flatMap(({ name, pattern }, index) => {
    const fault = leakPatternFault(pattern);
    if (fault === null) return [];
    const pointer = pointerTo("/egress/leak_rules", index, "pattern");
    const message = `The pattern of "${name}" is not used: ${fault}.`;
    return [diagnostic("leak-rule-unused", document.locate(pointer), message)];
  });
}

function leakPatternFault(pattern: string): string | null {
  if (stepsAtMost(pattern) > maxPatternSteps)
    return "it repeats too much. Its length times its largest repetitions may be 4,000";
  const fault = patternFault(pattern, new PatternBudget());
  if (fault !== null) return `RE2 cannot read it (${fault})`;
  return compilePattern(pattern).matcher("").matches() ? "it matches a text without characters" : null;
}
