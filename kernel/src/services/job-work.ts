import { plainMessage, withoutIcons } from "../base/plain-text.ts";
import type { WorkProgress } from "./ports.ts";

/** How a job of an agent goes. `interrupted`: it goes on later, from its last checkpoint. `cancelled`: by a person. */
type JobNews = { readonly id: string; readonly agent: string } & (
  | { readonly kind: "begin"; readonly name: string }
  /** From 0 to 1. */
  | { readonly kind: "report"; readonly fraction: number; readonly message?: string }
  | { readonly kind: "end"; readonly outcome: "completed" | "failed" | "interrupted" | "cancelled" }
);
type JobOutcome = Extract<JobNews, { kind: "end" }>["outcome"];

const outcomes: Readonly<Record<JobOutcome, string>> = {
  completed: "done",
  failed: "failed",
  interrupted: "goes on later",
  cancelled: "cancelled",
};

/** Characters of a stranger's words that are shown: an editor has one line for all that goes on. */
const maxShownCharacters = 200;

/** A job as a person sees its progress; what its program calls it, and says of it, are a stranger's words. */
export function workOfJob(told: JobNews): WorkProgress {
  const work = `job ${told.id}`;
  if (told.kind === "begin")
    return { work, kind: "begin", title: `Lares: ${shown(told.name)} (${told.agent})`, job: told.id };
  if (told.kind === "end") return { work, kind: "end", message: outcomes[told.outcome] };
  const percentage = Math.floor(told.fraction * 100);
  return { work, kind: "report", message: shown(told.message ?? `${percentage} %`), percentage };
}

function shown(words: string): string {
  const plain = withoutIcons(plainMessage(words));
  return plain.length <= maxShownCharacters ? plain : `${plain.slice(0, maxShownCharacters).toWellFormed()}…`;
}
