import { count, counted } from "../shared/format.ts";
import { pageLabel } from "../shared/label.ts";
import type { ShownProcess } from "./entries.ts";
import type { Head, Row } from "./messages.ts";

/** Words of the pages of conversations. */

type SignKind = "waiting" | "working" | "failed" | "quiet";

const processSigns: Readonly<
  Record<ShownProcess["state"], { readonly kind: SignKind; readonly words: string }>
> = {
  Waiting: { kind: "working", words: "Queued" },
  Running: { kind: "working", words: "Working" },
  WaitingForInput: { kind: "quiet", words: "Ready" },
  WaitingForApproval: { kind: "waiting", words: "Waiting for you" },
  Done: { kind: "quiet", words: "Done" },
  Failed: { kind: "failed", words: "Failed" },
  Cancelled: { kind: "failed", words: "Stopped" },
};

export function signOf({ state }: ShownProcess): { readonly kind: SignKind; readonly words: string } {
  return processSigns[state];
}

const kindWords: Readonly<Record<ShownProcess["kind"], string>> = {
  channel: "Conversation",
  branch: "Branch",
  worker: "Worker",
  compaction: "Summary",
  cortex: "Upkeep",
};

/** Returns "Branch", "Worker", or "Worker research" for a worker of a kind with a name. */
export function kindOf({ kind, name }: ShownProcess): string {
  return name === undefined ? kindWords[kind] : `${kindWords[kind]} ${pageLabel(name, 60)}`;
}

/** Returns the first line of its task, or what it is. */
export function nameOf(process: ShownProcess): string {
  const task = process.task?.trim().split("\n")[0] ?? "";
  return task === "" ? kindOf(process) : task;
}

export function isAtWork({ state }: ShownProcess): boolean {
  return state === "Running" || state === "Waiting";
}

/** Returns what a row of the list says of a conversation, besides its title. */
export function rowWords({ activity, waiting, unread, isArchived }: Row): string[] {
  return [
    ...(waiting > 0
      ? [`${count(waiting)} ${waiting === 1 ? "waits" : "wait"} for you`]
      : activity === "waiting"
        ? ["Waiting for you"]
        : []),
    ...(activity === "working" ? ["Working"] : activity === "failed" ? ["Failed"] : []),
    ...(unread > 0 ? [`${count(unread)} unread`] : []),
    ...(isArchived ? ["Archived"] : []),
  ];
}

/** Remedies for an error, by its class or code. */
const advice: Readonly<Record<string, string>> = {
  NoModel: "Name a model in your own lares.yaml, and send a message again.",
  UnknownModel: "Choose another model below, and send a message again.",
  NoKey: "Store the key with “Lares: Store a Secret”, and send a message again.",
  Unauthorized: "Check the key with “Lares: Secrets”, and send a message again.",
  RateLimited: "The provider asks to wait. Send a message again later.",
  Overloaded: "The provider is busy. Send a message again later.",
  Network: "Check the connection, and send a message again.",
  Timeout: "Check the connection, and send a message again.",
  ContextOverflow: "Summarise the earlier turns (More), or choose a model that reads more.",
  Filtered: "The provider refused the content. Say it differently, or choose another model.",
  BudgetExceeded: "A budget of your lares.yaml is used up. Raise it, or wait until it is renewed.",
  EmptyAnswer: "Send a message to ask again.",
};

/** Returns what to do about a process that failed. */
export function adviceFor(error: NonNullable<ShownProcess["error"]>): string {
  return (
    advice[error.class ?? ""] ??
    advice[error.code] ??
    (error.code === "ModelError"
      ? "Send a message to try again, or choose another model."
      : "Send a message to try again.")
  );
}

/** Returns "38,412 of 200,000 tokens". */
export function contextWords({ context: { tokens, limit } }: Pick<Head, "context">): string {
  return limit === 0 ? counted(tokens, "token") : `${count(tokens)} of ${counted(limit, "token")}`;
}

export function contextShare({ context: { tokens, limit } }: Pick<Head, "context">): number {
  return limit === 0 ? 0 : Math.min(100, Math.round((100 * tokens) / limit));
}

/** Returns "$0.42", "less than $0.01"; undefined where no price is known or nothing was paid. */
export function costWords(usd: number | undefined): string | undefined {
  if (usd === undefined || usd === 0) return undefined;
  return usd < 0.01 ? "less than $0.01" : `$${usd.toFixed(2)}`;
}

/** Returns "4 s", "2 min"; empty for times that cannot be read. */
export function durationWords(from: string, to: string): string {
  const ms = Date.parse(to) - Date.parse(from);
  if (Number.isNaN(ms) || ms < 0) return "";
  if (ms < 950) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 90_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
}

/** Returns the name of a file, with its lines if it is a part of it. */
export function fileWords(path: string, range: readonly [number, number] | undefined): string {
  if (range === undefined) return path;
  return range[0] === range[1] ? `${path}, line ${range[0]}` : `${path}, lines ${range[0]}–${range[1]}`;
}

/** "image/png" → "PNG picture" */
export function pictureWords(mediaType: string): string {
  const name = /^image\/([a-z]{2,8})$/.exec(mediaType)?.[1];
  return name === undefined ? "Picture" : `${name.toUpperCase()} picture`;
}
