/**
 * Entry of the sandbox host: the one process in which guests run. Its main thread passes bytes on and prepares
 * nothing, compiles nothing hostile and runs no guest itself: that is the workers' part. It ends with its parent.
 */
import { readFile } from "node:fs/promises";
import { messageOf } from "../../base/errors.ts";
import { unreachable } from "../../base/exhaustive.ts";
import { openParentChannel } from "../../platform/child-process.ts";
import { runPreparation } from "../prepare/preparation.ts";
import { hostBounds as bounds } from "./bounds.ts";
import {
  controlFrames,
  countFrame,
  frame,
  FrameReader,
  frameType,
  readControl,
  readCount,
  usageFrame,
} from "./frames.ts";
import { GuestInput } from "./guest-input.ts";
import { GuestOutput } from "./guest-output.ts";
import type { FromHost, FromWorker, ToHost } from "./messages.ts";
import { type SdkModule, WorkerSlot } from "./worker-slot.ts";

const channel = openParentChannel();
/** Where the SDK lies: resolved by the parent, for this process may not look around. */
const [sdkEntry = ""] = process.argv.slice(2);
const sdkFile = new URL("../pkg/wasmer_sdk_js_bg.wasm", sdkEntry);
/** Compiled once; every worker gets the same compiled code. */
const sdk: Promise<SdkModule> = readFile(sdkFile).then(async (bytes) => ({
  entry: sdkEntry,
  compiled: await WebAssembly.compile(new Uint8Array(bytes)),
}));

interface Program {
  readonly bytes: Uint8Array;
  /** Held so that the engine finds the compiled code again when a worker compiles the same bytes. */
  readonly compiled: WebAssembly.Module;
}

const programs = new Map<string, Program>();
interface RunningGuest {
  readonly slot: WorkerSlot;
  readonly input: GuestInput;
  readonly output: GuestOutput;
  /** Resolves when all it wrote is sent. */
  readonly forwarded: Promise<void>;
}

const guests = new Map<number, RunningGuest>();
let spare: WorkerSlot | null = null;
/** What `prewarm` asked for last; undefined until it was called. */
let sparesProgram: string | null | undefined;

const send = (words: FromHost, bytes?: Uint8Array): void => channel.write(...controlFrames(words, bytes));

const reader = new FrameReader(bounds.maxFrameBytes, (type, guest, payload) => {
  switch (type) {
    case frameType.control: {
      const { words, bytes } = readControl(payload);
      // Only the kernel writes here, so the words are what they claim to be.
      obey(words as ToHost, bytes).catch((error: unknown) => fail(error));
      return;
    }
    case frameType.stdin:
      guests.get(guest)?.input.push(payload);
      return;
    case frameType.stdoutCredit: {
      const running = guests.get(guest);
      running?.slot.open();
      running?.output.allow(readCount(payload));
      return;
    }
    default:
      fail(new RangeError(`unknown frame type ${type}`));
  }
});
channel.chunks.on((chunk) => reader.push(chunk));
void channel.closed.then(() => process.exit(0));

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
      sparesProgram = words.program;
      return keepSpare();
    default:
      unreachable(words);
  }
}

function keepProgram(key: string, bytes: Uint8Array): void {
  // Shared, so that handing it to a worker copies nothing.
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  programs.set(key, { bytes: shared, compiled: new WebAssembly.Module(bytes.slice()) });
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
  const slot = takeSpare(key) ?? new WorkerSlot(await sdk);
  const output = new GuestOutput(slot.output, (bytes) =>
    channel.write(...frame(frameType.stdout, guest, bytes)),
  );
  const input = new GuestInput(slot.input, (count) =>
    channel.write(...countFrame(frameType.stdinTaken, guest, count)),
  );
  guests.set(guest, { slot, input, output, forwarded: output.forward() });
  slot.listen((message) => passOn(guest, slot, message));
  if (slot.program === null) slot.load(key, program.bytes);
}

/** The spare worker where it fits: one with no program yet, or with this one already loaded. */
function takeSpare(key: string): WorkerSlot | null {
  const taken = spare;
  if (taken === null || !taken.isAlive || (taken.program !== null && taken.program !== key)) return null;
  spare = null;
  return taken;
}

async function keepSpare(): Promise<void> {
  if (sparesProgram === undefined) return;
  const wanted = sparesProgram;
  const isUsable = spare !== null && spare.isAlive && (spare.program === wanted || spare.program === null);
  if (!isUsable) {
    const old = spare;
    spare = null;
    await old?.end();
    const loaded = await sdk;
    // Another call may have come here first in the meantime.
    spare ??= new WorkerSlot(loaded);
  }
  const program = wanted === null ? undefined : programs.get(wanted);
  if (program !== undefined && wanted !== null && spare?.program === null) spare.load(wanted, program.bytes);
}

function passOn(guest: number, slot: WorkerSlot, message: FromWorker): void {
  const running = guests.get(guest);
  if (running?.slot !== slot) return;
  switch (message.kind) {
    case "loaded":
      send({ kind: "started", guest });
      keepSpare().catch(fail);
      return;
    case "stderr":
      return channel.write(...frame(frameType.stderr, guest, new TextEncoder().encode(message.text)));
    case "usage":
      return channel.write(...usageFrame(guest, message));
    case "exited":
      // It writes no more; what it wrote is sent before its end is told.
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

/** A fault of the host's own: it says so and ends, and the kernel starts another. */
function fail(error: unknown): void {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(1);
}
