import { newId } from "../base/ids.ts";
import { isLaresError, messageOf } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { JobService, WorkProgress } from "../services/ports.ts";
import type { Session } from "./session/session.ts";

/** The number of unanswered requests to show progress after which a client gets no further ones. */
export const maxUnanswered = 64;

/** Work in progress that this client shows. */
interface ShownWork {
  readonly token: string;
  /**
   * The last progress of each kind, until the client has accepted the token; then null, and progress is sent at once.
   */
  waiting: Map<WorkProgress["kind"], WorkProgress> | null;
  /** The id of the job; undefined for other work, which cannot be cancelled. */
  readonly job: string | undefined;
  isCancelled: boolean;
}

/** Sends `$/progress` for long work to a client that supports it. */
export class ProgressReporter {
  readonly #session: Session;
  readonly #jobs: Pick<JobService, "cancel">;
  readonly #log: Log;
  readonly #shown = new Map<string, ShownWork>();
  #unanswered = 0;

  constructor(session: Session, jobs: Pick<JobService, "cancel">, log: Log) {
    this.#session = session;
    this.#jobs = jobs;
    this.#log = log;
  }

  report(progress: WorkProgress): void {
    if (!this.#session.supportsProgress) return;
    const { work } = progress;
    if (progress.kind === "begin" && this.#unanswered < maxUnanswered)
      this.#shown.set(work, this.#begin(progress.job));
    // Work without an entry began before this client connected, or is not shown.
    const shown = this.#shown.get(work);
    if (progress.kind === "end") this.#shown.delete(work);
    if (shown === undefined) return;
    if (shown.waiting === null) this.#send(shown, progress);
    else shown.waiting.set(progress.kind, progress);
  }

  /**
   * Handles `window/workDoneProgress/cancel`. Ignores a token that is unknown, or whose work has ended or cannot be
   * cancelled: the work may have ended before the person clicked.
   */
  cancel(params: unknown): void {
    const token = isJsonObject(params) ? params["token"] : undefined;
    const shown = [...this.#shown.values()].find((one) => one.token === token);
    if (shown?.job === undefined || shown.isCancelled) return;
    shown.isCancelled = true;
    this.#jobs.cancel(this.#session.client.principal, shown.job).catch((error: unknown) => {
      if (isLaresError(error, "NotFound") || isLaresError(error, "IllegalTransition")) return;
      // Allows another attempt.
      shown.isCancelled = false;
      this.#log.warn(`A job could not be cancelled: ${messageOf(error)}`);
    });
  }

  #begin(job: string | undefined): ShownWork {
    const shown: ShownWork = { token: newId(), waiting: new Map(), job, isCancelled: false };
    this.#unanswered++;
    this.#session.endpoint
      .request("window/workDoneProgress/create", { token: shown.token })
      .then(() => {
        for (const progress of shown.waiting?.values() ?? []) this.#send(shown, progress);
        shown.waiting = null;
      })
      .catch((error: unknown) => this.#log.debug(`progress cannot be shown: ${messageOf(error)}`))
      .finally(() => this.#unanswered--);
    return shown;
  }

  #send({ token }: ShownWork, progress: WorkProgress): void {
    this.#session.endpoint.notifyStandard("$/progress", { token, value: valueOf(progress) });
  }
}

/** Returns the value of `$/progress` as the LSP defines it. */
function valueOf(progress: WorkProgress): object {
  switch (progress.kind) {
    case "begin":
      return { kind: "begin", title: progress.title, cancellable: progress.job !== undefined };
    case "report":
      return { kind: "report", message: progress.message, percentage: progress.percentage };
    case "end":
      return { kind: "end", message: progress.message };
  }
}
