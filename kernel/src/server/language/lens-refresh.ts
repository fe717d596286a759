import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Session } from "../session/session.ts";
import { supports } from "../session/params.ts";

/** Sends `workspace/codeLens/refresh`. One request is open at a time; all changes meanwhile share the next one. */
export class LensRefresh {
  readonly #session: Session;
  readonly #log: Log;
  #isAsking = false;
  #isDue = false;

  constructor(session: Session, log: Log) {
    this.#session = session;
    this.#log = log;
  }

  lensesChanged(): void {
    if (!supports(this.#session, "workspace", "codeLens", "refreshSupport")) return;
    this.#isDue = true;
    if (!this.#isAsking) void this.#askWhileDue();
  }

  async #askWhileDue(): Promise<void> {
    this.#isAsking = true;
    try {
      while (this.#isDue) {
        this.#isDue = false;
        await this.#session.endpoint.request("workspace/codeLens/refresh", undefined);
      }
    } catch (error) {
      this.#log.debug(`lenses could not be refreshed: ${messageOf(error)}`);
    } finally {
      this.#isAsking = false;
    }
  }
}
