import { OneAtATime } from "../base/one-at-a-time.ts";
import type { ConversationLog } from "./conversation-log.ts";
import type { ConversationRow } from "./indexed.ts";

/** A log in use. It stays open until it is disposed. */
export interface OpenLog extends Disposable {
  readonly log: ConversationLog;
}

interface Opened {
  readonly opening: Promise<ConversationLog>;
  /** Null while it is opened. */
  log: ConversationLog | null;
  users: number;
}

/** Logs without a user that stay open, because they may soon have one. */
const maxIdle = 16;

/** The logs that are open, each once, and for whom. */
export class OpenLogs implements AsyncDisposable {
  /** In the order of their last use. */
  readonly #open = new Map<string, Opened>();
  /** Closing and deleting; an opening waits for them, and everybody shares one opening. */
  readonly #turns = new OneAtATime();

  has(id: string): boolean {
    return this.#open.has(id);
  }

  /**
   * Returns what is known of a listed conversation at this time if its log is open and whole, and the next kernel would know it too;
   * else null.
   */
  rowOf(id: string): ConversationRow | null {
    const log = this.#open.get(id)?.log ?? null;
    if (log?.isListed !== true || !log.isIndexed || log.isBroken) return null;
    return { ...log.row, state: structuredClone(log.state) };
  }

  /** Returns the log for one more user. Several that come at once share one opening. */
  async use(id: string, start: () => Promise<ConversationLog>): Promise<OpenLog> {
    const known = this.#open.get(id);
    if (known?.users === 0 && (await known.opening.catch(() => null))?.isBroken === true)
      await this.close(id);
    let opened = this.#open.get(id);
    if (opened === undefined) {
      opened = { opening: this.#turns.run(id, start), users: 0, log: null };
      const starting = opened;
      starting.opening.then(
        (log) => (starting.log = log),
        () => {
          if (this.#open.get(id) === starting) this.#open.delete(id);
        },
      );
    } else this.#open.delete(id);
    this.#open.set(id, opened);
    opened.users++;
    const used = opened;
    let isUsed = true;
    const log = await opened.opening;
    return {
      log,
      [Symbol.dispose]: () => {
        if (!isUsed) return;
        isUsed = false;
        used.users--;
        this.#closeIdle();
      },
    };
  }

  #closeIdle(): void {
    const idle = [...this.#open].filter(([, { users }]) => users === 0);
    for (const [id] of idle.slice(0, Math.max(0, idle.length - maxIdle))) void this.close(id).catch(() => {});
  }

  async close(id: string): Promise<void> {
    if (this.#open.has(id)) await this.closedFor(id, async () => {});
  }

  /** Closes the log and runs `work` before anybody can open it again. `work` must not open it. */
  async closedFor<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    const opened = this.#open.get(id);
    this.#open.delete(id);
    return await this.#turns.run(id, async () => {
      const log = await opened?.opening.catch(() => null);
      await log?.[Symbol.asyncDispose]();
      return await work();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled([...this.#open.keys()].map((id) => this.close(id)));
  }
}
