import { isJsonObject } from "../../base/json.ts";
import { valueAt, type SourceNode } from "../text/source.ts";
import type { EditedDocument } from "./complete.ts";
import type { EventLanguage } from "./ports.ts";
import { nextTurn } from "../text/turns.ts";
import { readingOf } from "./reading.ts";
import { explainSchedule } from "./schedule.ts";

/** A hint that an editor shows after `offset`, in UTF-16 units. */
interface InlayHint {
  readonly offset: number;
  readonly label: string;
  /** Lines. */
  readonly tooltip: readonly string[];
}

/** Maximum number of hints in one document. */
export const maxInlayHints = 256;

/** Returns a hint for every schedule in the range: its description and its next runs. */
export async function inlayHints(
  { kind, format, text }: EditedDocument,
  range: { readonly start: number; readonly end: number },
  events: EventLanguage,
): Promise<readonly InlayHint[]> {
  const reading = kind === "manifest" ? await readingOf(text, format) : null;
  if (reading === null) return [];
  const hooks = valueAt(reading.value, "/extension/hooks");
  const hints: InlayHint[] = [];
  for (const [index, hook] of (Array.isArray(hooks) ? hooks : []).entries()) {
    if (hints.length >= maxInlayHints) break;
    await nextTurn();
    const schedule: unknown = isJsonObject(hook) ? hook["schedule"] : undefined;
    const timezone: unknown = isJsonObject(hook) ? hook["timezone"] : undefined;
    const node = nodeOf(reading.root, ["extension", "hooks", String(index), "schedule"]);
    if (typeof schedule !== "string" || node === undefined) continue;
    if (node.end < range.start || node.end > range.end) continue;
    const explained = await explainSchedule(
      schedule,
      typeof timezone === "string" ? timezone : undefined,
      events,
    );
    if (explained === null) continue;
    const { words, runs, dates, timezone: zone } = explained;
    hints.push({
      offset: node.end,
      label: `${words.charAt(0).toLowerCase()}${words.slice(1)} → ${shortly(runs, words)} ${zone}`,
      tooltip: [`${words} (${zone})`, ...dates.map((date) => `Next: ${date}`)],
    });
  }
  return hints;
}

/** Days and times without repetitions: editors truncate a line's hints, VS Code after 43 characters. */
function shortly(runs: readonly string[], words: string): string {
  const days = runs.map((run) => run.slice(0, run.lastIndexOf(" ")));
  const times = runs.map((run) => run.slice(run.lastIndexOf(" ") + 1));
  const [day = "", time = ""] = [days[0], times[0]];
  if (times.every((other) => other === time))
    return words.includes(time) ? days.join(", ") : `${days.join(", ")} ${time}`;
  return days.every((other) => other === day) ? `${day} ${times.join(", ")}` : runs.join(", ");
}

function nodeOf(root: SourceNode, keys: readonly string[]): SourceNode | undefined {
  return keys.reduce<SourceNode | undefined>((node, key) => node?.children.get(key), root);
}
