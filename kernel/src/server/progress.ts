import { newId } from "../base/ids.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { WorkProgress } from "./ports.ts";
import type { Session } from "./session.ts";

/** `$/progress` for work that takes a while, where the client shows progress. */
export class ProgressReporter {
  readonly #session: Session;
  readonly #log: Log;
  /** Of each work under way: its token, once the client has made room for it. */
  readonly #tokens = new Map<string, Promise<string>>();

  constructor(session: Session, log: Log) {
    this.#session = session;
    this.#log = log;
  }

  report({ work, ...value }: WorkProgress): void {
    if (!this.#session.supportsProgress) return;
    if (value.kind === "begin") {
      const token = this.#create();
      this.#tokens.set(work, token);
      token.catch((error: unknown) => this.#log.debug(`no progress is shown: ${messageOf(error)}`));
    }
    // Of work that began before this client came there is nothing to go on with.
    const token = this.#tokens.get(work);
    if (value.kind === "end") this.#tokens.delete(work);
    token?.then(
      (created) => this.#session.endpoint.notifyStandard("$/progress", { token: created, value }),
      () => undefined, // said when it was made
    );
  }

  async #create(): Promise<string> {
    const token = newId();
    await this.#session.endpoint.request("window/workDoneProgress/create", { token });
    return token;
  }
}
