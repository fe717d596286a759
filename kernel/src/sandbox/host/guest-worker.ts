/**
 * Entry of a guest's worker thread: one SDK client, one WASI guest. The guest's stdin and stdout bypass it: they
 * flow between the guest's own thread and the host's main thread. Terminating this thread terminates the guest.
 */
import "./without-fetch.ts";
import { parentPort, workerData } from "node:worker_threads";
import { endedByItself } from "./ends.ts";
import type { FromWorker, GuestEnds, SdkModule, ToWorker } from "./messages.ts";
import { installSdkThreads } from "./sdk-threads.ts";
import { StderrMeter, windowMs } from "./stderr-meter.ts";
import { outOfMemoryExit } from "../guest/runtime/native.ts";
import { UsageSampler } from "./usage-sampler.ts";

if (parentPort === null) throw new Error("This module must run as a worker thread.");
const port = parentPort;
const { sdk, ends } = workerData as { readonly sdk: SdkModule; readonly ends: GuestEnds };
const send = (message: FromWorker): void => port.postMessage(message);

/** Resolves when the host starts to read stderr. */
const opened = Promise.withResolvers<void>();

// The only message that it ever receives.
port.on("message", (_message: ToWorker) => opened.resolve());

const guestThread = installSdkThreads(ends, sdk.entry, (error) =>
  send({ kind: "exited", reason: failureText(error) }),
);
run().catch((error: unknown) => send({ kind: "exited", reason: failureText(error) }));

async function run(): Promise<void> {
  const { Wasmer } = (await import(sdk.entry)) as typeof import("@wasmer/sdk/browser");
  const client = new Wasmer({ wasm: sdk.compiled, cache: false, parallelism: 1 });
  const guestPackage = await client.packages.load(sdk.standIn);
  const sandbox = await client.sandboxes.create({ packages: [guestPackage], network: { mode: "disabled" } });
  const guest = await sandbox.command(guestPackage).spawn({ stdin: "pipe", stdout: "pipe", stderr: "pipe" });
  send({ kind: "loaded" });
  const { stderr } = guest;
  if (stderr === null) throw new TypeError("The guest has no stderr.");

  const forwarding = forwardStderr(stderr);
  const sampler = new UsageSampler(guestThread, (sample) => send({ kind: "usage", ...sample }));
  void sampler.run();
  const reason = await guest.wait().then(
    ({ exitCode }) => exitText(exitCode),
    (error: unknown) => `The program failed: ${trapText(error)}.`,
  );
  await forwarding;
  sampler.stop();
  send({ kind: "exited", reason });
}

async function forwardStderr(stderr: AsyncIterable<Uint8Array>): Promise<void> {
  await opened.promise;
  const meter = new StderrMeter((text) => send({ kind: "stderr", text }));
  let reporting: NodeJS.Timeout | undefined;
  for await (const chunk of stderr) {
    const waitMs = meter.take(chunk, performance.now());
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (!meter.hasDropped) continue;
    clearTimeout(reporting);
    reporting = setTimeout(() => meter.report(), windowMs);
  }
  clearTimeout(reporting);
  meter.report();
}

function exitText(code: number): string {
  return code === outOfMemoryExit
    ? "It ran out of memory; max_memory_mb allows no more."
    : `${endedByItself} with exit code ${code}.`;
}

function failureText(error: unknown): string {
  const text = trapText(error);
  // An error of instantiation, after a successful compilation, is the program's fault.
  const instance = /WebAssembly\.Instance\(\): (.+)/s.exec(text)?.[1];
  return instance === undefined
    ? `The sandbox failed: ${text}.`
    : `The program could not be started: ${instance}.`;
}

/** The SDK reports a trap as "command execution failed: RuntimeError: js: unreachable", followed by a stack. */
function trapText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const [first = ""] = text.split("\n");
  return first
    .replace(/^command execution failed: /, "")
    .replace(/^RuntimeError: js: /, "")
    .replace(/^unreachable$/, "unreachable code was reached, as when a program aborts itself")
    .slice(0, 500);
}
