import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Action } from "../base/vocabulary/action.ts";
import type { LaresEvent } from "../base/vocabulary/event.ts";
import type { ModelMessage } from "../base/vocabulary/model.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import { FakeAgent, interceptionOf, place, shown } from "./testing/fake-agents.ts";

const call = { call: "k1", tool: "files/read", arguments: { path: "notes/a.md" } };
const success = { status: "success" as const, value: { path: "notes/a.md", text: "hello" } };
const narrow = { locations: ["notes"] };

describe("who is asked", () => {
  it("nobody is asked, and no promise is made, where nobody may intercept the mind", () => {
    const silent = new FakeAgent("dev.other", () => ({ cancel: "no" }), {
      authority: { effective: { intercept: ["dev.another"] } },
    });
    const room = interceptionOf([
      silent,
      new FakeAgent("dev.none", () => ({}), { authority: { effective: {} } }),
    ]);
    expect(room.userInput(place, "hello")).toBeNull();
    expect(room.context(place, () => expect.unreachable())).toBeNull();
    expect(room.beforeToolCall(place, call)).toBeNull();
    expect(room.afterToolCall(place, call, success)).toBeNull();
    expect(room.beforeCompact(place, [1, 2])).toBeNull();
    expect(room.isAsked("UserInput", "dev.mind")).toBe(false);
    expect(silent.asked).toEqual([]);
  });

  it("lower orders come first, then ids, and each sees what the earlier ones made of it", async () => {
    const add = (letter: string) => (event: LaresEvent) => ({
      text: `${String(event["text"])}${letter}`,
    });
    const room = interceptionOf([
      new FakeAgent("dev.c", add("c")),
      new FakeAgent("dev.b", add("b")),
      new FakeAgent("dev.a", add("a"), { order: 200 }),
      new FakeAgent("dev.z", add("z"), { order: 1 }),
    ]);
    const changes = await room.userInput(place, "-");
    expect(changes?.map(({ by, value }) => [by, value])).toEqual([
      ["dev.z", "-z"],
      ["dev.b", "-zb"],
      ["dev.c", "-zbc"],
      ["dev.a", "-zbca"],
    ]);
  });

  it("a hook whose filter does not match is not asked", async () => {
    const picky = new FakeAgent("dev.a", () => ({ cancel: "no" }), {
      filter: ({ tool }) => tool === "files/delete",
    });
    const room = interceptionOf([picky]);
    expect(await room.beforeToolCall(place, call)).toBeNull();
    expect(await room.beforeToolCall(place, { ...call, tool: "files/delete" })).toMatchObject({
      by: "dev.a",
    });
  });

  it("an action is asked about if a process of the mind caused it", async () => {
    const guard = new FakeAgent("dev.a", () => ({ cancel: "not this" }));
    const room = interceptionOf([guard]);
    const action = {
      id: "x",
      title: "t",
      reason: "r",
      sources: ["agent:web"],
      effects: [{ kind: "file.write", path: "a.md" }],
    } as unknown as Action;
    expect(
      room.beforeAction({ action, lineage: { onBehalfOf: [{ kind: "agent", id: "dev.tool" }] } }),
    ).toBeNull();
    const process = {
      kind: "process",
      process: "worker",
      agent: "dev.mind",
      conversation: "c1",
      id: "p2",
    } as const;
    await expect(room.beforeAction({ action, lineage: { onBehalfOf: [process] } })).rejects.toMatchObject({
      code: "PermissionDenied",
      message: "dev.a refused it: not this",
    });
    expect(guard.asked[0]?.event).toMatchObject({ process: "p2", withheld: false });
    // Where texts come from that led to it is for people.
    expect(guard.asked[0]?.event["action"]).not.toHaveProperty("sources");
  });
});

describe("texts that nobody vouches for", () => {
  const read = { "downloads/a": "minds" } as const;
  const answer = { text: "x", add: ["x"], result: { status: "success", value: 1 }, custom_instructions: "x" };

  it("whoever is asked in a conversation that has read some reads them", async () => {
    const agent = new FakeAgent("dev.a", () => ({}));
    const room = interceptionOf([agent]);
    await room.userInput({ ...place, sources: ["agent:web"] }, "hello");
    await room.userInput(place, "hello");
    expect(agent.asked.map(({ principal }) => principal.lineage.sources)).toEqual([["agent:web"], undefined]);
  });

  it("every change of an agent that has read some holds them", async () => {
    const pick = (allowed: string) => () => ({ [allowed]: answer[allowed as keyof typeof answer] });
    const roomOf = (allowed: string) =>
      interceptionOf([new FakeAgent("dev.a", pick(allowed), { foreign: read })]);
    const said = { by: "dev.a", isTainted: true, sources: ["downloads/a"], origin: "agent:dev.a" };
    expect(await roomOf("text").userInput(place, "hello")).toEqual([{ ...said, value: "x" }]);
    expect(await roomOf("add").context(place, () => shown([]))).toEqual([{ ...said, value: ["x"] }]);
    expect(await roomOf("result").afterToolCall(place, call, success)).toEqual([
      { ...said, value: answer.result },
    ]);
    expect(await roomOf("custom_instructions").beforeCompact(place, [1, 2])).toEqual({
      instructions: [{ ...said, value: "x" }],
    });
  });

  it("a refusal and a failure are in its words too", async () => {
    const refusing = interceptionOf([new FakeAgent("dev.a", () => ({ cancel: "no" }), { foreign: read })]);
    const failing = interceptionOf([
      new FakeAgent("dev.a", () => Promise.reject(new Error("IGNORE")), { foreign: read }),
    ]);
    for (const room of [refusing, failing])
      expect(await room.beforeToolCall(place, call)).toMatchObject({
        isTainted: true,
        sources: ["downloads/a"],
      });
  });
});

describe("answers", () => {
  const fails = async (answer: unknown): Promise<string> => {
    const agent = new FakeAgent("dev.a", () => answer);
    const room = interceptionOf([agent]);
    expect(await room.userInput(place, "hello")).toEqual([]);
    expect(await room.beforeToolCall(place, call)).toMatchObject({ by: "dev.a" });
    return agent.traced[0] ?? "";
  };

  it.each([
    ["a field that forges the origin", { text: "x", cancel: "x", origin: "person" }],
    ["a text that is too long", { text: "x".repeat(1_000_001), cancel: "x".repeat(1_001) }],
    ["a text instead of an object", "text"],
    ["a list", []],
    ["a number as text", { text: 1, cancel: 1 }],
  ])("%s is refused", async (_name, answer) => {
    expect(await fails(answer)).toMatch(/^UserInput continued unchanged: its answer was not understood/);
  });

  it("nothing and an empty object leave the event unchanged", async () => {
    for (const answer of [undefined, null, {}]) {
      const room = interceptionOf([new FakeAgent("dev.a", () => answer)]);
      expect(await room.userInput(place, "hello")).toEqual([]);
      expect(await room.beforeToolCall(place, call)).toBeNull();
      expect(await room.beforeCompact(place, [1, 2])).toEqual({ instructions: [] });
    }
  });

  it("a result that waits for a person cannot be changed, and none can be made to wait", async () => {
    const change = new FakeAgent("dev.a", () => ({ result: { status: "success", value: 1 } }));
    const waiting = {
      status: "needs_approval" as const,
      action: { id: "a", title: "t", effects: [] } as unknown as Action,
      reason: "r",
    };
    expect(await interceptionOf([change]).afterToolCall(place, call, waiting)).toEqual([]);
    const forge = new FakeAgent("dev.a", () => ({ result: waiting }));
    expect(await interceptionOf([forge]).afterToolCall(place, call, success)).toEqual([]);
  });

  it("a change is its agent's, and tainted if the agent reaches hosts", async () => {
    const own = new FakeAgent("dev.a", () => ({ text: "x" }));
    const web = new FakeAgent("dev.b", () => ({ text: "y" }), { authority: { hosts: ["example.org"] } });
    expect(await interceptionOf([own]).userInput(place, "hello")).toEqual([
      { by: "dev.a", value: "x", origin: "agent:dev.a", isTainted: false },
    ]);
    expect(await interceptionOf([web]).userInput(place, "hello")).toEqual([
      { by: "dev.b", value: "y", origin: "web", isTainted: true, sources: ["agent:dev.b"] },
    ]);
  });

  it("instructions for a summary are collected until one refuses it", async () => {
    const asks = (id: string) => new FakeAgent(id, () => ({ custom_instructions: `by ${id}` }));
    expect(await interceptionOf([asks("dev.a"), asks("dev.b")]).beforeCompact(place, [1, 2])).toMatchObject({
      instructions: [{ value: "by dev.a" }, { value: "by dev.b" }],
    });
    const refuses = new FakeAgent("dev.c", () => ({ cancel: "not now" }));
    expect(await interceptionOf([asks("dev.a"), refuses]).beforeCompact(place, [1, 2])).toMatchObject({
      by: "dev.c",
      value: "dev.c refused it: not now",
    });
  });
});

describe("what is withheld", () => {
  const files = ["notes/a.md", "private/b.md"];
  const eventOf = async (ask: (room: ReturnType<typeof interceptionOf>) => Promise<unknown> | null) => {
    const agent = new FakeAgent("dev.a", () => ({}), { authority: narrow });
    await ask(interceptionOf([agent], files));
    return agent.asked[0]?.event;
  };
  const read = (path: string) => ({ ...call, arguments: { path } });

  it("arguments and results about files that the agent sees are told", async () => {
    expect(await eventOf((room) => room.afterToolCall(place, call, success))).toMatchObject({
      arguments: call.arguments,
      result: success,
      withheld: false,
    });
  });

  it("those about other files are not, whether they exist or not", async () => {
    for (const path of ["private/b.md", "private/new.md", "../outside.md"])
      expect(await eventOf((room) => room.beforeToolCall(place, read(path)))).toMatchObject({
        tool: "files/read",
        arguments: {},
        withheld: true,
      });
    const list = { status: "success" as const, value: { entries: [{ path: "private/b.md" }] } };
    const event = await eventOf((room) =>
      room.afterToolCall(place, { ...call, tool: "files/list", arguments: {} }, list),
    );
    expect(event).toMatchObject({ result: { status: "success" }, withheld: true });
    expect(JSON.stringify(event)).not.toContain("private");
  });

  describe("what another agent's tool says", () => {
    const answer = { ...call, tool: "dev.tool/today", arguments: {} };
    const said = { status: "success" as const, value: "dear diary" };
    const toolMay = (authority: object, others: readonly FakeAgent[] = []) => [
      new FakeAgent("dev.tool", () => ({}), { authority }),
      ...others,
    ];
    const told = async (
      others: readonly FakeAgent[],
      authority: object = narrow,
      result: ToolResult = said,
    ): Promise<LaresEvent | undefined> => {
      const guard = new FakeAgent("dev.guard", () => ({}), { authority });
      await interceptionOf([guard, ...others], files).afterToolCall(place, answer, result);
      return guard.asked[0]?.event;
    };
    const hidden = { withheld: true, result: { status: "success" }, tool: answer.tool };
    const filtered = (filter: string) => ({
      effective: { read_entries: { filter }, intercept: ["dev.mind"] },
    });

    it.each<[string, object, object]>([
      ["in more folders", {}, narrow],
      ["more than a filter lets pass", {}, filtered("*.md")],
      ["by another filter", filtered("*"), filtered("*.md")],
      ["something, where it may read nothing", narrow, { effective: { intercept: ["dev.mind"] } }],
    ])("is withheld if that agent may read %s", async (_how, producer, interceptor) => {
      expect(await told(toolMay(producer), interceptor)).toMatchObject(hidden);
    });

    it("is withheld if it is an error's text, or of an agent that is not enabled", async () => {
      const error = { status: "error" as const, message: "dear diary", recoverable: true };
      expect(await told(toolMay({}), narrow, error)).toMatchObject({ result: { status: "error" } });
      expect(JSON.stringify(await told(toolMay({}), narrow, error))).not.toContain("diary");
      expect(await told([])).toMatchObject(hidden);
    });

    it("is withheld if that agent may call one that may read more", async () => {
      const caller = { ...narrow, effective: { read_entries: true, call_tools: ["dev.reader/*"] } };
      const reader = new FakeAgent("dev.reader", () => ({}));
      expect(await told(toolMay(caller, [reader]))).toMatchObject(hidden);
    });

    it("is told if that agent may read no more than the interceptor", async () => {
      const open = { withheld: false, result: said };
      expect(await told(toolMay({ locations: ["notes/sub"] }))).toMatchObject(open);
      expect(await told(toolMay({ effective: {} }))).toMatchObject(open);
      expect(await told(toolMay(filtered("*.md")), filtered("*.md"))).toMatchObject(open);
      expect(await told(toolMay({}), {})).toMatchObject(open);
    });

    it("is withheld in a request too, and when it comes late", async () => {
      const guard = new FakeAgent("dev.guard", () => ({}), { authority: narrow });
      await interceptionOf([guard, ...toolMay({})], files).context(place, () =>
        shown([
          { role: "assistant", parts: [{ type: "tool_call", call: "1", tool: answer.tool, arguments: {} }] },
          {
            role: "tool",
            parts: [{ type: "tool_result", call: "1", text: '[result of "dev.tool/today"]\n| dear diary' }],
          },
          {
            role: "user",
            parts: [
              { type: "text", text: '[late result of the call "1" of "dev.tool/today"]\n| dear diary' },
            ],
          },
        ]),
      );
      expect(JSON.stringify(guard.asked[0]?.event)).not.toContain("diary");
      expect(guard.asked[0]?.event).toMatchObject({ withheld: true });
    });
  });

  it("what an interceptor that may read more has made of a result is not told to the next one", async () => {
    const wide = new FakeAgent("dev.a", () => ({ result: { status: "success", value: "dear diary" } }));
    const next = new FakeAgent("dev.b", () => ({}), { authority: narrow });
    await interceptionOf([wide, next], files).afterToolCall(place, call, success);
    expect(next.asked[0]?.event).toMatchObject({ withheld: true, result: { status: "success" } });
  });

  it("a file that an error or a note of the kernel's tools names is hidden with it", async () => {
    const message = 'There is no file "a.md". Did you mean "private/b.md"?';
    const error = { status: "error" as const, message, recoverable: true };
    const noted = {
      ...success,
      value: { matches: [], files: [], note: 'It stopped: "private/b.md" was not searched.' },
    };
    const search = { ...call, tool: "files/search", arguments: {} };
    for (const result of [error, noted]) {
      const event = await eventOf((room) => room.afterToolCall(place, search, result));
      expect(event).toMatchObject({ withheld: true, result: { status: result.status } });
      const text = result.status === "error" ? `${message}\n(Later.)` : JSON.stringify(result.value);
      const request = await eventOf((room) =>
        room.context(place, () =>
          shown([
            {
              role: "assistant",
              parts: [{ type: "tool_call", call: "1", tool: "files/search", arguments: {} }],
            },
            { role: "tool", parts: [{ type: "tool_result", call: "1", text }] },
          ]),
        ),
      );
      expect(JSON.stringify([event, request])).not.toContain("private");
    }
  });

  it("of an action the hidden effects are told by their kind alone", async () => {
    const action = {
      id: "x",
      title: "Delete private/b.md",
      reason: "r",
      effects: [
        { kind: "file.write", path: "notes/a.md", diff: "+a" },
        { kind: "file.delete", path: "private/b.md", diff: "-b" },
      ],
    } as unknown as Action;
    const process = { kind: "process", process: "worker", agent: "dev.mind", conversation: "c1" } as const;
    const event = await eventOf((room) => room.beforeAction({ action, lineage: { onBehalfOf: [process] } }));
    expect(event).toMatchObject({
      withheld: true,
      action: { effects: [{ path: "notes/a.md", diff: "+a" }, { kind: "file.delete" }] },
    });
    expect(JSON.stringify(event)).not.toContain("private");
  });

  it("of a request, results and quotations of hidden files are empty", async () => {
    const messages: ModelMessage[] = [
      { role: "user", parts: [{ type: "text", text: '[the file "private/b.md"]\n| diary' }] },
      {
        role: "assistant",
        parts: [
          { type: "tool_call", call: "1", tool: "files/read", arguments: { path: "private/b.md" } },
          { type: "tool_call", call: "2", tool: "files/read", arguments: { path: "notes/a.md" } },
        ],
      },
      {
        role: "tool",
        parts: [
          { type: "tool_result", call: "1", text: "diary" },
          { type: "tool_result", call: "2", text: "hello" },
          { type: "tool_result", call: "gone", text: "diary" },
        ],
      },
      {
        role: "user",
        parts: [{ type: "text", text: '[late result of the call "1" of "files/read"]\n| diary' }],
      },
    ];
    const event = await eventOf((room) => room.context(place, () => shown(messages)));
    expect(JSON.stringify(event)).not.toMatch(/diary|private/);
    expect(JSON.stringify(event)).toContain("hello");
    expect(event).toMatchObject({ withheld: true });
  });

  describe("what may hold anything that the mind has read", () => {
    const told = async (mind: object, guard: object, more: readonly FakeAgent[] = []) => {
      const agent = new FakeAgent("dev.guard", () => ({}), { authority: guard });
      const room = interceptionOf(
        [agent, new FakeAgent("dev.mind", () => ({}), { authority: mind }), ...more],
        files,
      );
      const recall = { ...call, tool: "channel_recall", arguments: { query: "d" } };
      await room.afterToolCall(place, recall, { status: "success", value: "dear diary" });
      const messages: ModelMessage[] = [
        { role: "system", text: "the diary's bulletin" },
        { role: "user", parts: [{ type: "text", text: "summary: dear diary" }] },
        { role: "user", parts: [{ type: "text", text: "my question" }] },
        {
          role: "assistant",
          parts: [{ type: "tool_call", call: "1", tool: "channel_recall", arguments: {} }],
        },
        { role: "tool", parts: [{ type: "tool_result", call: "1", text: "dear diary" }] },
      ];
      await room.context(place, () => shown(messages, { begins: 2 }));
      return agent.asked.map(({ event }) => event);
    };

    it("is withheld from an interceptor that may read less: recalled texts, summaries, what the mind keeps", async () => {
      for (const events of [
        await told({}, narrow),
        // One that may read more changes what the mind reads.
        await told(narrow, narrow, [new FakeAgent("dev.wide", () => ({}))]),
      ]) {
        expect(JSON.stringify(events)).not.toContain("diary");
        expect(JSON.stringify(events)).toContain("my question");
        expect(events.map(({ withheld }) => withheld)).toEqual([true, true]);
      }
    });

    it("is told to one that may read as much", async () => {
      const events = await told({}, {});
      expect(events.map(({ withheld }) => withheld)).toEqual([false, false]);
      expect(JSON.stringify(events).match(/diary/g)).toHaveLength(4);
    });
  });

  it("what an interceptor that may read more has made of a message is not told, and cannot be changed unread", async () => {
    const wide = new FakeAgent("dev.a", () => ({ text: "dear diary" }));
    const next = new FakeAgent("dev.b", () => ({ text: "mine" }), { authority: narrow });
    const room = interceptionOf([wide, next], files);
    expect(await room.userInput(place, "{{diary}}")).toMatchObject([{ by: "dev.a", value: "dear diary" }]);
    expect(next.asked[0]?.event).toMatchObject({ text: "", withheld: true });
    expect(next.traced.join()).toContain("it cannot change a text that it may not read");
    const messages: ModelMessage[] = [
      { role: "user", parts: [{ type: "text", text: "dear diary" }] },
      {
        role: "assistant",
        parts: [{ type: "tool_call", call: "1", tool: "files/read", arguments: { path: "notes/a.md" } }],
      },
      { role: "tool", parts: [{ type: "tool_result", call: "1", text: "dear diary" }] },
    ];
    const changed = [{ by: "dev.a" }, { by: "dev.a", call: "1" }];
    await room.context(place, () => shown(messages, { changed }));
    expect(next.asked[1]?.event).toMatchObject({ withheld: true });
    expect(JSON.stringify(next.asked)).not.toContain("dear diary");
  });

  describe("an agent that can reach a host, itself or through others,", () => {
    const holding = { ...place, holdsForeign: true };
    const web = { authority: { hosts: ["evil.example"] } };
    const relay = {
      authority: { effective: { read_entries: true, intercept: ["dev.mind"], call_tools: ["dev.web/*"] } },
    };

    it.each([
      ["itself", [new FakeAgent("dev.guard", () => ({}), web)]],
      [
        "through another",
        [new FakeAgent("dev.guard", () => ({}), relay), new FakeAgent("dev.web", () => ({}), web)],
      ],
    ])("%s, is not told what neither the person nor the model wrote", async (_how, agents) => {
      const room = interceptionOf([...agents, new FakeAgent("dev.mind", () => ({}))], files);
      await room.userInput(holding, "my question");
      await room.context(holding, () =>
        shown([{ role: "user", parts: [{ type: "text", text: "FOREIGN" }] }]),
      );
      await room.beforeToolCall(holding, { ...call, arguments: { path: "notes/FOREIGN.md" } });
      // A result is such a text, whatever was there before.
      await room.afterToolCall(place, call, { status: "success", value: "FOREIGN" });
      const events = agents[0]?.asked.map(({ event }) => event) ?? [];
      expect(JSON.stringify(events)).not.toContain("FOREIGN");
      expect(events.map(({ withheld }) => withheld)).toEqual([false, true, true, true]);
      expect(events[0]).toMatchObject({ text: "my question" });
    });

    it("is told what the person and the model wrote, in a conversation that holds nothing else", async () => {
      const agent = new FakeAgent("dev.guard", () => ({}), web);
      const room = interceptionOf([agent, new FakeAgent("dev.mind", () => ({}))], files);
      await room.context(place, () => shown([{ role: "user", parts: [{ type: "text", text: "hello" }] }]));
      await room.beforeToolCall(place, call);
      expect(agent.asked.map(({ event }) => event["withheld"])).toEqual([false, false]);
    });
  });

  it("of a long request the newest part is told", async () => {
    const messages = Array.from({ length: 10 }, (_none, index): ModelMessage => ({
      role: "user",
      parts: [{ type: "text", text: `${index}${"x".repeat(60_000)}` }],
    }));
    const event = await eventOf((room) => room.context(place, () => shown(messages)));
    expect(event?.["messages"]).toHaveLength(4);
    expect(JSON.stringify(event)).toContain('"9x');
  });
});

type Behaviour = "passes" | "cancels" | "throws" | "lies" | "changes";
const behaviours: readonly Behaviour[] = ["passes", "cancels", "throws", "lies", "changes"];
const answerOf = (behaviour: Behaviour, name: string): unknown => {
  switch (behaviour) {
    case "passes":
      return {};
    case "cancels":
      return { cancel: "no" };
    case "throws":
      throw new Error("broken");
    case "lies":
      return { origin: "person" };
    case "changes":
      return name === "AfterToolCall" ? { result: { status: "success", value: "changed" } } : {};
  }
};

it("what can be cancelled is refused iff one cancels or fails; what can be changed never is", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({ behaviour: fc.constantFrom(...behaviours), order: fc.integer({ min: 0, max: 3 }) }),
        {
          maxLength: 6,
        },
      ),
      async (drawn) => {
        const agents = drawn.map(
          ({ behaviour, order }, index) =>
            new FakeAgent(`dev.a${index}`, ({ name }) => answerOf(behaviour, name), { order }),
        );
        const room = interceptionOf(agents);
        const refusal = await room.beforeToolCall(place, call);
        const isBad = (behaviour: Behaviour): boolean => ["cancels", "throws", "lies"].includes(behaviour);
        expect(refusal !== null).toBe(drawn.some(({ behaviour }) => isBad(behaviour)));
        if (refusal !== null) {
          expect(isBad(drawn[Number(refusal.by.slice("dev.a".length))]?.behaviour ?? "passes")).toBe(true);
          expect(refusal.value).toContain(refusal.by);
        }
        const changes = (await room.afterToolCall(place, call, success)) ?? [];
        expect(changes.length).toBe(drawn.filter(({ behaviour }) => behaviour === "changes").length);
        for (const { origin } of changes) expect(origin).toMatch(/^agent:dev\.a/);
      },
    ),
  );
});
