import { newId } from "../base/ids.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { IndexProgress } from "./ports.ts";
import type { Session } from "./session.ts";

/** `$/progress` for index runs, where the client shows progress. */
export class ProgressReporter {
  readonly #session: Session;
  readonly #log: Log;
  #token: Promise<string> | null = null;

  constructor(session: Session, log: Log) {
    this.#session = session;
    this.#log = log;
  }

  report(progress: IndexProgress): void {
    if (!this.#session.supportsProgress) return;
    if (progress.kind === "begin") {
      this.#token = this.#begin();
      this.#token.catch((error: unknown) => this.#log.debug(`no progress is shown: ${messageOf(error)}`));
    } else if (this.#token !== null) {
      const token = this.#token;
      this.#token = null;
      const value = { kind: "end", message: `${progress.entries} entries` };
      token.then(
        (created) => this.#session.endpoint.notifyStandard("$/progress", { token: created, value }),
        () => undefined, // said when it began
      );
    }
  }

  async #begin(): Promise<string> {
    const token = newId();
    await this.#session.endpoint.request("window/workDoneProgress/create", { token });
    this.#session.endpoint.notifyStandard("$/progress", {
      token,
      value: { kind: "begin", title: "Lares: indexing" },
    });
    return token;
  }
}
