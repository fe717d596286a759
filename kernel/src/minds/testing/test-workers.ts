import { lastText, MindBench } from "./mind-bench.ts";

/** A channel that starts one worker, which writes a file and ends with what became of it. */
export async function withWriter(bench: MindBench): Promise<string> {
  bench.model = (question, { process }) => {
    if (process === "worker")
      return lastText(question) === "write it"
        ? { call: [{ tool: "files/write", arguments: { path: "a" } }] }
        : { say: `result: ${lastText(question)}` };
    return lastText(question) === "go"
      ? { call: [{ tool: "spawn_worker", arguments: { task: "write it" } }] }
      : { say: "ok" };
  };
  const { id } = await bench.open();
  await bench.send(id, "go");
  return id;
}

/** A channel with a worker that asks before each of three files, and then ends. */
export async function withAskingWorker(): Promise<{ bench: MindBench; id: string; turns: () => number }> {
  const bench = await MindBench.open();
  let turn = 0;
  bench.asksAboutTools = ["files/write"];
  bench.model = (question, { process }) => {
    if (process === "worker")
      return turn++ < 3
        ? { call: [{ tool: "files/write", arguments: { path: `${turn}` } }] }
        : { say: "I give up" };
    return lastText(question) === "go"
      ? { call: [{ tool: "spawn_worker", arguments: { task: "write" } }] }
      : { say: "ok" };
  };
  const { id } = await bench.open();
  await bench.send(id, "go");
  return { bench, id, turns: () => turn };
}

/** Returns the kind and state of each process of a conversation. */
export const statesOf = async (bench: MindBench, id: string): Promise<string[]> =>
  (await bench.service.get(id)).processes.map(({ kind, state }) => `${kind} ${state}`);
