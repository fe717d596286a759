import process from "node:process";
import { expect, it } from "vitest";
import { until } from "../../../test/support/until.ts";
import type { Launch } from "./launch.ts";
import { runCommand } from "./run-command.ts";

const launching = (program: string): Launch => ({
  kind: "start",
  command: process.execPath,
  args: ["-e", program],
  env: {},
});
const run = (program: string, signal?: AbortSignal): Promise<unknown> =>
  runCommand(launching(program), process.cwd(), signal);

it("returns the JSON that a command prints, also if it exits with 1 to report something", async () => {
  await expect(run(`console.log('{"items": []}'); process.exit(1)`)).resolves.toEqual({ items: [] });
});

it("rejects with the command's own error, which stands behind what it showed before, on one line", async () => {
  const said = "Greeter  com.example.greeter\\nerror: It is signed\\n\\u001b[2Jby another.\\n";
  await expect(run(`process.stderr.write("${said}"); process.exit(1)`)).rejects.toThrow(
    /^It is signed ␛\[2Jby another\.$/,
  );
});

it("rejects if a command prints something else than JSON, or cannot be started", async () => {
  await expect(run(`console.log("hello")`)).rejects.toThrow("It printed no JSON.");
  await expect(run(`process.exit(3)`)).rejects.toThrow(/Command failed/);
  await expect(runCommand({ kind: "refused", reason: "No kernel." }, "/")).rejects.toThrow("No kernel.");
});

it("ends the command when it is cancelled, and returns nothing of it", async () => {
  const abort = new AbortController();
  const running = run(`setInterval(() => {}, 1000)`, abort.signal);
  let isOver = false;
  running.then(
    () => undefined,
    () => (isOver = true),
  );
  abort.abort();
  await until("the command to end", () => isOver);
  await expect(running).rejects.toThrow();
});
