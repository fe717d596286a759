import process from "node:process";

/** The work is this long, and begins this often: a tenth of one core. */
const workMs = 20;
const everyMs = 200;

/** Measures how much longer than its CPU time the same work takes now, because others use the cores too. */
export class CpuShare implements Disposable {
  readonly #timer = setInterval(() => this.#work(), everyMs);
  #wallMs = 0;
  #cpuMs = 0;

  /** Returns 1 on a machine that does nothing else, 2 where each thread gets half of a core. */
  get slowdown(): number {
    return this.#cpuMs === 0 ? 1 : Math.max(1, this.#wallMs / this.#cpuMs);
  }

  #work(): void {
    const from = performance.now();
    const before = process.threadCpuUsage();
    let cpuMs = 0;
    while (cpuMs < workMs) {
      const { user, system } = process.threadCpuUsage(before);
      cpuMs = (user + system) / 1000;
    }
    this.#wallMs += performance.now() - from;
    this.#cpuMs += cpuMs;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
