import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { silentLog } from "../../base/log.ts";
import { connectLocal, listenLocal, type LocalSocket } from "./socket.ts";

async function withStateFolder(run: (stateFolder: string) => Promise<void>): Promise<void> {
  const stateFolder = await mkdtemp(join(tmpdir(), "lares-socket-"));
  try {
    await run(stateFolder);
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
    withStateFolder(async (stateFolder) => {
      const accepted = Promise.withResolvers<LocalSocket>();
      await using server = await listenLocal({
        stateFolder,
        log: silentLog,
        phase: () => "open",
        accept: (socket) => {
          socket.write("hello");
          accepted.resolve(socket);
        },
      });
      expect((await stat(server.path)).mode & 0o777).toBe(0o600);
      const outcome = await connectLocal(stateFolder);
      if (outcome.kind !== "connected") throw new Error(outcome.kind);
      expect(outcome.kernelPid).toBe(process.pid);
      expect(await nextBytes(outcome.socket)).toBe("hello");
      outcome.socket.write("and back");
      const other = await accepted.promise;
      expect(await nextBytes(other)).toBe("and back");
      outcome.socket.destroy();
      other.destroy();
    }));

  test("is absent if nobody listens, also if a dead kernel left files", () =>
    withStateFolder(async (stateFolder) => {
      expect(await connectLocal(stateFolder)).toEqual({ kind: "absent" });
      const server = await listenLocal({
        stateFolder,
        log: silentLog,
        phase: () => "open",
        accept: () => {},
      });
      await server[Symbol.asyncDispose]();
      expect(await connectLocal(stateFolder)).toEqual({ kind: "absent" });
      await using _again = await listenLocal({
        stateFolder,
        log: silentLog,
        phase: () => "open",
        accept: () => {},
      });
      const outcome = await connectLocal(stateFolder);
      expect(outcome.kind).toBe("connected");
      if (outcome.kind === "connected") outcome.socket.destroy();
    }));

  test("says that it is closing", () =>
    withStateFolder(async (stateFolder) => {
      await using _server = await listenLocal({
        stateFolder,
        log: silentLog,
        phase: () => "closing",
        accept: () => expect.fail(),
      });
      expect(await connectLocal(stateFolder)).toEqual({ kind: "closing" });
    }));

  test("a client with another token, or none, is not accepted", () =>
    withStateFolder(async (stateFolder) => {
      await using _server = await listenLocal({
        stateFolder,
        log: silentLog,
        phase: () => "open",
        accept: () => expect.fail(),
      });
      await writeFile(join(stateFolder, "kernel.token"), "f".repeat(64));
      await expect(connectLocal(stateFolder)).rejects.toThrow("is not this workspace's kernel");
      for (const greeting of ["\n", `Content-Length: 2\r\n\r\n{}`, "x".repeat(1000)]) {
        const socket = connect(join(stateFolder, "kernel.sock"));
        socket.on("error", () => {});
        socket.write(greeting);
        const received: Buffer[] = [];
        socket.on("data", (chunk) => received.push(chunk));
        await new Promise((resolve) => socket.once("close", resolve));
        expect(["", "lares/1 refused\n"]).toContain(Buffer.concat(received).toString());
      }
    }));

  test("a file in its place is not spoken to", () =>
    withStateFolder(async (stateFolder) => {
      await writeFile(join(stateFolder, "kernel.token"), "f".repeat(64));
      await writeFile(join(stateFolder, "kernel.sock"), "");
      await expect(connectLocal(stateFolder)).rejects.toThrow("is not a socket of yours");
    }));
});
