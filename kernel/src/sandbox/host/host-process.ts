/**
 * Entry of the sandbox host, the only process in which guests run. Its main thread only forwards bytes; workers
 * prepare modules, compile them and run guests. The host ends with its parent.
 */
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { unreachable } from "../../base/exhaustive.ts";
import { systemClock } from "../../platform/clock.ts";
import { countFrame, frame, readCount } from "../../platform/children/frames.ts";
import { serveParent } from "../../platform/children/parent.ts";
import { runPreparation } from "../prepare/preparation.ts";
import { hostBounds as bounds } from "./bounds.ts";
import { frameType, usageFrame } from "./frame-types.ts";
import { GuestInput } from "./guest-input.ts";
import { GuestOutput } from "./guest-output.ts";
import type { FromHost, FromWorker, SdkModule, ToHost } from "./messages.ts";
import { SpareWorkers } from "./spare-workers.ts";
import { standInModule } from "./stand-in.ts";
import { WorkerSlot } from "./worker-slot.ts";

/** The location of the SDK. The parent resolves it, because this process may not read other folders. */
const [sdkEntry = ""] = process.argv.slice(2);
const sdkFile = new URL("../pkg/wasmer_sdk_js_bg.wasm", sdkEntry);
/** Compiled once and shared by all workers. */
const sdk: Promise<SdkModule> = readFile(sdkFile).then(async (bytes) => ({
  entry: sdkEntry,
  compiled: await WebAssembly.compile(new Uint8Array(bytes)),
  standIn: standInModule(),
}));

/** Compiled once and shared by all guests of the program. */
const programs = new Map<string, WebAssembly.Module>();
interface RunningGuest {
  readonly slot: WorkerSlot;
  readonly input: GuestInput;
  readonly output: GuestOutput;
  /** Resolves when all output is sent. */
  readonly forwarded: Promise<void>;
}

const guests = new Map<number, RunningGuest>();
/** Null until one is wanted. */
let spares: SpareWorkers<WorkerSlot> | null = null;

const parent = serveParent<FromHost, ToHost>({
  maxFrameBytes: bounds.maxFrameBytes,
  receive: obey,
  receiveFrame(type, guest, payload) {
    const running = guests.get(guest);
    switch (type) {
      case frameType.stdin:
        return running?.input.push(payload);
      case frameType.stdoutCredit:
        running?.slot.open();
        return running?.output.allow(readCount(payload));
      default:
        throw new RangeError(`unknown frame type ${type}`);
    }
  },
});
const { send, fail } = parent;

async function obey(words: ToHost, bytes: Uint8Array): Promise<void> {
  switch (words.kind) {
    case "prepare": {
      const result = await runPreparation(bytes.slice(), words.maxMemoryMb);
      if (result.ok) send({ kind: "prepared", request: words.request, refusal: null }, result.bytes);
      else
        send({
          kind: "prepared",
          request: words.request,
          refusal: { code: result.code, message: result.message },
        });
      return;
    }
    case "program":
      return keepProgram(words.key, bytes);
    case "start":
      return start(words.guest, words.program);
    case "kill":
      return kill(words.guest, words.reason);
    case "prewarm":
      return keepSpares();
    default:
      unreachable(words);
  }
}

function keepProgram(key: string, bytes: Uint8Array): void {
  programs.set(key, new WebAssembly.Module(bytes.slice()));
  for (const oldest of programs.keys()) {
    if (programs.size <= bounds.maxPrograms) break;
    programs.delete(oldest);
  }
}

async function start(guest: number, key: string): Promise<void> {
  const program = programs.get(key);
  if (program === undefined) return send({ kind: "programMissing", guest });
  programs.delete(key);
  programs.set(key, program);
  const slot = spares?.take() ?? new WorkerSlot(await sdk);
  const output = new GuestOutput(slot.output, (bytes) =>
    parent.write(...frame(frameType.stdout, guest, bytes)),
  );
  const input = new GuestInput(slot.input, (count) =>
    parent.write(...countFrame(frameType.stdinTaken, guest, count)),
  );
  guests.set(guest, { slot, input, output, forwarded: output.forward() });
  slot.give(program);
  slot.listen((message) => passOn(guest, slot, message));
}

async function keepSpares(): Promise<void> {
  const loaded = await sdk;
  const maxSpares = Math.min(bounds.maxSpares, availableParallelism());
  spares ??= new SpareWorkers(systemClock, () => new WorkerSlot(loaded), { ...bounds, maxSpares });
  spares.want();
}

function passOn(guest: number, slot: WorkerSlot, message: FromWorker): void {
  const running = guests.get(guest);
  if (running?.slot !== slot) return;
  switch (message.kind) {
    case "loaded":
      return send({ kind: "started", guest });
    case "stderr":
      return parent.write(...frame(frameType.stderr, guest, new TextEncoder().encode(message.text)));
    case "usage":
      // Announces the output of a guest that has not waited since it wrote.
      slot.output.announce();
      if (message.isComputing) spares?.yield();
      return parent.write(...usageFrame(guest, message));
    case "exited":
      // The guest writes no more. Its output is sent before its exit is reported.
      slot.output.close();
      running.forwarded.then(() => kill(guest, message.reason)).catch(fail);
      return;
    default:
      unreachable(message);
  }
}

async function kill(guest: number, reason: string): Promise<void> {
  const running = guests.get(guest);
  if (running === undefined) return;
  guests.delete(guest);
  running.output.drop();
  await running.slot.end();
  send({ kind: "exited", guest, reason });
}
