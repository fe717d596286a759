import { chmod, chown, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { silentLog } from "../../base/log.ts";
import { connectLocal, listenLocal } from "./socket.ts";
import { chooseSocketPath, recordedSocketPath, socketRoots, type SocketRoots } from "./socket-place.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

const user = process.getuid?.() ?? 0;
const nobody = 65_534;

interface Situation {
  /** Its path is too long for a socket's address. */
  readonly stateFolder: string;
  readonly runtime: string;
  readonly temporary: string;
  readonly roots: SocketRoots;
}

async function situation(): Promise<Situation> {
  const stateFolder = join(await temporaryFolder(), "deep/".repeat(30));
  await mkdir(stateFolder, { recursive: true, mode: 0o700 });
  const [runtime, temporary] = [await temporaryFolder(), await temporaryFolder()];
  return {
    stateFolder,
    runtime,
    temporary,
    roots: { runtime: [runtime], temporary: [temporary] },
  };
}

async function expectPrivate(folder: string): Promise<void> {
  const found = await stat(folder);
  expect([found.mode & 0o777, found.uid]).toEqual([0o700, user]);
}

test("the socket is in the state folder if an address can contain that path", async () => {
  expect(await chooseSocketPath("/short")).toBe("/short/kernel.sock");
  expect(await recordedSocketPath("/short")).toBe("/short/kernel.sock");
});

test("the environment names the folders for a deep state folder's socket; relative paths do not count", () => {
  expect(socketRoots({ XDG_RUNTIME_DIR: "/r", TMPDIR: "relative" })).toEqual({
    runtime: ["/r", `/run/user/${user}`],
    temporary: [tmpdir(), "/tmp"],
  });
});

test("the socket of a deep state folder lies in the runtime folder, one for each state folder", async () => {
  const { stateFolder, runtime, roots } = await situation();
  const path = await chooseSocketPath(stateFolder, roots);
  expect(dirname(path)).toBe(join(runtime, "lares"));
  await expectPrivate(dirname(path));
  const other = join(stateFolder, "other");
  await mkdir(other);
  expect(await chooseSocketPath(other, roots)).not.toBe(path);
});

test("a client finds the kernel by its record, whatever the client's environment is", async () => {
  const { stateFolder, roots } = await situation();
  await using server = await listenLocal({
    stateFolder,
    socketRoots: roots,
    log: silentLog,
    phase: () => "open",
    accept: (socket) => socket.destroy(),
  });
  expect(await readFile(join(stateFolder, "kernel.place"), "utf8")).toBe(`${server.path}\n`);
  const outcome = await connectLocal(stateFolder);
  expect(outcome.kind).toBe("connected");
  if (outcome.kind === "connected") outcome.socket.destroy();
});

describe("a folder that is not private is skipped for the next candidate", () => {
  test.skipIf(user !== 0)("one that another user made first", async () => {
    const { stateFolder, runtime, temporary, roots } = await situation();
    for (const folder of [join(runtime, "lares"), join(temporary, `lares-${user}`)]) {
      await mkdir(folder, { mode: 0o700 });
      await chown(folder, nobody, nobody);
    }
    const path = await chooseSocketPath(stateFolder, roots);
    await expectPrivate(dirname(path));
    expect(await recordedSocketPath(stateFolder)).toBe(path);
  });

  test.each<[string, (folder: string) => Promise<unknown>]>([
    ["one that others can open", async (folder) => mkdir(folder).then(() => chmod(folder, 0o755))],
    ["a link, even to a private folder", async (folder) => symlink(await temporaryFolder(), folder)],
    ["a file", async (folder) => writeFile(folder, "")],
  ])("%s", async (_name, occupy) => {
    const { stateFolder, runtime, temporary, roots } = await situation();
    await occupy(join(runtime, "lares"));
    const path = await chooseSocketPath(stateFolder, roots);
    await expectPrivate(dirname(path));
    expect(dirname(path)).not.toBe(join(runtime, "lares"));
    expect(dirname(path)).toBe(join(temporary, `lares-${user}`));
  });
});

test("with every guessable name taken, the folder has a random name; it is used again after a crash, and removed at the end", async () => {
  const { stateFolder, runtime, temporary, roots } = await situation();
  for (const folder of [join(runtime, "lares"), join(temporary, `lares-${user}`)])
    await writeFile(folder, "");
  const path = await chooseSocketPath(stateFolder, roots);
  await expectPrivate(dirname(path));
  const server = await listenLocal({
    stateFolder,
    socketRoots: roots,
    log: silentLog,
    phase: () => "open",
    accept: (socket) => socket.destroy(),
  });
  expect(server.path).toBe(path);
  const outcome = await connectLocal(stateFolder);
  expect(outcome.kind).toBe("connected");
  if (outcome.kind === "connected") outcome.socket.destroy();
  await server[Symbol.asyncDispose]();
  expect(await readdir(runtime)).toEqual(["lares"]);
  expect(await connectLocal(stateFolder)).toEqual({ kind: "absent" });
});

test("a client does not go into the recorded folder once others can open it", async () => {
  const { stateFolder, roots } = await situation();
  await using server = await listenLocal({
    stateFolder,
    socketRoots: roots,
    log: silentLog,
    phase: () => "open",
    accept: () => expect.fail(),
  });
  await chmod(dirname(server.path), 0o777);
  await expect(connectLocal(stateFolder)).rejects.toThrow("can be opened by others; it is not used");
});

test("a damaged record is as none: the next kernel replaces it", async () => {
  const { stateFolder, roots } = await situation();
  for (const text of ["", "relative/kernel.sock\n", "x".repeat(1000)]) {
    await writeFile(join(stateFolder, "kernel.place"), text);
    expect(await recordedSocketPath(stateFolder)).toBeNull();
  }
  const path = await chooseSocketPath(stateFolder, roots);
  expect(await recordedSocketPath(stateFolder)).toBe(path);
  await rm(dirname(path), { recursive: true });
  expect(await recordedSocketPath(stateFolder)).toBeNull();
});
