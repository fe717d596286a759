import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener, type Server } from "node:http";
import { createServer, type AddressInfo, type Server as NetServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { silentLog } from "../../../base/log.ts";
import { systemClock } from "../../../platform/clock.ts";
import type { EgressRules } from "../../../policy/egress.ts";
import { type EgressAnswer, EgressError, type EgressRequest, type EgressTrace } from "../answer.ts";
import { EgressClient } from "../egress-client.ts";

/** A client with a real egress host, closed when the test has finished. */
export function openClient(environment: Readonly<Record<string, string>> = {}) {
  const traces: EgressTrace[] = [];
  const client = new EgressClient({
    clock: systemClock,
    log: silentLog,
    environment: () => environment,
    trace: (trace) => traces.push(trace),
  });
  onTestFinished(() => client[Symbol.asyncDispose]());
  return { client, traces };
}

/** Listens on a free port of this machine, and counts connections, until the test has finished. */
export async function listen<Listening extends NetServer>(server: Listening) {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return { server, port, url: `http://127.0.0.1:${port}`, sockets };
}

export const serve = (listener: RequestListener) => listen<Server>(createHttpServer(listener));
export const serveSockets = (connected: (socket: Socket) => void) =>
  listen(createServer((socket) => connected(socket.resume())));

/** Returns rules under which these hosts are allowed, at private addresses too. */
export const rulesFor = (...hosts: string[]): EgressRules => ({
  allowedHosts: hosts,
  privateHosts: hosts,
  providerHosts: [],
});

export function requestTo(url: string, more: Partial<EgressRequest> = {}): EgressRequest {
  return {
    who: "agent:test",
    method: "GET",
    url,
    headers: [],
    rules: rulesFor("127.0.0.1", "localhost"),
    limits: { timeoutMs: 30_000, idleMs: 30_000, maxBytes: 1024 * 1024 },
    ...more,
  };
}

export async function read({ body }: EgressAnswer) {
  const parts: Uint8Array[] = [];
  for (;;) {
    const next = await body.next();
    if (next.done === true) return { text: Buffer.concat(parts).toString(), ...next.value };
    parts.push(next.value);
  }
}

/** Returns the failure of work that must fail with an EgressError. */
export async function failureOf(work: Promise<unknown>) {
  const error = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(error instanceof EgressError)) throw new Error("No EgressError", { cause: error });
  return error.failure;
}
