import { newId } from "../base/ids.ts";
import { isLaresError, messageOf } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { JobService, WorkProgress } from "../services/ports.ts";
import type { Session } from "./session/session.ts";

/** A client that was asked so often to show progress, and has not answered, is asked for no more until it does. */
export const maxUnanswered = 64;

/** Work under way, as this client is told of it. */
interface Shown {
  readonly token: string;
  /**
   * What the client is told once it has made room for it, by kind: the last of each. Null once it has; then everything is
   * told at once.
   */
  waiting: Map<WorkProgress["kind"], WorkProgress> | null;
  /** The job that it is, where it is one: only that can be cancelled. */
  readonly job: string | undefined;
  isCancelled: boolean;
}

/** `$/progress` for work that takes a while, where the client shows progress. */
export class ProgressReporter {
  readonly #session: Session;
  readonly #jobs: Pick<JobService, "cancel">;
  readonly #log: Log;
  readonly #shown = new Map<string, Shown>();
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
    // Of work that began before this client came, or was not shown, there is nothing to go on with.
    const shown = this.#shown.get(work);
    if (progress.kind === "end") this.#shown.delete(work);
    if (shown === undefined) return;
    if (shown.waiting === null) this.#tell(shown, progress);
    else shown.waiting.set(progress.kind, progress);
  }

  /**
   * `window/workDoneProgress/cancel`. A token that is not this client's, or whose work is over or none that can be
   * cancelled, means nothing: the person was slower than the work.
   */
  cancel(params: unknown): void {
    const token = isJsonObject(params) ? params["token"] : undefined;
    const shown = [...this.#shown.values()].find((one) => one.token === token);
    if (shown?.job === undefined || shown.isCancelled) return;
    shown.isCancelled = true;
    this.#jobs.cancel(this.#session.client.principal, shown.job).catch((error: unknown) => {
      if (isLaresError(error, "NotFound") || isLaresError(error, "IllegalTransition")) return;
      // It may be tried again.
      shown.isCancelled = false;
      this.#log.warn(`A job was not cancelled: ${messageOf(error)}`);
    });
  }

  #begin(job: string | undefined): Shown {
    const shown: Shown = { token: newId(), waiting: new Map(), job, isCancelled: false };
    this.#unanswered++;
    this.#session.endpoint
      .request("window/workDoneProgress/create", { token: shown.token })
      .then(() => {
        for (const progress of shown.waiting?.values() ?? []) this.#tell(shown, progress);
        shown.waiting = null;
      })
      .catch((error: unknown) => this.#log.debug(`no progress is shown: ${messageOf(error)}`))
      .finally(() => this.#unanswered--);
    return shown;
  }

  #tell({ token }: Shown, progress: WorkProgress): void {
    this.#session.endpoint.notifyStandard("$/progress", { token, value: valueOf(progress) });
  }
}

/** As the LSP has it. */
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
