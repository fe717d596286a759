import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";

/** Work that nobody waits for until the actions are closed. */
export class Background {
  readonly #log: Log;
  readonly #running = new Set<Promise<void>>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** `failure`: the sentence for the log if it fails. */
  run(running: Promise<void>, failure: string): void {
    const reported = running
      .catch((error: unknown) => this.#log.error(failure, { error: messageOf(error) }))
      .finally(() => this.#running.delete(reported));
    this.#running.add(reported);
  }

  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }
}
