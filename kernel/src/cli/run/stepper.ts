import type { TraceEntry } from "../../base/vocabulary/trace.ts";
import { Fifo } from "../../base/fifo.ts";
import type { Key } from "../keyboard/key.ts";
import { readKeys } from "../keyboard/keys.ts";

/** Traces that wait for the person; the oldest are dropped. */
export const maxWaiting = 5000;

interface StepperPorts {
  show(entry: TraceEntry): void;
  remark(text: string): void;
  quit(): void;
}

/**
 * Shows the steps of inspected agents one by one, as a person asks for them: Enter shows the next one, `c` everything up to
 * the next event, `q` quits. The agents do not wait.
 */
export class Stepper {
  readonly #ports: StepperPorts;
  readonly #waiting = new Fifo<TraceEntry>();
  /** What the person waits for; at first an event. */
  #wants: "step" | "event" | null = "event";
  #dropped = 0;

  constructor(ports: StepperPorts) {
    this.#ports = ports;
  }

  /** True while the person has not seen everything. */
  get isBusy(): boolean {
    return this.#waiting.length > 0;
  }

  get status(): string {
    const count = this.#waiting.length;
    return `${count === 0 ? "waiting for a step" : `${count} to see`}: Enter next, c next event, q quit`;
  }

  add(entry: TraceEntry): void {
    this.#waiting.push(entry);
    if (this.#waiting.length > maxWaiting) {
      this.#waiting.shift();
      this.#dropped += 1;
    }
    this.#showWanted();
  }

  key({ name, isControl }: Pick<Key, "name" | "isControl">): void {
    if (isControl ? name === "c" || name === "d" : name === "q") return this.#ports.quit();
    if (isControl) return;
    if (name === "return" || name === "enter") this.#wants = "step";
    else if (name === "c") this.#wants = "event";
    else return;
    this.#showWanted();
  }

  #showWanted(): void {
    while (this.#wants !== null) {
      const entry = this.#waiting.shift();
      if (entry === undefined) return;
      if (this.#dropped > 0)
        this.#ports.remark(`${this.#dropped} earlier traces are not shown. lares traces has them.`);
      this.#dropped = 0;
      const { step } = entry;
      if (step === "begin" || (step !== undefined && this.#wants === "step")) this.#wants = null;
      this.#ports.show(entry);
    }
  }
}

/** Passes the keys of a terminal to the stepper until it is disposed; then the terminal is as before. */
export function readSteps(input: NodeJS.ReadStream, stepper: Pick<Stepper, "key">): Disposable {
  const wasRaw = input.isRaw;
  const keys = readKeys(input, { key: (key) => stepper.key(key), paste: () => undefined });
  input.setRawMode(true);
  input.resume();
  return {
    [Symbol.dispose]: () => {
      keys[Symbol.dispose]();
      input.setRawMode(wasRaw);
      input.pause();
    },
  };
}
