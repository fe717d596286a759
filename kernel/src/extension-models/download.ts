import type { Clock } from "../base/clock.ts";
import { LaresError, limitExceeded } from "../base/errors.ts";
import type { ModelSource } from "../base/vocabulary/declared-model.ts";
import { waitUnlessAborted } from "../base/wait.ts";
import { type EgressAnswer, EgressError } from "../egress/client/answer.ts";
import { removeFile } from "../platform/files/cached-files.ts";
import { PartialFile } from "../platform/files/partial-file.ts";

interface DownloadPorts {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Asks for the file from this byte on. Rejects with EgressError. */
  request(fromByte: number, maxBytes: number): Promise<EgressAnswer>;
  /** Receives how many bytes there are. */
  received(bytes: number): void;
}

/** Attempts that may follow each other without a byte of the file. */
const maxIdleAttempts = 3;
const maxAttempts = 50;
const firstPauseMs = 500;

/**
 * Downloads a model to the file at `path`, and continues an earlier download of it. Resolves when the whole file has the
 * declared digest. Rejects with DigestMismatch or LimitExceeded after deleting a file that is not the declared one; with
 * NetworkError, EgressDenied or the signal's reason after a break, which leaves what arrived for the next time.
 */
export async function downloadModel(path: string, source: ModelSource, ports: DownloadPorts): Promise<void> {
  const part = await PartialFile.open(path, source);
  try {
    await new Download(part, source, ports).run();
    await part.flush();
  } catch (error) {
    await part.close();
    if (error instanceof RefusedFile || part.size === 0) await removeFile(path);
    throw error instanceof RefusedFile ? error.reason : error;
  }
  await part.close();
}

/** The file is not the declared one. */
class RefusedFile extends Error {
  readonly reason: LaresError;

  constructor(reason: LaresError) {
    super(reason.message);
    this.reason = reason;
  }
}

class Download {
  readonly #part: PartialFile;
  readonly #source: ModelSource;
  readonly #ports: DownloadPorts;
  /** True while the file holds bytes that came before this download, which may be of another version. */
  #isResumed: boolean;

  constructor(part: PartialFile, source: ModelSource, ports: DownloadPorts) {
    this.#part = part;
    this.#source = source;
    this.#ports = ports;
    this.#isResumed = part.size > 0;
  }

  async run(): Promise<void> {
    if (this.#part.digest() === this.#source.sha256) return;
    const { clock, signal } = this.#ports;
    let idle = 0;
    for (let attempt = 1; ; attempt++) {
      const before = this.#part.size;
      const ended = await this.#attempt();
      if (ended === "whole") return;
      idle = this.#part.size > before ? 0 : idle + 1;
      if (ended !== "again" && (idle >= maxIdleAttempts || attempt >= maxAttempts)) throw ended;
      if (ended === "again") idle = 0;
      else await waitUnlessAborted(clock, firstPauseMs * 2 ** idle, signal);
      signal.throwIfAborted();
    }
  }

  /** Returns the error of an attempt that may be repeated. */
  async #attempt(): Promise<"whole" | "again" | LaresError> {
    const { url, maxBytes } = this.#source;
    const from = this.#part.size;
    let answer: EgressAnswer;
    try {
      // One byte more, which shows that the file is too large.
      answer = await this.#ports.request(from, maxBytes - from + 1);
    } catch (error) {
      return this.#breakOf(error);
    }
    const { status } = answer;
    if (status === 416 && from > 0) {
      await answer.body.return({ isTruncated: false });
      return await this.#restart();
    }
    if (status !== 200 && (status !== 206 || from === 0)) {
      await answer.body.return({ isTruncated: false });
      const error = this.#network(`it answered with status ${status}`);
      if (status === 429 || status >= 500) return error;
      throw error;
    }
    let total: number | null = null;
    if (status === 206) {
      const range = rangeOf(new Map(answer.headers).get("content-range"));
      if (range?.start !== from) {
        await answer.body.return({ isTruncated: false });
        return await this.#restart();
      }
      ({ total } = range);
      if (total !== null && total > maxBytes) {
        await answer.body.return({ isTruncated: false });
        throw this.#tooLarge();
      }
    } else if (from > 0) {
      // The server does not send parts.
      await this.#part.clear();
      this.#isResumed = false;
    }
    try {
      for await (const chunk of answer.body) {
        if (this.#part.size + chunk.length > maxBytes) throw this.#tooLarge();
        await this.#part.append(chunk);
        this.#ports.received(this.#part.size);
      }
    } catch (error) {
      return this.#breakOf(error);
    }
    if (total !== null && this.#part.size < total) return this.#network("its answer ended early");
    const found = this.#part.digest();
    if (found === this.#source.sha256) return "whole";
    if (this.#isResumed) return await this.#restart();
    throw new RefusedFile(
      new LaresError(
        "DigestMismatch",
        `The file at ${shownUrl(url)} is not the model ${JSON.stringify(this.#source.name)} that was declared: its SHA-256 is ${found}, not ${this.#source.sha256}. It was deleted.`,
        { expected: this.#source.sha256, found },
      ),
    );
  }

  async #restart(): Promise<"again" | LaresError> {
    if (!this.#isResumed && this.#part.size === 0)
      return this.#network("it sends other parts than it was asked for");
    await this.#part.clear();
    this.#isResumed = false;
    return "again";
  }

  #breakOf(error: unknown): LaresError {
    this.#ports.signal.throwIfAborted();
    if (!(error instanceof EgressError)) throw error;
    const { class: kind, host } = error.failure;
    const known = this.#network(error.message);
    if (kind === "Network" || kind === "Timeout") return known;
    if (kind !== "Denied") throw known;
    const { url, redirectHosts } = this.#source;
    const isDeclared = [url.replace(/^[a-z]+:\/\//iu, ""), ...redirectHosts].some(
      (each) => each.replace(/[:/?#].*/su, "").toLowerCase() === host,
    );
    const reason = isDeclared
      ? error.message
      : `it redirects to ${host}. Name that host under source.redirect_hosts where the model is declared; a person has to accept it`;
    throw new LaresError("EgressDenied", this.#network(reason).message, { host, reason });
  }

  #network(reason: string): LaresError {
    const { name, url } = this.#source;
    return new LaresError(
      "NetworkError",
      `The model ${JSON.stringify(name)} could not be fetched from ${shownUrl(url)}: ${reason.replace(/\.$/, "")}.`,
      { class: "Network" },
    );
  }

  #tooLarge(): RefusedFile {
    const { name, url, maxBytes } = this.#source;
    const limit = maxBytes / 1024 / 1024;
    return new RefusedFile(
      limitExceeded(
        "size_mb",
        limit,
        `The file at ${shownUrl(url)} is larger than the ${limit} MiB that were declared for the model ${JSON.stringify(name)}. It was deleted.`,
      ),
    );
  }
}

/** Reads `bytes 100-199/200`; null for anything else. */
function rangeOf(
  header: string | undefined,
): { readonly start: number; readonly total: number | null } | null {
  const [, start, total] = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15}|\*)$/.exec(header ?? "") ?? [];
  if (start === undefined) return null;
  return { start: Number(start), total: total === "*" ? null : Number(total) };
}

/** An address without its query, which may hold a token. */
function shownUrl(url: string): string {
  return url.replace(/[?#].*/su, "");
}
