import { readdirSync, readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { silentLog } from "../../base/log.ts";
import { systemClock } from "../../platform/clock.ts";
import { command, echo, spinOnInput, wat } from "../testing/wat.ts";
import { hostBounds } from "./bounds.ts";
import type { Guest } from "./kernel-guest.ts";
import { createSandboxHost, type GuestProgram, type SandboxHost } from "./sandbox-host.ts";

const host: SandboxHost<GuestProgram> = createSandboxHost({ clock: systemClock, log: silentLog });
afterAll(() => host[Symbol.asyncDispose]());

async function start(text: string, maxMemoryMb: number): Promise<Guest> {
  return host.start({ kind: "wasm", bytes: await wat(text) }, { agent: "test", maxMemoryMb });
}

interface Thread {
  readonly id: string;
  readonly cpuMs: number;
  readonly niceness: number;
}

/** Returns all threads of the host, or only those of guests, including the spare worker's. */
function threads(of?: "guest"): Thread[] {
  const folder = `/proc/${host.pid}/task`;
  return readdirSync(folder)
    .map((id) => {
      const stat = readFileSync(`${folder}/${id}/stat`, "utf8");
      const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return {
        id,
        name,
        cpuMs: (Number(fields[11]) + Number(fields[12])) * 10,
        niceness: Number(fields[16]),
      };
    })
    .filter(({ name }) => of === undefined || name === of);
}

const niced = (): string[] =>
  threads()
    .filter(({ niceness }) => niceness > 0)
    .map(({ id }) => id);

/** Resolves with the first usage sample over this CPU time. */
function computed(guest: Guest, cpuTimeMs: number): Promise<void> {
  return new Promise((resolve) => {
    guest.usage.on((sample) => {
      if (sample.cpuTimeMs >= cpuTimeMs) resolve();
    });
  });
}

function answer(guest: Guest, line: string): Promise<string> {
  const answered = new Promise<string>((resolve) => {
    const listening = guest.lines.on((text) => {
      listening[Symbol.dispose]();
      resolve(text);
    });
  });
  guest.send(line);
  return answered;
}

describe.runIf(process.platform === "linux")("the threads of guests", () => {
  test.each<[string, string, number]>([
    ["a program", spinOnInput, 16],
    ["another memory limit", spinOnInput, 24],
    [
      "another program",
      command(`(drop (call $read)) (loop $again (br $again))`, "(global i32 (i32.const 1))"),
      8,
    ],
  ])("the spare worker serves %s", async (_what, text, maxMemoryMb) => {
    host.prewarm();
    // Only the spare worker's thread is left.
    await expect.poll(() => threads("guest").length, { timeout: 20_000 }).toBe(1);
    const [spare] = threads("guest");
    const guest = await start(text, maxMemoryMb);
    guest.send("go");
    await computed(guest, 50);
    const busiest = threads("guest").toSorted((one, other) => other.cpuMs - one.cpuMs)[0];
    expect(busiest?.id).toBe(spare?.id);
    await guest.kill();
  });

  test("a thread that computes for long gets a lower priority than the others", async () => {
    const neighbour = await start(echo, 16);
    const spinner = await start(spinOnInput, 16);
    expect(niced()).toEqual([]);
    spinner.send("go");
    await computed(spinner, hostBounds.longTurnMs * 3);
    const busiest = threads("guest").toSorted((one, other) => other.cpuMs - one.cpuMs)[0];
    expect(niced()).toEqual([busiest?.id]);
    expect(busiest?.niceness).toBe(hostBounds.longTurnNiceness);
    expect(await answer(neighbour, "here")).toBe("here");
    await spinner.kill();
    await neighbour.kill();
  });

  test("a thread that computes much in short turns keeps its priority", async () => {
    const guest = await start(
      command(`(loop $again
        (local.set $n (i32.const 3000000))
        (loop $count (br_if $count (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
        (local.set $n (call $read))
        (call $write (i32.const 1) (i32.const 1024) (local.get $n))
        (br $again))`),
      16,
    );
    const turns = Array.from({ length: 1000 }, (_, turn) => `${turn}`);
    let isOver = false;
    void computed(guest, hostBounds.longTurnMs * 3).then(() => (isOver = true));
    for (const turn of turns) {
      expect(await answer(guest, turn)).toBe(turn);
      if (isOver) break;
    }
    expect(isOver).toBe(true);
    expect(niced()).toEqual([]);
    await guest.kill();
  });
});
