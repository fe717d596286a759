import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { connectLocal, listenLocal, type KernelPlace, type LocalSocket } from "./socket.ts";

async function withPlace(run: (place: KernelPlace) => Promise<void>): Promise<void> {
  const stateFolder = await mkdtemp(join(tmpdir(), "lares-socket-"));
  try {
    await run({ stateFolder, socketPath: join(stateFolder, "kernel.sock") });
  } finally {
    await rm(stateFolder, { recursive: true, force: true });
  }
}

function nextBytes(socket: LocalSocket): Promise<string> {
  return new Promise((resolve) => {
    socket.once("data", (chunk) => resolve(chunk.toString()));
    socket.resume();
  });
}

describe("the kernel's socket", () => {
  test("connects whoever can read the state folder, and loses no byte behind the greeting", () =>
    withPlace(async (place) => {
      const accepted = Promise.withResolvers<LocalSocket>();
      await using server = await listenLocal({
        place,
        log: silentLog,
        isClosing: () => false,
        accept: (socket) => {
          socket.write("hello");
          accepted.resolve(socket);
        },
      });
      expect((await stat(server.path)).mode & 0o777).toBe(0o600);
      const outcome = await connectLocal(place);
      if (outcome.kind !== "connected") throw new Error(outcome.kind);
      expect(outcome.kernelPid).toBe(process.pid);
      expect(await nextBytes(outcome.socket)).toBe("hello");
      outcome.socket.write("and back");
      const other = await accepted.promise;
      expect(await nextBytes(other)).toBe("and back");
      outcome.socket.destroy();
      other.destroy();
    }));

  test("is absent where nobody listens, also behind a dead kernel's leftovers", () =>
    withPlace(async (place) => {
      expect(await connectLocal(place)).toEqual({ kind: "absent" });
      const server = await listenLocal({ place, log: silentLog, isClosing: () => false, accept: () => {} });
      await server[Symbol.asyncDispose]();
      expect(await connectLocal(place)).toEqual({ kind: "absent" });
      await using again = await listenLocal({
        place,
        log: silentLog,
        isClosing: () => false,
        accept: () => {},
      });
      const outcome = await connectLocal({ ...place, socketPath: again.path });
      expect(outcome.kind).toBe("connected");
      if (outcome.kind === "connected") outcome.socket.destroy();
    }));

  test("says that it is closing", () =>
    withPlace(async (place) => {
      await using _server = await listenLocal({
        place,
        log: silentLog,
        isClosing: () => true,
        accept: () => expect.fail(),
      });
      expect(await connectLocal(place)).toEqual({ kind: "closing" });
    }));

  test("a client with another token, or none, is not accepted", () =>
    withPlace(async (place) => {
      await using _server = await listenLocal({
        place,
        log: silentLog,
        isClosing: () => false,
        accept: () => expect.fail(),
      });
      await writeFile(join(place.stateFolder, "kernel.token"), "f".repeat(64));
      await expect(connectLocal(place)).rejects.toThrow("is not this workspace's kernel");
      for (const greeting of ["\n", `Content-Length: 2\r\n\r\n{}`, "x".repeat(1000)]) {
        const socket = connect(place.socketPath);
        socket.on("error", () => {});
        socket.write(greeting);
        const received: Buffer[] = [];
        socket.on("data", (chunk) => received.push(chunk));
        await new Promise((resolve) => socket.once("close", resolve));
        expect(["", "lares/1 refused\n"]).toContain(Buffer.concat(received).toString());
      }
    }));

  test("a file in its place is not spoken to", () =>
    withPlace(async (place) => {
      await writeFile(join(place.stateFolder, "kernel.token"), "f".repeat(64));
      await writeFile(place.socketPath, "");
      await expect(connectLocal(place)).rejects.toThrow("is not a socket of yours");
    }));
});
