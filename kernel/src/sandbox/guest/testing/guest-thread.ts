/** Runs one guest under the real WebAssembly host, in a thread that can be terminated at any time. */
import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { Wasmer } from "@wasmer/sdk/node";
import { guestModuleUrl } from "../preamble.ts";

const port = parentPort;
if (port === null) throw new Error("This module must run as a worker thread.");

const wasmer = new Wasmer({ cache: false, parallelism: 1 });
await wasmer.ready();
const loaded = await wasmer.packages.load(new Uint8Array(readFileSync(guestModuleUrl)));
const sandbox = await wasmer.sandboxes.create({ packages: [loaded], network: { mode: "disabled" } });
const guest = await sandbox.command(loaded).spawn({ stdin: "pipe", stdout: "pipe", stderr: "pipe" });

const { stdin, stdout, stderr } = guest;
if (stdin === null || stdout === null || stderr === null) throw new Error("The guest has no pipes.");

const pump = async (kind: "stdout" | "stderr", chunks: AsyncIterable<Uint8Array>): Promise<void> => {
  for await (const chunk of chunks) port.postMessage({ kind, chunk });
};
const output = Promise.all([pump("stdout", stdout), pump("stderr", stderr)]);
void guest.wait().then(
  async ({ exitCode }) => {
    await output;
    port.postMessage({ kind: "exited", exitCode });
  },
  (error: unknown) => port.postMessage({ kind: "exited", trap: String(error) }),
);
await stdin.write((workerData as { preamble: Uint8Array }).preamble);
// The guest may end while an answer to it is on its way: `exited` says so, and the broken pipe says nothing more.
port.on("message", (chunk: Uint8Array) => void stdin.write(chunk).catch(() => {}));
