import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { locateModule, startChildProcess } from "../../platform/child-process.ts";
import { siblingModule } from "../../platform/sibling-module.ts";
import { hostBounds as bounds } from "./bounds.ts";
import { sandboxFault } from "./faults.ts";
import { HostLink } from "./host-link.ts";
import { ownThread } from "./thread-priority.ts";

/** Keeps one host process: started when first needed, and again after it died, with growing pauses. */
export class HostKeeper implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #log: Log;
  #link: HostLink | null = null;
  #starting: Promise<HostLink> | null = null;
  /** Deaths in a row; a host that lived long enough ends the row. */
  #deaths = 0;
  #isDisposed = false;
  #endPause = (): void => {};

  constructor(options: { readonly clock: Clock; readonly log: Log }) {
    this.#clock = options.clock;
    this.#log = options.log;
  }

  get pid(): number | null {
    return this.#link?.isAlive === true ? this.#link.pid : null;
  }

  /** The running host. Throws LaresError "AgentError" where none can be started. */
  async connect(): Promise<HostLink> {
    if (this.#isDisposed) throw sandboxFault("The sandbox host has been closed.");
    if (this.#link?.isAlive === true) return this.#link;
    this.#starting ??= this.#launch().finally(() => (this.#starting = null));
    return await this.#starting;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    this.#endPause();
    await this.#starting?.catch((error: unknown) =>
      this.#log.debug("sandbox host", { error: messageOf(error) }),
    );
    await this.#link?.kill();
  }

  async #launch(): Promise<HostLink> {
    if (this.#deaths > 0) await this.#pause();
    if (this.#isDisposed) throw sandboxFault("The sandbox host has been closed.");
    const sdk = locateModule("@wasmer/sdk/browser", import.meta.url);
    try {
      const child = await startChildProcess({
        entry: siblingModule(import.meta.url, "host-process"),
        // The kernel's own modules and the SDK; nothing of the workspace, nothing of the person's. A thread's own number.
        readable: [new URL("../../", import.meta.url), sdk.folder, ownThread],
        workers: true,
        arguments: [sdk.url],
      });
      child.output.on((line) => this.#log.warn("sandbox host", { line }));
      const link = new HostLink(child, this.#clock);
      this.#watch(link);
      this.#link = link;
      return link;
    } catch (error) {
      this.#deaths++;
      throw sandboxFault(`The sandbox host could not be started: ${messageOf(error)}`);
    }
  }

  #watch(link: HostLink): void {
    const bornAt = this.#clock.monotonic();
    void link.ended.then((how) => {
      if (this.#isDisposed) return;
      const livedMs = this.#clock.monotonic() - bornAt;
      this.#deaths = livedMs >= bounds.stableAfterMs ? 1 : this.#deaths + 1;
      this.#log.error("the sandbox host process is gone", { how, deaths: this.#deaths });
    });
  }

  #pause(): Promise<void> {
    const delayMs = Math.min(bounds.maxRestartDelayMs, bounds.firstRestartDelayMs * 2 ** (this.#deaths - 1));
    return new Promise((resolve) => {
      this.#endPause = resolve;
      this.#clock.timer(delayMs, resolve);
    });
  }
}
