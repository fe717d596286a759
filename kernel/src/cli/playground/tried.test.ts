import { expect, test } from "vitest";
import { playgroundManifest } from "./agents.ts";
import { triedOf } from "./tried.ts";

const template = `extension:
  id: local.playground
  permissions: { read_entries: true }
  hooks: [{ on: local.playground/Happened, handler: heard }]
`;

test("what an extension emits and hears is read from its manifest", () => {
  const tried = triedOf({
    extension: {
      id: "dev.example.albums",
      permissions: { emit_events: ["AlbumBegun", "Old"] },
      events: [{ name: "AlbumBegun" }],
      hooks: [
        { on: "EntryCreated", handler: "a" },
        { on: "dev.example.faces/PersonFound", handler: "a" },
        { on: "dev.example.faces/PersonFound", filter: "event.certainty > 0.9", handler: "b" },
        { on: "dev.example.albums/AlbumBegun", handler: "c" },
        { schedule: "@daily", handler: "d" },
      ],
    },
  });
  expect(tried).toEqual({
    id: "dev.example.albums",
    events: ["AlbumBegun", "Old"],
    heard: new Map([["dev.example.faces", ["PersonFound"]]]),
  });
  expect(JSON.parse(playgroundManifest(template, tried))).toEqual({
    extension: {
      id: "local.playground",
      permissions: {
        read_entries: true,
        hear_events: ["dev.example.albums/*"],
        shared_types: { read: ["dev.example.albums/*"], write: ["dev.example.albums/*"] },
      },
      hooks: [
        { on: "local.playground/Happened", handler: "heard" },
        { on: "dev.example.albums/AlbumBegun", handler: "heard" },
        { on: "dev.example.albums/Old", handler: "heard" },
      ],
    },
  });
});

test.each<[string, unknown]>([
  ["nothing", null],
  ["a text", "x"],
  ["lists that are none", { extension: { id: 3, hooks: "x", events: {}, permissions: [] } }],
  ["names that are none", { extension: { hooks: [{ on: 3 }, null], events: [{ name: "../x" }] } }],
])("of %s nothing is taken, and the playground has its own manifest", (_what, manifest) => {
  const tried = triedOf(manifest);
  expect(tried).toEqual({ id: "", events: [], heard: new Map() });
  expect(playgroundManifest(template, tried)).toBe(template);
});
