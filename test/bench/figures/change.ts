import { mkdtempSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Bed, recorder } from "../bed.ts";
import { type Figure, pause } from "../figure.ts";
import type { Row } from "../report.ts";
import { percentile } from "../statistics.ts";

const agent = "dev.bench.recorder";
const files = 20;

/**
 * Measures how long a bare `fs.watch` takes to report a change, in the same process, alternating with the measured one.
 */
class BareWatch implements Disposable {
  readonly samples: number[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), "lares-bench-watch-"));
  #heard: () => void = () => {};
  readonly #watcher = watch(this.#folder, () => this.#heard());
  #count = 0;

  async sample(): Promise<void> {
    const heard = new Promise<void>((resolve) => (this.#heard = resolve));
    const startedAt = performance.now();
    writeFileSync(join(this.#folder, "file"), "x".repeat(++this.#count));
    await heard;
    this.samples.push(performance.now() - startedAt);
    this.#heard = () => {};
  }

  [Symbol.dispose](): void {
    this.#watcher.close();
    rmSync(this.#folder, { recursive: true });
  }
}

export const change: Figure = {
  name: "change",
  title:
    "from a file's change, seen by the client, to its handler having run: one memory update and one trace",
  async run({ isShort, say }) {
    await using bed = await Bed.open({
      files: {
        "new/first.txt": "",
        ...Object.fromEntries(Array.from({ length: files }, (_, at) => [`notes/note-${at}.txt`, "."])),
      },
      extensions: [recorder(agent)],
    });
    using bare = new BareWatch();
    let size = 1000;
    /** Writes a file and resolves to how long the answer took, in milliseconds. */
    const write = async (path: string): Promise<number> => {
      const expected = ++size;
      const handled = bed.trace(
        `${path} with ${expected} bytes`,
        ({ message, fields }) =>
          message === "handled" && fields?.["path"] === path && fields["size"] === expected,
        20_000,
      );
      const startedAt = performance.now();
      writeFileSync(bed.bench.path(path), "x".repeat(expected));
      return (await handled).at - startedAt;
    };
    for (let warm = 0; warm < 10; warm++) await write(`notes/note-${warm}.txt`);

    const lone = isShort ? 20 : 150;
    const modified: number[] = [];
    const created: number[] = [];
    for (let at = 0; at < lone; at++) {
      await pause(110);
      await bare.sample();
      await pause(30);
      modified.push(await write(`notes/note-${at % files}.txt`));
      await pause(60);
      created.push(await write(`new/file-${at}.txt`));
    }
    say("alone: done");

    const stream: Promise<number>[] = [];
    const length = isShort ? 40 : 240;
    let dueAt = performance.now();
    for (let at = 0; at < length; at++) {
      stream.push(write(`notes/note-${at % files}.txt`));
      dueAt += 50;
      await pause(Math.max(0, dueAt - performance.now()));
    }
    const streamed = await Promise.all(stream);

    const floor = (share: number): NonNullable<Row["floor"]> => ({
      what: "bare fs.watch",
      value: percentile(bare.samples, share),
    });
    const pair = (what: string, samples: readonly number[], targets?: readonly [number, number]): Row[] =>
      ([0.5, 0.99] as const).map((share, index) => ({
        what: `${what}, p${share * 100}`,
        value: percentile(samples, share),
        unit: "ms",
        floor: floor(share),
        samples: samples.length,
        ...(targets === undefined ? {} : { target: { atMost: targets[index] ?? Number.NaN } }),
      }));
    return [
      ...pair("a file modified, alone", modified, [15, 60]),
      ...pair("a file created, alone (20 ms of it by contract)", created),
      ...pair("files modified 50 ms apart", streamed, [40, 200]),
    ];
  },
};
