import { describe, expect, test } from "vitest";
import { until } from "../../../test/support/until.ts";
import { systemClock } from "../platform/clock.ts";
import { stopped } from "./ends.ts";
import { lastText, MindBench, person } from "./testing/mind-bench.ts";

/** A channel that starts one worker, which writes a file and ends with what became of it. */
async function withWriter(bench: MindBench): Promise<string> {
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
async function withAskingWorker(): Promise<{ bench: MindBench; id: string; turns: () => number }> {
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

const statesOf = async (bench: MindBench, id: string): Promise<string[]> =>
  (await bench.service.get(id)).processes.map(({ kind, state }) => `${kind} ${state}`);

describe("a question of a process is in the log when it is asked and when it has ended", () => {
  test.each([
    { how: "allowed", allow: true, states: ["ask Pending workspace", "ask Allowed person"] },
    { how: "denied", allow: false, states: ["ask Pending workspace", "ask Denied person"] },
  ])("$how by the person, and the process waits meanwhile", async ({ allow, states }) => {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/write"];
    const id = await withWriter(bench);
    const { id: ref } = await bench.question();
    expect(await statesOf(bench, id)).toContain("worker WaitingForApproval");
    expect((await bench.minds.conversations.find(id))?.state.references).toMatchObject([
      { kind: "ask", ref },
    ]);
    await bench.answer(allow);
    const entries = await bench.rested(id);
    expect(await bench.decisions(id)).toEqual(states);
    expect((await bench.minds.conversations.find(id))?.state.references).toEqual([]);
    expect(bench.calls).toHaveLength(allow ? 1 : 0);
    const worker = entries.findLast((entry) => entry.kind === "process" && entry.value.kind === "worker");
    expect(worker).toMatchObject({ value: { state: "Done" } });
  });

  test("however many wait: nine workers of one mind and more ask, three of a conversation are shown, and none fails", async () => {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/read"];
    bench.model = (question, { process }) => {
      const task = lastText(question);
      if (process === "worker")
        return task.startsWith("read ")
          ? { call: [{ tool: "files/read", arguments: { path: task } }] }
          : { say: "report" };
      return task === "go"
        ? {
            call: [1, 2, 3, 4, 5].map((n) => ({
              tool: "spawn_worker",
              arguments: { task: `read ${n}` },
            })),
          }
        : { say: "ok" };
    };
    const ids = [(await bench.open()).id, (await bench.open()).id];
    for (const id of ids) await bench.send(id, "go");
    const waiting = async (): Promise<number> =>
      (await Promise.all(ids.map((id) => statesOf(bench, id))))
        .flat()
        .filter((state) => state === "worker WaitingForApproval").length;
    await until("all workers to wait", async () => (await waiting()) === 10);
    expect(await bench.asks.list("Pending")).toHaveLength(6);
    await bench.restart();
    await until("all workers to wait again", async () => (await waiting()) === 10);
    expect(await bench.asks.list("Pending")).toHaveLength(6);
    for (let answered = 0; answered < 10; answered++) await bench.answer(true);
    for (const id of ids) {
      await bench.rested(id);
      expect((await statesOf(bench, id)).filter((state) => state === "worker Done")).toHaveLength(5);
    }
    expect(bench.calls).toHaveLength(10);
  });

  test("withdrawn because its process was stopped", async () => {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/write"];
    const id = await withWriter(bench);
    await bench.question();
    await bench.service.cancel(person, id);
    await bench.rested(id);
    expect(await bench.decisions(id)).toEqual(["ask Pending workspace", "ask Expired workspace"]);
    expect(bench.asked).toEqual(["Pending", "Expired"]);
    expect(bench.calls).toEqual([]);
  });

  test("about a repeated call, and about a request to a model", async () => {
    const bench = await MindBench.open();
    bench.mayRepeat = "asks";
    bench.asksAboutModels = true;
    bench.model = () =>
      bench.questions.length <= 3
        ? { call: [{ tool: "files/read", arguments: { path: "a" } }] }
        : { say: "ok" };
    const { id } = await bench.open();
    await bench.send(id, "go");
    for (let question = 0; question < 5; question++) await bench.answer(true);
    await bench.rested(id);
    expect(bench.calls).toHaveLength(3);
    expect(await bench.decisions(id)).toEqual(
      Array.from({ length: 5 }, () => ["ask Pending workspace", "ask Allowed person"]).flat(),
    );
  });

  test("the channel reads in its status what waits for the person", async () => {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/write"];
    const id = await withWriter(bench);
    await bench.question();
    await bench.send(id, "and now?");
    await until("the answer", () =>
      bench.questions.some(({ question }) => lastText(question) === "and now?"),
    );
    const asked = bench.questions.findLast(({ question }) => lastText(question) === "and now?");
    expect(JSON.stringify(asked?.question.messages.at(-1))).toContain("1 question waits for the person");
    await bench.answer(true);
    await bench.rested(id);
  });
});

describe("a question that waits when a kernel dies", () => {
  test("is the same one for the next kernel, which continues with the answer", async () => {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/write"];
    const id = await withWriter(bench);
    const { id: ref } = await bench.question();
    await bench.restart();
    expect((await bench.asks.list("Pending")).map((ask) => ask.id)).toEqual([ref]);
    await until("the call to be made again", async () =>
      (await statesOf(bench, id)).includes("worker WaitingForApproval"),
    );
    expect(await bench.answer(true)).toBe(ref);
    await bench.rested(id);
    expect(bench.asked).toEqual(["Pending", "Allowed"]);
    expect(await bench.decisions(id)).toEqual(["ask Pending workspace", "ask Allowed person"]);
    expect(bench.calls).toHaveLength(1);
  });

  test("may be answered before its conversation continues, and is not asked again", async () => {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/write"];
    const id = await withWriter(bench);
    await bench.question();
    await bench.stop();
    await bench.start({ isContinuing: false });
    await bench.answer(true);
    await bench.minds.start();
    await bench.rested(id);
    expect(bench.asked).toEqual(["Pending", "Allowed"]);
    expect(await bench.decisions(id)).toEqual(["ask Pending workspace", "ask Allowed person"]);
    expect(bench.calls).toHaveLength(1);
  });

  test("is waited for by the channel's call that continues, as nothing new was said", async () => {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/read"];
    bench.model = (question) =>
      lastText(question) === "go"
        ? { call: [{ tool: "files/read", arguments: { path: "a" } }] }
        : { say: `result: ${lastText(question)}` };
    const { id } = await bench.open();
    await bench.send(id, "go");
    const { id: ref } = await bench.question();
    const before = (await bench.entries(id)).length;
    await bench.restart();
    await until("the call to ask again", async () => {
      const states = (await bench.entries(id))
        .slice(before)
        .flatMap((entry) => (entry.kind === "process" ? [entry.value.state] : []));
      return states.at(-1) === "WaitingForApproval";
    });
    expect(await bench.answer(true)).toBe(ref);
    await bench.rested(id);
    expect(await bench.decisions(id)).toEqual(["ask Pending workspace", "ask Allowed person"]);
    expect(bench.calls).toHaveLength(1);
    expect((await bench.entries(id)).filter(({ kind }) => kind === "tool_result")).toHaveLength(1);
    expect((await bench.entries(id)).filter(({ kind }) => kind === "request")).toHaveLength(2);
  });

  test("about a request to a model is not asked again either", async () => {
    const bench = await MindBench.open();
    bench.asksAboutModels = true;
    const { id } = await bench.open();
    await bench.send(id, "hello");
    const { id: ref } = await bench.question();
    await bench.restart();
    await until(
      "the request to be made again",
      async () => (await bench.entries(id)).filter(({ kind }) => kind === "request").length === 2,
    );
    expect(await bench.answer(true)).toBe(ref);
    await bench.rested(id);
    expect(bench.asked).toEqual(["Pending", "Allowed"]);
    expect(await bench.said(id)).toEqual(["ok"]);
  });

  test("ends when its conversation is stopped before it continues", async () => {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/write"];
    const id = await withWriter(bench);
    await bench.question();
    await bench.stop();
    await bench.start({ isContinuing: false });
    await bench.service.cancel(person, id);
    expect(bench.asked).toEqual(["Pending", "Expired"]);
    expect(await bench.asks.list("Pending")).toEqual([]);
  });
});

describe("an action of a worker that needs approval makes it wait, and its call gets what became of it", () => {
  const waiting = async (bench: MindBench): Promise<string> => {
    bench.tool = () => bench.proposal("a1");
    const id = await withWriter(bench);
    await until("the worker to wait", async () =>
      (await statesOf(bench, id)).includes("worker WaitingForApproval"),
    );
    return id;
  };
  const resultOf = async (bench: MindBench, id: string) => {
    const entries = await bench.rested(id);
    const results = entries.flatMap((entry) =>
      entry.kind === "tool_result" && entry.process !== entries[0]?.process ? [entry.result] : [],
    );
    expect(results).toHaveLength(1);
    return results[0];
  };

  test("committed: success", async () => {
    const bench = await MindBench.open();
    const id = await waiting(bench);
    bench.decide("a1", "Committed");
    expect(await resultOf(bench, id)).toEqual({
      status: "success",
      value: { action: "a1", state: "Committed" },
    });
    expect(await bench.decisions(id)).toEqual([
      "action PendingApproval workspace",
      "action Committed person",
    ]);
    expect(await statesOf(bench, id)).toContain("worker Done");
  });

  test.each([
    [
      "Rejected",
      { rejected_reason: "Not there." },
      "The change was not made (Rejected): Not there. The person does not want it: do not propose the same again.",
      "person",
    ],
    ["Stale", { error: "a was changed." }, "The change was not made (Stale): a was changed.", "workspace"],
    ["Expired", { error: "Too late." }, "The change was not made (Expired): Too late.", "workspace"],
    [
      "Failed",
      { error: "The disk is full." },
      "The change was not made (Failed): The disk is full.",
      "workspace",
    ],
  ] as const)(
    "%s: an error with the reason, from which the worker continues",
    async (state, why, message, by) => {
      const bench = await MindBench.open();
      const id = await waiting(bench);
      bench.changeAction("a1", why);
      bench.decide("a1", state);
      expect(await resultOf(bench, id)).toEqual({ status: "error", message, recoverable: true });
      expect(await bench.decisions(id)).toEqual([
        "action PendingApproval workspace",
        `action ${state} ${by}`,
      ]);
      expect(await statesOf(bench, id)).toContain("worker Done");
    },
  );

  test("stopped by the person: rejected, which they did not decide", async () => {
    const bench = await MindBench.open();
    const id = await waiting(bench);
    await bench.service.cancel(person, id);
    expect(await resultOf(bench, id)).toMatchObject({ status: "error", message: "cancelled" });
    expect(bench.actions.get("a1")?.state).toBe("Rejected");
    expect(await bench.decisions(id)).toEqual([
      "action PendingApproval workspace",
      "action Rejected workspace",
    ]);
    expect((await bench.minds.conversations.find(id))?.state.rejections).toBe(0);
  });

  test("race: stopped while what the person approved is being committed: the commit's end is in the log", async () => {
    const bench = await MindBench.open();
    const id = await waiting(bench);
    bench.changeAction("a1", { state: "Committing" });
    const stopping = bench.service.cancel(person, id);
    await until("the worker's end", async () => (await statesOf(bench, id)).includes("worker Cancelled"));
    bench.decide("a1", "Committed");
    await stopping;
    expect(await bench.decisions(id)).toEqual([
      "action PendingApproval workspace",
      "action Committed person",
    ]);
  });

  test("stopped by its channel: rejected too", async () => {
    const bench = await MindBench.open();
    const id = await waiting(bench);
    const [, worker] = (await bench.service.get(id)).processes;
    bench.model = (question) =>
      lastText(question) === "stop it"
        ? { call: [{ tool: "cancel", arguments: { process: worker?.id } }] }
        : { say: "ok" };
    await bench.send(id, "stop it");
    await until("the rejection", () => bench.actions.get("a1")?.state === "Rejected");
    await bench.rested(id);
    expect(bench.actions.get("a1")?.decided_by).toBeUndefined();
    expect(await bench.decisions(id)).toEqual([
      "action PendingApproval workspace",
      "action Rejected workspace",
    ]);
    expect(await statesOf(bench, id)).toContain("worker Cancelled");
  });

  test.each(["while no kernel runs", "after the next kernel continued"])(
    "a kernel died meanwhile, and it is decided %s: success, once",
    async (when) => {
      const bench = await MindBench.open();
      const id = await waiting(bench);
      await bench.stop();
      if (when === "while no kernel runs") bench.decideLater("a1", "Committed");
      await bench.start();
      if (when !== "while no kernel runs") {
        await until("the call to be made again", () => bench.calls.length === 2);
        bench.decide("a1", "Committed");
      }
      expect(await resultOf(bench, id)).toMatchObject({ status: "success" });
      expect(await bench.decisions(id)).toEqual([
        "action PendingApproval workspace",
        "action Committed person",
      ]);
      const [first, second] = bench.calls;
      expect(second).toBe(first);
    },
  );

  test.each([
    ["waits: it is rejected", "PendingApproval", "Rejected workspace"],
    ["was committed: that is written down", "Committed", "Committed person"],
  ] as const)(
    "a kernel died between the end of its worker, which was stopped, and its own, and it %s",
    async (_, state, end) => {
      const bench = await MindBench.open();
      const id = await waiting(bench);
      await bench.stop();
      await bench.start({ isContinuing: false });
      {
        using opened = await bench.minds.conversations.open(id);
        const { log } = opened;
        const worker = log.state.processes.find(({ kind }) => kind === "worker");
        if (worker === undefined) throw new Error("There is no worker.");
        await log.append(stopped(log.state, worker, systemClock));
      }
      if (state === "Committed") bench.decideLater("a1", state);
      await bench.restart();
      await until("the action's end", async () => (await bench.decisions(id)).length === 2);
      expect(await bench.decisions(id)).toEqual(["action PendingApproval workspace", `action ${end}`]);
      expect(end).toContain(bench.actions.get("a1")?.state);
      expect(await statesOf(bench, id)).toContain("worker Cancelled");
    },
  );
});

describe("three rejections in a row", () => {
  /** A channel that proposes a change with every message. */
  const withProposals = async (bench: MindBench): Promise<string> => {
    let proposals = 0;
    bench.tool = () => bench.proposal(`a${(proposals += 1)}`);
    bench.model = (question) =>
      lastText(question).startsWith("propose")
        ? {
            call: Array.from({ length: 3 }, (_, n) => ({ tool: "files/write", arguments: { path: `${n}` } })),
          }
        : { say: "ok" };
    const { id } = await bench.open();
    await bench.send(id, "propose");
    await bench.rested(id);
    return id;
  };
  const notices = async (bench: MindBench, id: string): Promise<string[]> =>
    (await bench.entries(id)).flatMap((entry) => (entry.kind === "notice" ? [entry.text] : []));
  const decided = async (bench: MindBench, id: string, action: string): Promise<unknown> =>
    until(`the end of ${action}`, async () =>
      (await bench.entries(id)).some(
        (entry) => entry.kind === "action" && entry.ref === action && entry.state !== "PendingApproval",
      ),
    );

  test("pause the conversation: no further request until the person says something", async () => {
    const bench = await MindBench.open();
    const id = await withProposals(bench);
    for (const action of ["a1", "a2"]) {
      bench.decide(action, "Rejected");
      await decided(bench, id, action);
      await bench.rested(id);
    }
    const asked = bench.questions.length;
    expect(await notices(bench, id)).toEqual([]);
    bench.decide("a3", "Rejected");
    await decided(bench, id, "a3");
    await bench.rested(id);
    expect(bench.questions).toHaveLength(asked);
    expect(await notices(bench, id)).toEqual([expect.stringMatching(/three times.*Send a message/)]);
    expect(await statesOf(bench, id)).toEqual(["channel WaitingForInput"]);
    await bench.restart();
    await bench.minds.use(id, (conversation) => conversation.resume());
    await bench.rested(id);
    expect(bench.questions).toHaveLength(asked);
    await bench.send(id, "go on");
    await bench.rested(id);
    expect(bench.questions.length).toBeGreaterThan(asked);
    expect((await bench.minds.conversations.find(id))?.state.rejections).toBe(0);
  });

  test("count over a restart, and are counted from zero after an approval", async () => {
    const bench = await MindBench.open();
    const id = await withProposals(bench);
    for (const [action, state] of [
      ["a1", "Rejected"],
      ["a2", "Committed"],
      ["a3", "Rejected"],
    ] as const) {
      bench.decide(action, state);
      await decided(bench, id, action);
      await bench.rested(id);
    }
    await bench.restart();
    expect((await bench.minds.conversations.find(id))?.state.rejections).toBe(1);
    expect(await notices(bench, id)).toEqual([]);
  });

  test("stop a worker at its next request, which continues with the next message", async () => {
    const { bench, id, turns } = await withAskingWorker();
    for (let question = 0; question < 3; question++) await bench.answer(false);
    await bench.rested(id);
    expect(await statesOf(bench, id)).toEqual(["channel WaitingForInput", "worker WaitingForInput"]);
    expect(turns()).toBe(3);
    expect(await notices(bench, id)).toHaveLength(1);
    await bench.restart();
    await bench.send(id, "go on");
    await until("the worker's end", async () => (await statesOf(bench, id)).includes("worker Done"));
    await bench.rested(id);
    expect(turns()).toBe(4);
  });

  test("race: the person speaks while it is written that the worker is paused: it continues", async () => {
    const { bench, id, turns } = await withAskingWorker();
    const { promise: spoken, resolve: goOn } = Promise.withResolvers<void>();
    const { promise: pausing, resolve: isPausing } = Promise.withResolvers<void>();
    await bench.minds.use(id, async ({ log }) => {
      const append = log.append.bind(log);
      log.append = async (...given) => {
        const written = await append(...given);
        if (JSON.stringify(written).includes('"state":"WaitingForInput"')) {
          isPausing();
          await spoken;
        }
        return written;
      };
    });
    for (let question = 0; question < 3; question++) await bench.answer(false);
    await pausing;
    await bench.send(id, "go on");
    goOn();
    await until("the worker's end", async () => (await statesOf(bench, id)).includes("worker Done"));
    expect(turns()).toBe(4);
  });

  test("and a stop: a paused worker ends with its tree", async () => {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/write"];
    let path = 0;
    bench.model = (question, { process }) =>
      process === "worker"
        ? { call: [{ tool: "files/write", arguments: { path: `${(path += 1)}` } }] }
        : lastText(question) === "go"
          ? { call: [{ tool: "spawn_worker", arguments: { task: "write" } }] }
          : { say: "ok" };
    const { id } = await bench.open();
    await bench.send(id, "go");
    for (let question = 0; question < 3; question++) await bench.answer(false);
    await bench.rested(id);
    await bench.service.cancel(person, id);
    expect(await statesOf(bench, id)).toContain("worker Cancelled");
    await bench.send(id, "hello");
    await bench.rested(id);
    expect(path).toBe(3);
  });
});

describe("a channel that asks the person about a call", () => {
  /** A channel that reads a file, about which the person is asked, and answers what else it is asked. */
  async function withQuestion(): Promise<{ bench: MindBench; id: string }> {
    const bench = await MindBench.open();
    bench.asksAboutTools = ["files/read"];
    bench.model = (question) => {
      const text = lastText(question);
      if (text === "go" || text.startsWith("The person allowed it"))
        return { call: [{ tool: "files/read", arguments: { path: "a" } }] };
      return { say: text === "are you there?" ? "yes" : text.includes("done") ? "read" : "I see" };
    };
    const { id } = await bench.open();
    await bench.send(id, "go");
    await bench.question();
    return { bench, id };
  }
  const answersTo = async (bench: MindBench, id: string, wanted: string): Promise<void> =>
    void (await until(wanted, async () => (await bench.said(id)).includes(wanted)));

  test("answers a message meanwhile, and makes the call once when the person has allowed it", async () => {
    const { bench, id } = await withQuestion();
    await bench.send(id, "are you there?");
    await answersTo(bench, id, "yes");
    await bench.rested(id);
    expect(bench.calls).toEqual([]);
    const [ask, ...others] = await bench.asks.list("Pending");
    expect(others).toEqual([]);
    const waiting = (await bench.entries(id)).flatMap((entry) =>
      entry.kind === "tool_result" ? [entry.result] : [],
    );
    expect(waiting).toEqual([
      {
        status: "error",
        message: expect.stringContaining("was not run") as string,
        recoverable: true,
        question: ask?.id,
      },
    ]);
    const told = JSON.stringify(bench.questions.at(-1)?.question.messages);
    expect(told).toContain("Do not repeat it before");
    expect(told).not.toContain("Another attempt may succeed");
    await bench.answer(true);
    await answersTo(bench, id, "read");
    await bench.rested(id);
    expect(bench.calls).toHaveLength(1);
    expect(bench.asked).toEqual(["Pending", "Allowed"]);
    expect((await bench.said(id, "user")).filter((text) => text.includes("allowed it"))).toHaveLength(1);
    // The answer is used up.
    await bench.send(id, "go");
    expect((await bench.question()).state).toBe("Pending");
    expect(bench.calls).toHaveLength(1);
  });

  test("is told the decision by the next kernel too", async () => {
    const { bench, id } = await withQuestion();
    await bench.send(id, "are you there?");
    await answersTo(bench, id, "yes");
    await bench.rested(id);
    await bench.restart();
    await bench.answer(true);
    await answersTo(bench, id, "read");
    await bench.rested(id);
    expect(bench.calls).toHaveLength(1);
  });

  test("is told once that the person did not allow it, and makes no call", async () => {
    const { bench, id } = await withQuestion();
    await bench.send(id, "are you there?");
    await answersTo(bench, id, "yes");
    await bench.rested(id);
    await bench.answer(false);
    await answersTo(bench, id, "I see");
    await bench.rested(id);
    expect(bench.calls).toEqual([]);
    expect((await bench.said(id, "user")).filter((text) => text.includes("did not allow"))).toHaveLength(1);
  });

  test("is not woken when the conversation is stopped instead", async () => {
    const { bench, id } = await withQuestion();
    await bench.send(id, "are you there?");
    await answersTo(bench, id, "yes");
    await bench.rested(id);
    const { length } = bench.questions;
    await bench.service.cancel(person, id);
    await until("the end", async () => (await bench.decisions(id)).includes("ask Expired workspace"));
    await bench.rested(id);
    expect(bench.questions).toHaveLength(length);
  });
});
