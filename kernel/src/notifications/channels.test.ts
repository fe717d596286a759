import fc from "fast-check";
import { expect, test } from "vitest";
import { notificationChannels, type NotificationRule } from "../base/vocabulary/notification-rule.ts";
import { channelsFor } from "./channels.ts";

const info = { agent: "a.b", severity: "info" } as const;

test("without rules, editors and terminals show a notification, and the system does not", () => {
  expect(channelsFor({ person: [], workspace: [] }, info)).toEqual(["editor", "terminal"]);
});

test("the first rule of the person that matches agent and severity counts", () => {
  const person: NotificationRule[] = [
    { agents: ["a.b"], severities: ["info"], channels: [] },
    { agents: ["a.b"], channels: ["os"] },
    { severities: ["error"], channels: ["editor", "os"] },
  ];
  const rules = { person, workspace: [] };
  expect(channelsFor(rules, info)).toEqual([]);
  expect(channelsFor(rules, { ...info, severity: "error" })).toEqual(["os"]);
  expect(channelsFor(rules, { agent: "c.d", severity: "error" })).toEqual(["editor", "os"]);
  expect(channelsFor(rules, { agent: "c.d", severity: "info" })).toEqual(["editor", "terminal"]);
});

const rule: fc.Arbitrary<NotificationRule> = fc.record(
  {
    agents: fc.array(fc.constantFrom("a.b", "c.d"), { maxLength: 2 }),
    severities: fc.array(fc.constantFrom("info", "warning", "error"), { maxLength: 3 }),
    channels: fc.subarray([...notificationChannels]),
  },
  { requiredKeys: ["channels"] },
);
const rules = fc.array(rule, { maxLength: 4 });

test("a workspace's rules never add a channel to what the person's own document leaves", () => {
  fc.assert(
    fc.property(
      rules,
      rules,
      fc.constantFrom("a.b", "c.d"),
      fc.constantFrom("info", "warning", "error"),
      (person, workspace, agent, severity) => {
        const alone = channelsFor({ person, workspace: [] }, { agent, severity });
        const both = channelsFor({ person, workspace }, { agent, severity });
        expect(alone).toEqual(expect.arrayContaining(both));
      },
    ),
  );
});
