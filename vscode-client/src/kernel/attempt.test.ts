import process from "node:process";
import { beforeEach, expect, it } from "vitest";
import { window } from "vscode";
import { isAlive, until } from "../../../test/support/until.ts";
import { seen } from "../testing/vscode.ts";
import { Attempt, type Client } from "./attempt.ts";
import type { ClientParts } from "./language-client.ts";
import type { Launch } from "./launch.ts";

beforeEach(() => seen.forget());

const running = (program: string): Extract<Launch, { kind: "start" }> => ({
  kind: "start",
  command: process.execPath,
  args: ["-e", program],
  env: {},
});

/** Writes its process, which then waits for its pipe to be closed. */
const waiting = "process.stderr.write(`process ${process.pid}\\n`); process.stdin.resume()";

/** An attempt whose client is there when the test says so, and what was said to that client. */
function attempt(launch: Extract<Launch, { kind: "start" }>, refusal?: Error) {
  const said: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const made = new Attempt(
    launch,
    {
      client: async (parts) => {
        await promise;
        return clientOn(parts, said, refusal);
      },
      sessionOptions: () => ({}),
      middleware: {},
      models: {
        isOffered: false,
        list: async () => ({ models: [] }),
        generate: () => Promise.reject(new Error("Nothing asks.")),
      },
      log: window.createOutputChannel("Lares", { log: true }),
    },
    () => undefined,
  );
  return { made, said, load: () => resolve(), fail: reject };
}

function clientOn({ streams }: ClientParts, said: string[], refusal?: Error): Client {
  return {
    start: async () => {
      said.push("start");
      await streams();
      if (refusal !== undefined) throw refusal;
    },
    dispose: async () => {
      said.push("dispose");
    },
    sendRequest: async <Result>(method: unknown) => {
      said.push(String(method));
      return [] as Result;
    },
    onNotification: () => ({ dispose: () => undefined }),
  };
}

const lines = (): string[] => seen.channels.flatMap((channel) => channel.lines);

/** The process of `waiting`, which runs before its client is there. */
async function processOf(): Promise<number> {
  const line = await until("its process", () => lines().find((line) => line.includes("process ")));
  return Number(/process (\d+)/.exec(line)?.[1]);
}

it("the process runs while its client is loaded, and requests wait for the client", async () => {
  const { made, said, load } = attempt(running(waiting));
  const started = made.start();
  const answer = made.request("lares/agents/list", {});
  expect(isAlive(await processOf())).toBe(true);
  expect(said).toEqual([]);
  load();
  await started;
  expect(await answer).toEqual([]);
  expect(said).toEqual(["start", "lares/agents/list"]);
  await made.stop();
  expect(said.at(-1)).toBe("dispose");
});

it("a process that cannot be run has ended with the reason", async () => {
  const { made, load } = attempt({ ...running(""), command: "/nowhere/node" });
  const started = made.start();
  load();
  await started;
  expect(await made.ended).toContain("ENOENT");
});

it("a process that is stopped while its client is loaded is ended, and gets no more requests", async () => {
  const { made, said, load } = attempt(running(waiting));
  const started = made.start();
  const answer = made.request("lares/agents/list", {});
  const pid = await processOf();
  await made.stop();
  await until("its end", () => !isAlive(pid));
  load();
  await started;
  await expect(answer).rejects.toThrow("not running");
  expect(said).toEqual([]);
});

it("a process whose client cannot be loaded is ended, with the reason", async () => {
  const { made, fail } = attempt(running("process.stdin.pipe(process.stdout)"));
  const started = made.start();
  fail(new Error("no such file"));
  await started;
  expect(await made.ended).toBe("no such file");
});

it("no process is left if its client cannot be loaded", async () => {
  const { made, fail } = attempt(running(waiting));
  const started = made.start();
  const pid = await processOf();
  fail(new Error("no such file"));
  await started;
  await until("its end", () => !isAlive(pid));
});

it("no process is left if it refuses the session", async () => {
  const { made, load } = attempt(running(waiting), new Error("refused"));
  const started = made.start();
  const pid = await processOf();
  load();
  await started;
  expect(await made.ended).toContain(`process ${pid}`);
  await until("its end", () => !isAlive(pid));
});
