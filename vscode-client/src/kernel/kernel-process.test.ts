import process from "node:process";
import { expect, it } from "vitest";
import { until } from "../../../test/support/until.ts";
import { KernelProcess } from "./kernel-process.ts";

const running = (program: string, say: (line: string) => void = () => undefined) =>
  new KernelProcess({ kind: "start", command: process.execPath, args: ["-e", program], env: {} }, say);

/** Once it is gone; on a busy machine that is later than a client waits for it. */
const reasonOf = (kernel: KernelProcess): Promise<string> =>
  until("its end", async () => {
    const reason = await kernel.reason();
    return reason.startsWith("It closed its side") ? undefined : reason;
  });

it("a process that ended before its streams were requested has none, and the error says why", async () => {
  const kernel = running('console.error("too old\\n"); process.exitCode = 3');
  expect(await reasonOf(kernel)).toBe("Exit code 3. too old");
  await expect(kernel.streams()).rejects.toThrow("Exit code 3. too old");
});

it("each line on stderr is reported, from the first on", async () => {
  const lines: string[] = [];
  const kernel = running('process.stderr.write("one\\ntwo")', (line) => lines.push(line));
  expect(await reasonOf(kernel)).toBe("Exit code 0. two");
  expect(lines).toEqual(["one", "two"]);
});

it("its output waits until it is read", async () => {
  const kernel = running('process.stdout.write("early"); process.stdin.pipe(process.stdout)');
  const { reader, writer } = await kernel.streams();
  writer.end(" and late");
  let heard = "";
  for await (const chunk of reader) heard += String(chunk);
  expect(heard).toBe("early and late");
});

it("a killed process was ended by a signal", async () => {
  const kernel = running("process.stdin.resume()");
  await kernel.streams();
  kernel.kill();
  expect(await reasonOf(kernel)).toBe("Its process was ended by SIGKILL.");
});
