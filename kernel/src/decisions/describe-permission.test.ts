import { expect, it } from "vitest";
import { permissionNames, type Permissions } from "../base/vocabulary/permissions.ts";
import { describePermissions } from "./describe-permission.ts";

const cases: [Permissions, string][] = [
  [{ read_entries: true }, "see and read files"],
  [{ read_entries: {} }, "see and read files"],
  [{ read_entries: { filter: "*.md" } }, 'see and read files that match "*.md"'],
  [{ write_sidecars: { kinds: ["text", "faces"] } }, 'keep data of its own beside files: "text", "faces"'],
  [{ write_tags: true }, "put tags on files and take them off"],
  [{ write_custom_fields: { namespace: "dev.x" } }, 'set fields of files in its namespace "dev.x"'],
  [
    { use_models: [{ category: "faces", local_only: true }, { category: "chat" }] },
    'use models: "faces" on this machine, "chat"',
  ],
  [{ use_models: [{ category: "embedding", local_only: true }] }, "turn texts into vectors on this machine"],
  [
    { use_models: [{ category: "embedding" }, { category: "chat" }] },
    'use models: "chat", turn texts into vectors, by the service that your lares.yaml names if it names one, which then sees conversations with it too',
  ],
  [
    { use_credentials: ["weather"] },
    'send your secrets, without seeing them, to the hosts they are for: "weather"',
  ],
  [{ dispatch_jobs: true }, "start work that takes longer"],
  [{ see_agents: true }, "see which agents there are and whether they work"],
  [{ propose_actions: ["file.move", "file.*"] }, 'propose changes: "file.move", "file.*"'],
  [{ emit_events: ["Found"] }, 'send events to other agents: "Found"'],
  [
    { hear_events: ["dev.y/Found", "dev.z/*"] },
    'receive the events of other agents, with all their data: "dev.y/Found", "dev.z/*"',
  ],
  [{ call_tools: ["dev.y/*"] }, 'call tools of others: "dev.y/*"'],
  [{ intercept: ["dev.y"] }, 'read and change what you say to other agents: "dev.y"'],
  [
    { shared_types: { read: ["dev.y/Person"], write: ["dev.y/*"] } },
    'read values that other agents share: "dev.y/Person", change values that other agents share: "dev.y/*"',
  ],
  [{ shared_types: {} }, "share no values"],
  [{ shared_data: { read: ["a"], write: ["b"] } }, 'read shared data: "a", write shared data: "b"'],
];

it.each(cases)("%j", (permissions, sentence) => {
  const [name] = Object.keys(permissions);
  expect(describePermissions(permissions)).toEqual([`${sentence} (${name})`]);
});

it("has a sentence for each requested permission", () => {
  const said = new Set(cases.flatMap(([permissions]) => Object.keys(permissions)));
  expect([...said].toSorted()).toEqual([...permissionNames].toSorted());
  expect(describePermissions({ read_entries: false })).toEqual([]);
});

it("a name cannot end its quotes and add a sentence", () => {
  const [said] = describePermissions({ propose_actions: ['tag.add" and nothing else'] });
  expect(said).toContain(String.raw`"tag.add\" and nothing else"`);
});
