import { writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import process from "node:process";
import * as vscode from "vscode";
import { until } from "../../support/until.ts";
import { openLares } from "../suite/lares.ts";
import { agentCount, agentId, seconds, tracesPerCall } from "./workspace.ts";

/** The interval of the flood: real time, which is what is measured. */
const secondMs = 1000;

/** Milliseconds; `from` and `to` since the epoch. */
export interface Phase {
  readonly from: number;
  readonly to: number;
  /** How late the extension host's event loop handled a timer. */
  readonly delayP50: number;
  readonly delayP99: number;
  readonly delayMax: number;
}

export interface FloodResult {
  readonly idle: Phase;
  readonly flood: Phase;
  /** Traces that the agents were told to write, to wake them and in the flood. */
  readonly sent: number;
  readonly sentInFlood: number;
}

const resolutionMs = 2;

/** Called by VS Code in its extension host: measures it idle, then while all agents trace. */
export async function run(): Promise<void> {
  const { kernel } = await openLares();
  await vscode.commands.executeCommand("lares.traces.focus");
  const call = (index: number, second: number): Promise<unknown> =>
    kernel.request("lares/tools/call", {
      agent: agentId(index),
      name: "chatter",
      arguments: { count: tracesPerCall, from: second * tracesPerCall },
    });
  const all = (second: number): Promise<unknown> =>
    Promise.all(Array.from({ length: agentCount }, (_, index) => call(index, second)));
  // All agents are loaded before anything is measured; loading so many at once takes a busy machine too long.
  for (let index = 0; index < agentCount; index++)
    await until("an agent to be loaded", () =>
      call(index, 0).then(
        () => true,
        (error: Error) => {
          if (/could not be loaded|Initializing/.test(error.message)) return false;
          throw error;
        },
      ),
    );
  await everySecond(2, async () => undefined);

  const idle = await measured(() => everySecond(seconds / 2, async () => undefined));
  const flood = await measured(() => everySecond(seconds, (second) => all(second + 1)));
  const result: FloodResult = {
    idle,
    flood,
    sent: agentCount * tracesPerCall * (seconds + 1),
    sentInFlood: agentCount * tracesPerCall * seconds,
  };
  const path = process.env["LARES_E2E_RESULTS"];
  if (path !== undefined) writeFileSync(path, JSON.stringify(result));
}

/** Starts one each second, whether or not the previous one has ended; resolves when all have. */
async function everySecond(times: number, act: (second: number) => Promise<unknown>): Promise<void> {
  const begun: Promise<unknown>[] = [];
  for (let second = 0; second < times; second++) {
    begun.push(act(second));
    await new Promise((resolve) => setTimeout(resolve, secondMs));
  }
  await Promise.all(begun);
}

async function measured(act: () => Promise<void>): Promise<Phase> {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  const from = Date.now();
  delay.enable();
  await act();
  delay.disable();
  return { from, to: Date.now(), ...delays(delay) };
}

function delays(
  delay: ReturnType<typeof monitorEventLoopDelay>,
): Pick<Phase, "delayP50" | "delayP99" | "delayMax"> {
  const lateness = (ns: number): number => Math.max(0, ns / 1e6 - resolutionMs);
  return {
    delayP50: lateness(delay.percentile(50)),
    delayP99: lateness(delay.percentile(99)),
    delayMax: lateness(delay.max),
  };
}
