import { describe, expect, it } from "vitest";
import type { AgentJobs } from "../model/ports.ts";
import { agent, job } from "../testing/things.ts";
import { agentNodes, noticeNodes } from "./agent-tree.ts";
import type { TreeNode } from "./tree-node.ts";

const now = Date.parse("2026-01-01T12:00:00.000Z");
const noJobs: AgentJobs = { items: [], total: 0, dead: { items: [], total: 0 } };

function nodeOf(given: Parameters<typeof agent>[0], jobs: AgentJobs = noJobs): TreeNode {
  const [node] = agentNodes([agent(given)], () => jobs, now);
  if (node === undefined) throw new Error("There is no node.");
  return node;
}

function child(node: TreeNode, label: string): TreeNode {
  const found = node.children?.find((candidate) => candidate.label === label);
  if (found === undefined)
    throw new Error(`No "${label}" among ${node.children?.map((one) => one.label).join(", ")}`);
  return found;
}

function all(node: TreeNode): TreeNode[] {
  return [node, ...(node.children ?? []).flatMap(all)];
}

describe("agentNodes", () => {
  it("distinguishes agents with the same name", () => {
    const twins = [agent({ id: "a.one", name: "Titles" }), agent({ id: "b.two", name: "Titles" })];
    const nodes = agentNodes(twins, () => noJobs, now);
    expect(nodes.map(({ label }) => label)).toEqual(["Titles (a.one)", "Titles (b.two)"]);
    expect(nodes[0]?.spoken).toMatch(/^Agent Titles \(a\.one\), /);
  });

  it.each([
    ["Active", "Active", "pass"],
    ["Unloaded", "Asleep", "circle-outline"],
    ["Initializing", "Starting", "loading~spin"],
    ["Suspended", "Suspended", "debug-pause"],
    ["Error", "Cannot start", "error"],
    ["ShuttingDown", "Stopping", "loading~spin"],
  ] as const)("an agent that is %s is said as %s", (state, word, icon) => {
    const node = nodeOf({ state });
    expect(node.description).toBe(word);
    expect(node.icon?.id).toBe(icon);
    expect(node.context).toBe(`lares.agent.${state}`);
    expect(node.spoken).toContain(word);
  });

  it("an agent that waits for an approval is not an error, and leads to the question", () => {
    const node = nodeOf({ state: "Error", error: "It waits for a person.", awaiting: "acceptance" });
    expect(node).toMatchObject({
      description: "Needs your permission",
      icon: { id: "shield" },
      isOpen: false,
    });
    expect(node.children?.[0]).toMatchObject({
      label: "Choose what it may do…",
      tooltip: ["It waits for a person."],
      command: { id: "lares.trustWorkspace" },
    });
  });

  it("a disabled agent is shown as disabled, not as asleep", () => {
    const node = nodeOf({ state: "Unloaded", disabled: true });
    expect(node).toMatchObject({
      description: "Off",
      icon: { id: "circle-slash" },
      context: "lares.agent.Disabled",
    });
    expect(node.spoken).toContain("Off");
  });

  it("counts today's events, and shows nothing if there are none", () => {
    const { metrics } = agent();
    expect(nodeOf({ metrics: { ...metrics, events_today: 12 } }).description).toBe("Active, 12 events today");
    expect(nodeOf({}).description).toBe("Active");
  });

  it("an error comes first, expanded, and leads to its place", () => {
    const node = nodeOf({ state: "Error", error: "The program throws at load." });
    expect(node.isOpen).toBe(true);
    expect(node.children?.[0]).toMatchObject({
      label: "The program throws at load.",
      command: { id: "lares.agentShowProblem", arguments: [{ id: "test.agent" }] },
    });
  });

  const failure = {
    handler: "noteSaved",
    message: "TypeError: title is undefined",
    at: "2026-01-01T10:41:00.000Z",
    place: { path: "/w/titles/agent.ts", line: 18 },
  };

  it("an agent whose handler throws is not shown as active: the failure, its time and its line come first", () => {
    const { metrics } = agent();
    const node = nodeOf({
      last_failure: failure,
      metrics: { ...metrics, events_failed: 13, events_processed: 1, events_today: 14 },
    });
    expect(node.description).toMatch(/^Last run failed at \d\d:41$/);
    expect(node).toMatchObject({ icon: { id: "error" }, isOpen: true, context: "lares.agent.Active" });
    expect(node.spoken).toContain("TypeError: title is undefined");
    const lead = { id: "lares.agentShowProblem", arguments: [{ id: "test.agent" }] };
    expect(node.children?.slice(0, 3)).toMatchObject([
      { label: "TypeError: title is undefined", icon: { id: "bug" }, command: lead },
      { label: "agent.ts:18", description: "in noteSaved", command: lead },
      { label: "13 of 14 runs failed" },
    ]);
  });

  it("the next success makes it healthy, as another item that the editor does not keep expanded", () => {
    const failing = nodeOf({ last_failure: failure });
    const well = nodeOf({});
    expect(well).toMatchObject({ description: "Active", icon: { id: "pass" }, isOpen: false });
    expect(well.id).not.toBe(failing.id);
  });

  it("an agent with a broken manifest stays, in red, with its problems", () => {
    const node = nodeOf({
      state: "Error",
      version: "",
      problems: 6,
      first_problem: {
        message: "“permisions” is not known. Did you mean “permissions”?",
        place: { path: "/w/recipes/extension.yaml", line: 4 },
      },
    });
    expect(node).toMatchObject({
      description: "6 problems in its manifest",
      icon: { id: "error", color: "errorForeground" },
      isOpen: true,
    });
    expect(node.children?.slice(0, 3).map(({ label, command }) => [label, command?.id])).toEqual([
      ["“permisions” is not known. Did you mean “permissions”?", "lares.agentShowProblem"],
      ["extension.yaml:4", "lares.agentShowProblem"],
      ["5 more problems", "lares.agentShowProblems"],
    ]);
  });

  it("agents with problems come first, then those that need a person, then the others in their order", () => {
    const given = [
      agent({ id: "a", name: "Active" }),
      agent({ id: "b", name: "Asks", state: "Error", awaiting: "acceptance" }),
      agent({ id: "c", name: "Fails", last_failure: failure }),
      agent({ id: "d", name: "Off", state: "Unloaded", disabled: true }),
    ];
    const nodes = agentNodes(given, () => noJobs, now);
    expect(nodes.map(({ label }) => label)).toEqual(["Fails", "Asks", "Active", "Off"]);
  });

  it("working and waiting share neither an icon nor a word", () => {
    const items = [job({ state: "Running", progress: { fraction: 0.5, message: "118 of 212 compared" } })];
    const working = nodeOf({}, { ...noJobs, items, total: 1 });
    const asking = nodeOf({ state: "Error", awaiting: "acceptance" });
    expect(working).toMatchObject({
      description: "Working: work",
      icon: { id: "loading~spin" },
    });
    const queued = all(nodeOf({}, { ...noJobs, items: [job({})], total: 1 }));
    expect(asking.icon?.id).not.toMatch(/spin/);
    for (const { label, description = "" } of [...all(working), ...queued])
      expect(`${label} ${description}`).not.toMatch(/wait|permission/i);
  });

  it("hooks show their event, schedules their next run", () => {
    const hooks = child(
      nodeOf({
        hooks: [
          { handler: "added", on: "EntryCreated", filter: "entry.isImage()" },
          { handler: "sweep", schedule: "0 3 * * *", nextRun: "2026-01-01T15:00:00.000Z" },
        ],
      }),
      "Hooks",
    );
    expect(hooks.children?.map(({ label, description }) => [label, description])).toEqual([
      ["added", "on EntryCreated"],
      ["sweep", "0 3 * * * · next run in 3 hours"],
    ]);
    expect(hooks.children?.[0]?.tooltip).toContain("Only where entry.isImage()");
  });

  it("a tool's item has its agent and its name for the menu", () => {
    const tools = child(nodeOf({ tools: ["search"] }), "Tools");
    expect(tools.children?.[0]).toMatchObject({ agent: "test.agent", tool: "search", context: "lares.tool" });
  });

  it("long lists are cut and counted", () => {
    const tools = child(
      nodeOf({ tools: Array.from({ length: 150 }, (_, index) => `tool${index}`) }),
      "Tools",
    );
    expect(tools.children).toHaveLength(101);
    expect(tools.children?.at(-1)?.label).toBe("… and 50 more");
    expect(tools.description).toBe("tool0, tool1, tool2 and 147 more");
  });

  it("ids are unique, also if two hooks are equal", () => {
    const hook = { handler: "same", on: "EntryCreated" };
    const ids = all(nodeOf({ hooks: [hook, hook], tools: ["same"], locations: ["a", "b"] })).map(
      ({ id }) => id,
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("hostile texts are plain in every item", () => {
    const evil = "\u001b[31m$(trash)\u202egpj\nsecond line";
    const nodes = all(
      nodeOf(
        {
          name: evil,
          error: evil,
          hooks: [{ handler: evil, on: evil, filter: evil }],
          tools: [evil],
          permissions: [evil],
          locations: [evil],
        },
        {
          ...noJobs,
          items: [
            job({ name: evil, key: evil, state: "Running", progress: { fraction: 1, message: evil } }),
            job({ id: "2", name: evil.repeat(1000), key: evil.repeat(1000) }),
          ],
          total: 2,
        },
      ),
    );
    for (const { label, description, spoken, tooltip } of nodes)
      for (const text of [label, description, spoken, ...(tooltip ?? [])])
        expect(text ?? "").not.toMatch(/[\u0000-\u001f\u202e]|\$\(/);
  });
});

describe("jobs", () => {
  const jobsOf = (...items: AgentJobs["items"]): TreeNode =>
    child(nodeOf({}, { ...noJobs, items, total: items.length }), "Jobs");

  it("are a collapsed item, or none if there are no jobs", () => {
    expect(nodeOf({}).children?.map(({ label }) => label)).not.toContain("Jobs");
    const node = jobsOf(job({ state: "Running" }), job({ id: "2" }), job({ id: "3" }));
    expect(node).toMatchObject({ description: "1 running, 2 queued", spoken: "Jobs, 1 running, 2 queued" });
    expect(node.isOpen).toBeUndefined();
  });

  it.each([
    ["runs", { state: "Running" }, "running", "loading~spin", "lares.job"],
    [
      "says how far it is",
      { state: "Running", progress: { fraction: 0.409, message: "step 4" } },
      "40 % · step 4",
      "loading~spin",
      "lares.job",
    ],
    ["waits", {}, "queued", "circle-outline", "lares.job"],
    ["waits for quiet", { when_idle: true }, "starts when the workspace is quiet", "clock", "lares.job"],
    [
      "is tried again",
      { due: "2026-01-01T12:05:00.000Z", attempt: 2 },
      "is tried again in 5 minutes, attempt 2",
      "clock",
      "lares.job",
    ],
    [
      "is being cancelled",
      { state: "Cancelling" },
      "being cancelled",
      "circle-slash",
      "lares.job.Cancelling",
    ],
  ] as const)("one that %s says so, to a screen reader too", (_what, given, words, icon, context) => {
    const [node] = jobsOf(job({ name: "survey", ...given })).children ?? [];
    expect(node).toMatchObject({
      label: "survey",
      description: words,
      icon: { id: icon },
      spoken: `Job survey, ${words}`,
      context,
      job: { id: "job-1", agent: "test.agent" },
    });
  });

  it("dead ones are an item of their own, with what went wrong, and can be retried", () => {
    const dead = job({
      id: "9",
      name: "survey",
      state: "Dead",
      attempt: 3,
      error: "no such host",
      checkpoint: true,
    });
    const node = nodeOf({}, { ...noJobs, dead: { items: [dead], total: 1 } });
    expect(node.children?.map(({ label }) => label)).not.toContain("Jobs");
    const group = child(node, "Dead Jobs");
    expect(group).toMatchObject({ description: "1 given up", icon: { id: "error" } });
    const [shown] = group.children ?? [];
    expect(shown).toMatchObject({ description: "no such host", context: "lares.deadJob", job: { id: "9" } });
    expect(shown?.tooltip?.join("\n")).toMatch(/tried 3 times[^]*continues from there if it is retried/);
  });

  it("jobs beyond the limit are counted", () => {
    const items = Array.from({ length: 20 }, (_, index) => job({ id: `${index}` }));
    const node = child(nodeOf({}, { ...noJobs, items, total: 10_000 }), "Jobs");
    expect(node.children).toHaveLength(21);
    expect(node.children?.at(-1)?.label).toBe("… and 9,980 more");
    expect(node.description).toBe("10,000 queued");
  });
});

describe("noticeNodes", () => {
  it.each([
    ["documents wait for an approval", { kind: "untrusted", by: "documents" }, true, "lares.trustWorkspace"],
    ["the editor restricts", { kind: "untrusted", by: "editor" }, true, "workbench.trust.manage"],
    ["more is asked than was allowed", { kind: "running" }, true, "lares.trustWorkspace"],
    ["the kernel restarts", { kind: "restarting", inMs: 1, reason: "" }, false, "lares.showKernelLog"],
  ] as const)("where %s, the first item leads on", (_name, state, isAsking, command) => {
    expect(noticeNodes(state, isAsking).map((node) => node.command?.id)).toEqual([command]);
  });

  it("is empty if everything is fine", () => {
    expect(noticeNodes({ kind: "running" }, false)).toEqual([]);
  });
});
