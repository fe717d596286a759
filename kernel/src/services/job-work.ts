import { plainMessage, withoutIcons } from "../base/plain-text.ts";
import type { WorkProgress } from "./ports.ts";

/** A change of an agent's job. `interrupted`: it continues from its last checkpoint. `cancelled`: by a person. */
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

/** Maximum characters of an extension's text that are shown, because editors show all progress in one line. */
const maxShownCharacters = 200;

/** Returns a job's progress for people. The job's name and message come from the extension. */
export function workOfJob(news: JobNews): WorkProgress {
  const work = `job ${news.id}`;
  if (news.kind === "begin")
    return { work, kind: "begin", title: `Lares: ${shown(news.name)} (${news.agent})`, job: news.id };
  if (news.kind === "end") return { work, kind: "end", message: outcomes[news.outcome] };
  const percentage = Math.floor(news.fraction * 100);
  return { work, kind: "report", message: shown(news.message ?? `${percentage} %`), percentage };
}

function shown(words: string): string {
  const plain = withoutIcons(plainMessage(words));
  return plain.length <= maxShownCharacters ? plain : `${plain.slice(0, maxShownCharacters).toWellFormed()}…`;
}
