import { PassThrough, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Dispatcher } from "undici";
import type { EgressTarget } from "../../policy/egress.ts";
import type { Headers } from "../messages.ts";

export interface Hop {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Decompressed. Destroying it closes the connection. */
  readonly body: Transform;
}

/** Headers of one connection, which this side of it writes itself; `host` could name another host than was decided. */
const ownHeaders = new Set([
  "host",
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authorization",
  "transfer-encoding",
  "content-length",
  "te",
  "trailer",
  "upgrade",
  "expect",
]);
const decompressedHeaders = new Set(["content-length", "content-encoding", "transfer-encoding"]);

/** Sends one request, once. Resolves with the head of its answer. `sending` is called before its first byte leaves. */
export function send(
  dispatcher: Dispatcher,
  { scheme, host, port }: EgressTarget,
  hop: Hop,
  signal: AbortSignal,
  sending: () => void,
): Promise<Answer> {
  const { method, body } = hop;
  const url = new URL(hop.url);
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | null = null;
    let decoded: Transform | null = null;
    let isComplete = false;
    const stop = (error: Error): void => {
      if (!isComplete) controller?.abort(error);
      decoded?.destroy(error);
      reject(error);
    };
    const aborted = (): void => stop(signal.reason as Error);
    if (signal.aborted) return aborted();
    signal.addEventListener("abort", aborted, { once: true });
    const headers = withEncodings(hop.headers.filter(([name]) => !ownHeaders.has(name.toLowerCase())));
    dispatcher.dispatch(
      {
        origin: `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`,
        path: `${url.pathname}${url.search}`,
        method,
        headers: headers.flat(),
        body: body.length === 0 ? null : body,
      },
      {
        onRequestStart(started) {
          if (signal.aborted) return started.abort(signal.reason as Error);
          controller = started;
          sending();
        },
        onResponseStart(_controller, status, raw) {
          if (status < 200) return;
          const pairs = Object.entries(raw).flatMap(([name, value = []]) =>
            [value].flat().map((each) => [name.toLowerCase(), each] as const),
          );
          try {
            decoded = hasBody(method, status, raw) ? decoderOf(raw["content-encoding"]) : new PassThrough();
          } catch (error) {
            return stop(error as Error);
          }
          decoded.on("drain", () => controller?.resume());
          // The reader of the body gets its errors; a dropped body has no reader.
          decoded.on("error", () => undefined);
          decoded.once("close", () => {
            signal.removeEventListener("abort", aborted);
            if (!isComplete) controller?.abort(new Error("The rest of the answer was not wanted."));
          });
          resolve({
            status,
            headers: pairs.filter(([name]) => !decompressedHeaders.has(name)),
            body: decoded,
          });
        },
        onResponseData(_controller, chunk) {
          if (decoded?.write(chunk) === false) controller?.pause();
        },
        onResponseEnd() {
          isComplete = true;
          decoded?.end();
        },
        onResponseError(_controller, error) {
          isComplete = true;
          signal.removeEventListener("abort", aborted);
          stop(error);
        },
      },
    );
  });
}

function withEncodings(headers: Headers): Headers {
  const isNamed = headers.some(([name]) => name.toLowerCase() === "accept-encoding");
  return isNamed ? headers : [...headers, ["accept-encoding", "gzip, deflate, br"]];
}

function hasBody(method: string, status: number, headers: Record<string, string | string[] | undefined>) {
  return method !== "HEAD" && status !== 204 && status !== 304 && headers["content-length"] !== "0";
}

function decoderOf(encoding: string | string[] | undefined): Transform {
  switch (String(encoding ?? "identity").toLowerCase()) {
    case "identity":
    case "":
      return new PassThrough();
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      throw new Error(`its answer is encoded as "${String(encoding).slice(0, 64)}", which was not asked for`);
  }
}
