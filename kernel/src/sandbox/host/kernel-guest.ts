import { Emitter } from "../../base/emitter.ts";
import { hostBounds as bounds } from "./bounds.ts";
import { CreditWindow } from "../../platform/children/credit.ts";
import { countFrame, frame } from "../../platform/children/frames.ts";
import { lineTooLong } from "./ends.ts";
import { frameType, type UsageSample } from "./frame-types.ts";
import { LineSplitter } from "./line-splitter.ts";

/** How a guest ended. */
interface GuestExit {
  readonly reason: string;
  readonly isSandboxFault: boolean;
}

/** One running guest, as the kernel sees it. */
export interface Guest {
  /** Writes a line to stdin and adds "\n". Does nothing after the guest has ended. */
  send(line: string): void;
  /** Writes bytes to stdin as they are. Does nothing after the guest has ended. */
  sendBytes(bytes: Uint8Array): void;
  /** Complete lines of its stdout, without "\n". */
  readonly lines: Emitter<string>;
  /** Lines of stderr, cut and bounded. A separate line reports how many bytes were dropped. */
  readonly stderr: Emitter<string>;
  /** Emitted while the guest is active, and once afterwards. */
  readonly usage: Emitter<UsageSample>;
  /** Resolves when the guest has ended, with a sentence that gives the reason. */
  readonly exited: Promise<GuestExit>;
  /** Terminates the guest at any time. Resolves when its thread has ended. */
  kill(reason?: string): Promise<void>;
}

interface GuestLink {
  write(...parts: readonly Uint8Array[]): void;
  kill(reason: string): void;
}

/** The kernel's end of a guest's pipes: lines, bounds, and credit for the other end. */
export class KernelGuest implements Guest {
  readonly lines = new Emitter<string>();
  readonly stderr = new Emitter<string>();
  readonly usage = new Emitter<UsageSample>();
  readonly exited: Promise<GuestExit>;
  readonly #id: number;
  readonly #link: GuestLink;
  readonly #output = new LineSplitter(bounds.maxLineBytes);
  readonly #resolveExited: (exit: GuestExit) => void;
  readonly #window = new CreditWindow(bounds.stdoutWindowBytes, (count) =>
    this.#link.write(...countFrame(frameType.stdoutCredit, this.#id, count)),
  );
  #outgoing: Uint8Array[] = [];
  #unreadBytes = 0;
  #endReason: string | null = null;
  #stderrRest = "";

  constructor(id: number, link: GuestLink) {
    this.#id = id;
    this.#link = link;
    const { promise, resolve } = Promise.withResolvers<GuestExit>();
    this.exited = promise;
    this.#resolveExited = resolve;
  }

  send(line: string): void {
    // From the pool: an array of its own for each line would keep the garbage collector busy.
    this.sendBytes(Buffer.from(`${line}\n`));
  }

  sendBytes(bytes: Uint8Array): void {
    if (this.#endReason !== null) return;
    this.#unreadBytes += bytes.length;
    if (this.#unreadBytes > bounds.maxUnreadBytes) {
      this.#end(
        `The program left ${this.#unreadBytes} bytes of its input unread; the limit is ${bounds.maxUnreadBytes}.`,
      );
      return;
    }
    // Everything sent within one turn goes into one frame.
    if (this.#outgoing.push(bytes) === 1) queueMicrotask(() => this.#flush());
  }

  async kill(reason = "The kernel terminated it."): Promise<void> {
    this.#end(reason);
    await this.exited;
  }

  /** Lets output flow. */
  open(): void {
    this.#window.open();
  }

  receiveOutput(bytes: Uint8Array): void {
    if (this.#endReason !== null) return;
    const lines = this.#output.push(bytes);
    if (lines === null) {
      this.#end(lineTooLong);
      return;
    }
    this.#window.taken(bytes.length);
    for (const line of lines) {
      this.lines.emit(line);
    }
  }

  receiveStderr(text: string): void {
    const parts = (this.#stderrRest + text).split("\n");
    this.#stderrRest = parts.pop() ?? "";
    if (this.#stderrRest.length > bounds.maxStderrLineBytes) {
      parts.push(this.#stderrRest);
      this.#stderrRest = "";
    }
    for (const line of parts) if (line !== "") this.stderr.emit(cut(line));
  }

  receiveTaken(count: number): void {
    this.#unreadBytes -= count;
  }

  /** `isSandboxFault` is true if the sandbox failed, not the program. */
  receiveExit(reason: string, isSandboxFault = false): void {
    if (this.#stderrRest !== "") this.stderr.emit(cut(this.#stderrRest));
    this.#stderrRest = "";
    this.#endReason ??= reason;
    this.#resolveExited({ reason: this.#endReason, isSandboxFault });
  }

  #flush(): void {
    const parts = this.#outgoing;
    this.#outgoing = [];
    if (this.#endReason !== null) return;
    const single = parts.length === 1 ? parts[0] : undefined;
    this.#link.write(...frame(frameType.stdin, this.#id, single ?? Buffer.concat(parts)));
  }

  #end(reason: string): void {
    if (this.#endReason !== null) return;
    this.#endReason = reason;
    this.#link.kill(reason);
  }
}

function cut(line: string): string {
  return line.length > bounds.maxStderrLineBytes ? `${line.slice(0, bounds.maxStderrLineBytes)}…` : line;
}
