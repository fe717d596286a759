import { beforeEach, expect, test } from "vitest";
import type { Agent, AgentFailure } from "../base/vocabulary/agent.ts";
import { ProgramFailures } from "./program-failures.ts";
import { OpenDocuments } from "./session/open-documents.ts";
import type { Session } from "./session/session.ts";

const uri = "file:///w/agent.ts";
const text = "one\n  two();\nthree\n";
let agents: Agent[];
let lists: number;
let shown: string[][];
let documents: OpenDocuments;
let failures: ProgramFailures;

beforeEach(() => {
  agents = [];
  lists = 0;
  shown = [];
  documents = new OpenDocuments();
  const session = {
    documents,
    positionEncoding: "utf-16",
    capabilities: {},
    endpoint: {
      notifyStandard: (_method: string, params: { diagnostics: { message: string }[] }) =>
        shown.push(params.diagnostics.map(({ message }) => message)),
    },
  } as unknown as Session;
  const list = (): Agent[] => {
    lists += 1;
    return agents;
  };
  failures = new ProgramFailures({ list }, session, (each) => each.endsWith(".yaml"));
});

const failed = (id: string, seconds: number, path = "/w/agent.ts"): Agent => {
  const last_failure: AgentFailure = {
    handler: "seen",
    message: `${id} ${seconds}`,
    at: `2026-01-01T00:00:${String(seconds).padStart(2, "0")}.000Z`,
    place: { path, line: 2 },
  };
  return { id, last_failure } as Agent;
};
const sound = (id: string): Agent => ({ id }) as Agent;
const open = (name = uri): void => {
  documents.open(name, text, Promise.resolve(null));
  failures.textChanged(name, "opened");
};

test("agents are listed once, when the first document is opened, however many change", () => {
  failures.agentChanged(failed("a.b", 1));
  expect(lists).toBe(0);
  agents = [failed("a.b", 1)];
  open();
  open("file:///w/other.ts");
  for (let n = 0; n < 100; n++) failures.agentChanged(sound(`c.d${n}`));
  failures.agentChanged(failed("a.b", 1));
  expect([lists, shown.length]).toEqual([1, 1]);
});

test("two agents of one program are both shown, and each goes by itself", () => {
  open();
  failures.agentChanged(failed("a.b", 1));
  failures.agentChanged(failed("c.d", 2));
  failures.agentChanged(sound("a.b"));
  failures.agentChanged(failed("c.d", 3, "/w/elsewhere.ts"));
  expect(shown.map((messages) => messages.length)).toEqual([1, 2, 1, 0]);
});

test("a failure of before the text changed is not shown again, one of after is", () => {
  open();
  failures.agentChanged(failed("a.b", 1));
  failures.textChanged(uri, "changed");
  failures.agentChanged(failed("c.d", 1));
  failures.textChanged(uri, "saved");
  failures.agentChanged(failed("a.b", 2));
  expect(shown).toEqual([[expect.stringContaining("a.b 1")], [], [expect.stringContaining("a.b 2")]]);
});

test("documents that are checked otherwise, remote ones and closed ones get nothing", () => {
  open("file:///w/extension.yaml");
  open("untitled:agent.ts");
  open();
  documents.close(uri);
  failures.textChanged(uri, "closed");
  for (const path of ["/w/agent.ts", "/w/extension.yaml"]) failures.agentChanged(failed("a.b", 1, path));
  expect(shown).toEqual([]);
});
