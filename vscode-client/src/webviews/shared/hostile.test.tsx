import { renderToString } from "preact-render-to-string";
import { describe, expect, it } from "vitest";
import { OverviewPage } from "../activity/view.tsx";
import type { ActivityContract, Overview } from "../activity/messages.ts";
import { TraceDetails } from "../traces/details.tsx";
import type { TracesContract } from "../traces/messages.ts";
import { AgentName, AgentNames } from "./agent-name.tsx";
import type { Host } from "./host.ts";
import { JsonTree } from "./json-tree.tsx";
import { WhileRunning } from "./notice.tsx";
import type { KernelSummary } from "./common-state.ts";

const hostile = [
  "<img src=x onerror=alert(1)>",
  '"><script>alert(1)</script>',
  "\u202Egnp.exe",
  "\u001b]8;;command:evil\u0007click",
  "x".repeat(10_000),
];
const nobody: Host<ActivityContract> = {
  ask: () => Promise.reject(new Error("Nobody is there.")),
  on: () => () => undefined,
};
const nobodyElse: Host<TracesContract> = {
  ask: () => Promise.reject(new Error("Nobody is there.")),
  on: () => () => undefined,
};
const nothing = (): void => undefined;
const nowMs = Date.parse("2026-03-01T12:00:00Z");

/** No element, attribute or character of a page comes from what was told. */
function expectHarmless(html: string): void {
  expect(html).not.toMatch(/<(img|script)|[\u0000-\u0008\u001b\u202a-\u202e\u2066-\u2069]/);
  expect(html).not.toMatch(/<[^>"]*("[^"]*"[^>"]*)*\son[a-z]+=/);
}

describe("what agents say", () => {
  it.each(hostile)("does nothing in the Activity view: %j", (text) => {
    const overview: Overview = {
      actions: [
        {
          id: text.slice(0, 256),
          agent: text.slice(0, 256),
          title: text.slice(0, 200),
          state: "Failed",
          at: "2026-03-01T11:00:00Z",
          rule: { sentence: text.slice(0, 1_000), isPlace: true },
          error: text.slice(0, 1_000),
          files: [{ path: text.slice(0, 4_096), from: text.slice(0, 4_096) }],
          effects: 9,
          deletes: 1,
        },
      ],
      agents: [
        {
          id: text.slice(0, 256),
          kind: "manifest",
          words: text.slice(0, 400),
          problem: { message: text.slice(0, 1_000), place: text.slice(0, 100), more: 2 },
        },
      ],
      moreAgents: 0,
      failures: [
        {
          agent: text.slice(0, 256),
          message: text.slice(0, 1_000),
          since: text.slice(0, 40),
          at: "2026-03-01T10:00:00Z",
          count: 3,
        },
      ],
    };
    const html = renderToString(<OverviewPage host={nobody} overview={overview} nowMs={nowMs} />);
    expect(html).toContain("Could not be applied");
    expect(html).toContain("3 times since");
    expectHarmless(html);
  });

  it.each(hostile)("does nothing as an agent's name: %j", (text) => {
    const html = renderToString(
      <AgentNames.Provider value={new Map([["a.one", text]])}>
        <AgentName id="a.one" />
        <AgentName id={text} />
      </AgentNames.Provider>,
    );
    expect(html).toContain("a.one");
    expectHarmless(html);
  });

  it.each(hostile)("does nothing in a trace's details: %j", (text) => {
    const entry = {
      timestamp: "2026-03-01T12:00:00Z",
      level: "warn" as const,
      agent: text,
      hook: text,
      message: text,
      fields: JSON.stringify({ [text]: text, path: text, file: `${text}.md` }),
      traceId: text,
      spanId: text,
    };
    expectHarmless(
      renderToString(<TraceDetails host={nobodyElse} entry={entry} onCopy={nothing} onClose={nothing} />),
    );
    expectHarmless(
      renderToString(
        <TraceDetails
          host={nobodyElse}
          entry={{ ...entry, fields: `{"cut": "${text}` }}
          onCopy={nothing}
          onClose={nothing}
        />,
      ),
    );
  });

  it("is drawn as far as it is open and no further, however much of it there is", () => {
    const value = {
      list: Array.from({ length: 5_000 }, (_, index) => index),
      deep: { deeper: { deepest: "hidden" } },
    };
    const closed = renderToString(<JsonTree value={value} open={1} />);
    expect(closed).toContain("[5,000 items]");
    expect(closed).not.toContain("hidden");
    const open = renderToString(<JsonTree value={value} open={3} />);
    expect(open).toContain("4,900 are not shown");
    expect(open.match(/json-row/g)?.length).toBe(101);
  });

  it("is not an element, even if it has the shape of one", () =>
    expectHarmless(
      renderToString(<JsonTree value={{ type: "img", props: { onerror: "alert(1)" }, __v: 1 }} open={3} />),
    ));
});

it("a view calls an agent by its name, and one that is gone by its id", () => {
  const commonState = {
    kernel: { kind: "running" },
    agents: [{ id: "a.one", name: "Notes", state: "Active" }],
  } as const;
  const html = renderToString(
    <WhileRunning host={nobody} commonState={{ ...commonState, agents: [...commonState.agents] }}>
      <AgentName id="a.one" />
      <AgentName id="b.two" />
    </WhileRunning>,
  );
  expect(html).toBe('<bdi title="a.one">Notes</bdi><bdi title="b.two">b.two</bdi>');
});

describe("instead of its content, a view says", () => {
  const said = (kernel?: KernelSummary): string =>
    renderToString(
      <WhileRunning host={nobody} commonState={kernel && { kernel, agents: [] }}>
        the content
      </WhileRunning>,
    );
  it.each<[string, KernelSummary | undefined, RegExp]>([
    ["that it is loading", undefined, /Loading/],
    ["that the kernel starts", { kind: "starting" }, /starting/],
    ["why it is restarted", { kind: "restarting", reason: "It <b>died</b>." }, /It &lt;b>died.*Show Log/],
    ["why it does not run", { kind: "failed", reason: "No Node." }, /No Node\..*Restart Kernel/],
    ["that the folder is not trusted", { kind: "untrusted", by: "editor" }, /Manage Workspace Trust/],
    ["that documents ask for something", { kind: "untrusted", by: "documents" }, /Choose What Agents May Do/],
  ])("%s", (_name, kernel, sentence) => {
    expect(said(kernel)).toMatch(sentence);
    expect(said(kernel)).not.toContain("the content");
  });
  it("nothing while it runs", () => expect(said({ kind: "running" })).toBe("the content"));
});
