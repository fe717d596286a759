/**
 * Entry of a guest's worker thread: one SDK client, one WASI guest. The guest's stdin and stdout go past it, from
 * the guest's own thread to the host's main thread. Ending this thread is what ends a guest.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { FromWorker, GuestPipes, ToWorker } from "./messages.ts";
import { guestThread, installSdkThreads } from "./sdk-threads.ts";
import { StderrMeter, windowMs } from "./stderr-meter.ts";
import type { SdkModule } from "./worker-slot.ts";
import { UsageSampler } from "./usage-sampler.ts";

if (parentPort === null) throw new Error("This module is the entry of a worker thread.");
const port = parentPort;
const { sdk, pipes } = workerData as { readonly sdk: SdkModule; readonly pipes: GuestPipes };
const send = (message: FromWorker): void => port.postMessage(message);

/** Resolves once somebody listens. */
const opened = Promise.withResolvers<void>();

port.on("message", (message: ToWorker) => {
  switch (message.kind) {
    case "load":
      run(message.program).catch((error: unknown) => send({ kind: "exited", reason: failureText(error) }));
      return;
    case "open":
      opened.resolve();
      return;
  }
});

installSdkThreads(pipes, (error) => send({ kind: "exited", reason: failureText(error) }));
const { Wasmer } = (await import(sdk.entry)) as typeof import("@wasmer/sdk/node");
const client = new Wasmer({ wasm: sdk.compiled, cache: false, parallelism: 1 });
await client.ready();

async function run(program: Uint8Array): Promise<void> {
  const guestPackage = await client.packages.load(program);
  const sandbox = await client.sandboxes.create({ packages: [guestPackage], network: { mode: "disabled" } });
  const guest = await sandbox.command(guestPackage).spawn({ stdin: "pipe", stdout: "pipe", stderr: "pipe" });
  send({ kind: "loaded" });
  const { stderr } = guest;
  if (stderr === null) throw new TypeError("The guest has no stderr.");

  const forwarding = forwardStderr(stderr);
  const sampler = await sampleUsage();
  const reason = await guest.wait().then(
    (output) => `The program ended by itself with exit code ${output.exitCode}.`,
    (error: unknown) => `The program was stopped by an error: ${trapText(error)}.`,
  );
  await forwarding;
  sampler?.stop();
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

/** The guest's thread shows itself within moments of the spawn. */
async function sampleUsage(): Promise<UsageSampler | undefined> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const thread = guestThread();
    if (thread !== undefined) {
      const sampler = new UsageSampler(thread, (sample) => send({ kind: "usage", ...sample }));
      void sampler.run();
      return sampler;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return undefined;
}

function failureText(error: unknown): string {
  return `The sandbox failed: ${trapText(error)}.`;
}

/** The SDK's message for a trap is "command execution failed: RuntimeError: js: unreachable", then a stack. */
function trapText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const [first = ""] = text.split("\n");
  return first
    .replace(/^command execution failed: /, "")
    .replace(/^RuntimeError: js: /, "")
    .slice(0, 500);
}
